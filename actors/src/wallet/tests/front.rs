//! A journal with faults that the one in memory does not have.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicI64, Ordering},
};

use domain::{
    Timestamp,
    catalog::Document,
    id::{ProductId, ProjectId, WalletKey},
    project_event::ProjectEvent,
    wallet::Wallet,
};
use parking_lot::{Condvar, Mutex};
use persistence::{
    Append, AppendRefusal, Awake, Backlog, Books, Error as StoreError, EventNumber, History,
    LoadedWallet, Log, MemoryJournal, OnEvents, OnOutcome, Store, StoredNote, Ticket,
    lookups::{EntryBatch, LookUp, LookUpRange, Value},
    usage::{Interval, Usage},
};

use super::Service;
use crate::Options;

/// The time after which a test fails.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(300);

/// A faulty front of a journal in memory.
pub(super) struct Front {
    journal: Arc<MemoryJournal>,
    /// Refuses appends after this many, without announcing it: as if the disk filled up
    /// between the check and the write.
    left: AtomicI64,
    /// Whether reading a wallet never ends.
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

    pub(super) async fn service(self: &Arc<Self>) -> Service {
        Service::behind(
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
    fn append(&self, append: Append, done: Option<OnOutcome>) -> Result<Ticket, AppendRefusal> {
        if append.events() > 0 && self.left.fetch_sub(1, Ordering::SeqCst) <= 0 {
            return Err(AppendRefusal::DiskFull);
        }
        self.journal.append(append, done)
    }

    fn durable(&self) -> Ticket {
        self.journal.durable()
    }

    fn refusing(&self) -> Option<AppendRefusal> {
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
    fn applied(&self) -> Ticket {
        self.journal.applied()
    }

    fn checkpoint_soon(&self) {
        self.journal.checkpoint_soon();
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.journal.flush()
    }

    fn follow(&self, awake: Weak<dyn Awake>) {
        self.journal.follow(awake);
    }

    fn load(&self, key: &WalletKey) -> Result<Option<LoadedWallet>, StoreError> {
        let mut stuck = self.stuck.lock();
        while *stuck {
            let waited = self.moved.wait_for(&mut stuck, TIMEOUT);
            assert!(!waited.timed_out(), "nobody could move the disk");
        }
        drop(stuck);
        self.journal.load(key)
    }

    fn wallets_after(
        &self,
        after: Option<&WalletKey>,
        limit: usize,
    ) -> Result<Vec<Wallet>, StoreError> {
        self.journal.wallets_after(after, limit)
    }

    fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        self.journal.new_history(key)
    }

    fn documents(&self) -> Result<Vec<Document>, StoreError> {
        self.journal.documents()
    }

    fn notes(&self, prefix: &[u8]) -> Result<Vec<StoredNote>, StoreError> {
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

    fn usage_kept_after(
        &self,
        product: ProductId,
        interval: Interval,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.journal.usage_kept_after(product, interval)
    }

    fn project_events(
        &self,
        project: ProjectId,
        after: EventNumber,
        limit: usize,
    ) -> Result<Vec<(EventNumber, ProjectEvent)>, StoreError> {
        self.journal.project_events(project, after, limit)
    }

    fn last_project_event(&self) -> EventNumber {
        self.journal.last_project_event()
    }

    fn on_project_events(&self, listener: OnEvents) {
        self.journal.on_project_events(listener);
    }

    fn range(
        &self,
        look_up: LookUp,
        range: &LookUpRange,
        limit: usize,
    ) -> Result<EntryBatch, StoreError> {
        self.journal.range(look_up, range, limit)
    }

    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, StoreError> {
        self.journal.find(look_up, key)
    }
}
