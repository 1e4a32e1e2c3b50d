//! A journal that goes wrong in ways that the one in memory does not know.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use domain::{
    Timestamp,
    catalog::Document,
    id::{CodeHash, OrderId, OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, Email},
};
use parking_lot::{Condvar, Mutex};
use persistence::{
    Append, Done, Error as StoreError, History, Journal, KeptNote, MemoryJournal, OrderPlace,
    Refused, Stored, Ticket,
};

use super::House;
use crate::Options;

/// After so long, a test failed.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// Stands before a journal in memory.
pub(super) struct Front {
    journal: Arc<MemoryJournal>,
    /// Refuses appends once so many were taken in, without saying so beforehand: the disk filled up
    /// between the question and the write.
    left: AtomicI64,
    /// Whether reading a wallet takes for ever.
    stuck: Mutex<bool>,
    moved: Condvar,
}

impl Front {
    pub(super) fn filling(left: i64) -> Arc<Self> {
        Arc::new(Self {
            journal: Arc::default(),
            left: AtomicI64::new(left),
            stuck: Mutex::new(false),
            moved: Condvar::new(),
        })
    }

    pub(super) fn new() -> Arc<Self> {
        Self::filling(i64::MAX)
    }

    pub(super) async fn house(self: &Arc<Self>) -> House {
        let front = Arc::clone(self) as Arc<dyn Journal>;
        House::behind(front, Arc::clone(&self.journal), Options::default()).await
    }

    pub(super) fn read_nothing(&self, stuck: bool) {
        *self.stuck.lock() = stuck;
        self.moved.notify_all();
    }
}

impl Journal for Front {
    fn append(&self, append: Append, done: Option<Done>) -> Result<Ticket, Refused> {
        if append.events() > 0 && self.left.fetch_sub(1, Ordering::SeqCst) <= 0 {
            return Err(Refused::DiskFull);
        }
        self.journal.append(append, done)
    }

    fn durable(&self) -> Ticket {
        self.journal.durable()
    }

    fn folded(&self) -> Ticket {
        self.journal.folded()
    }

    fn refusing(&self) -> Option<Refused> {
        None
    }

    fn backlog(&self) -> u64 {
        self.journal.backlog()
    }

    fn fold_soon(&self) {
        self.journal.fold_soon();
    }

    fn settle(&self) -> Result<(), StoreError> {
        self.journal.settle()
    }

    fn load(&self, key: &WalletKey) -> Result<Option<Stored>, StoreError> {
        let mut stuck = self.stuck.lock();
        while *stuck {
            let waited = self.moved.wait_for(&mut stuck, PATIENCE);
            assert!(!waited.timed_out(), "nobody could move the disk");
        }
        drop(stuck);
        self.journal.load(key)
    }

    fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        self.journal.new_history(key)
    }

    fn alias(&self, code: &CodeHash) -> Result<Option<WalletKey>, StoreError> {
        self.journal.alias(code)
    }

    fn documents(&self) -> Result<Vec<Document>, StoreError> {
        self.journal.documents()
    }

    fn notes(&self, prefix: &[u8]) -> Result<Vec<KeptNote>, StoreError> {
        self.journal.notes(prefix)
    }

    fn orders(
        &self,
        project: ProjectId,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, StoreError> {
        self.journal.orders(project, before, limit)
    }

    fn checkout(
        &self,
        project: ProjectId,
        checkout: &CheckoutId,
    ) -> Result<Option<OrderId>, StoreError> {
        self.journal.checkout(project, checkout)
    }

    fn due(
        &self,
        project: ProjectId,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, StoreError> {
        self.journal.due(project, after, until, limit)
    }

    fn buyers(
        &self,
        project: ProjectId,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<WalletKey>, StoreError> {
        self.journal.buyers(project, email, limit)
    }

    fn close(&self) -> Result<(), StoreError> {
        self.journal.close()
    }
}
