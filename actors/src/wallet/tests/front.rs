//! A journal that goes wrong in ways that the one in memory does not know.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicI64, Ordering},
};

use domain::{
    Timestamp,
    catalog::Document,
    id::{ProductId, ProjectId, WalletKey},
    notice::Notice,
};
use parking_lot::{Condvar, Mutex};
use persistence::{
    Append, Awake, Backlog, Books, Done, Error as StoreError, History, KeptNote, Log,
    MemoryJournal, NoticeNumber, OnNotices, Refused, Store, Stored, Ticket,
    lookups::{Key, LookUp, Stretch, Value},
    usage::{Interval, Usage},
};

use super::House;
use crate::Options;

/// After so long, a test failed.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(300);

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
        House::behind(
            Store::of(Arc::clone(self)),
            Arc::clone(&self.journal),
            Options::default(),
        )
        .await
    }

    pub(super) fn read_nothing(&self, stuck: bool) {
        *self.stuck.lock() = stuck;
        self.moved.notify_all();
    }
}

impl Log for Front {
    fn append(&self, append: Append, done: Option<Done>) -> Result<Ticket, Refused> {
        if append.events() > 0 && self.left.fetch_sub(1, Ordering::SeqCst) <= 0 {
            return Err(Refused::DiskFull);
        }
        self.journal.append(append, done)
    }

    fn durable(&self) -> Ticket {
        self.journal.durable()
    }

    fn refusing(&self) -> Option<Refused> {
        None
    }

    fn backlog(&self) -> Backlog {
        self.journal.backlog()
    }

    fn close(&self) -> Result<(), StoreError> {
        self.journal.close()
    }
}

impl Books for Front {
    fn folded(&self) -> Ticket {
        self.journal.folded()
    }

    fn fold_soon(&self) {
        self.journal.fold_soon();
    }

    fn settle(&self) -> Result<(), StoreError> {
        self.journal.settle()
    }

    fn follow(&self, awake: Weak<dyn Awake>) {
        self.journal.follow(awake);
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

    fn documents(&self) -> Result<Vec<Document>, StoreError> {
        self.journal.documents()
    }

    fn notes(&self, prefix: &[u8]) -> Result<Vec<KeptNote>, StoreError> {
        self.journal.notes(prefix)
    }

    fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<(Timestamp, Usage)>, StoreError> {
        self.journal.usage(product, interval, within)
    }

    fn notices(
        &self,
        project: ProjectId,
        after: NoticeNumber,
        limit: usize,
    ) -> Result<Vec<(NoticeNumber, Notice)>, StoreError> {
        self.journal.notices(project, after, limit)
    }

    fn last_notice(&self) -> NoticeNumber {
        self.journal.last_notice()
    }

    fn on_notices(&self, told: OnNotices) {
        self.journal.on_notices(told);
    }

    fn stretch(
        &self,
        look_up: LookUp,
        stretch: &Stretch,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, StoreError> {
        self.journal.stretch(look_up, stretch, limit)
    }

    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, StoreError> {
        self.journal.find(look_up, key)
    }
}
