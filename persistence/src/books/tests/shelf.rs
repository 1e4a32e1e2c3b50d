//! Folded state that is read as books are: unfolded entries are laid over it.

use std::sync::{Arc, Weak};

use domain::{
    Timestamp,
    catalog::Document,
    id::{ProductId, ProjectId, WalletKey},
    project_event::ProjectEvent,
    wallet::Wallet,
};

use crate::{
    books::FoldedState,
    contract::{Awake, Books, EventNumber, History, LoadedWallet, OnEvents, StoredNote},
    error::{Error, Ticket},
    format::{
        append::{Append, FreshChanges, LogEvent},
        decode_project_event,
    },
    lookups::{EntryBatch, LookUp, LookUpRange, Value, fresh::Overlay},
    tuning::Tuning,
    usage::{
        Interval, Usage,
        fresh::{FoldEnd, FreshSales},
    },
};

pub(super) struct Shelf {
    pub(super) folded: FoldedState,
    fresh: Overlay,
    sales: FreshSales,
}

impl Shelf {
    pub(super) fn open(db: &sled::Db, tuning: Tuning) -> Self {
        Self {
            folded: FoldedState::open_with(db, tuning).unwrap(),
            fresh: Overlay::default(),
            sales: FreshSales::default(),
        }
    }

    /// As the log's side does when it takes this in under this ticket.
    pub(super) fn append(&self, events: &[LogEvent], ticket: u64) {
        let mut append = Append::default();
        events.iter().for_each(|event| append.push(event).unwrap());
        let FreshChanges { listed, sold } = append.take_fresh();
        self.fresh.add(&listed);
        self.sales.add(&sold).set(ticket);
        self.fresh.appended(listed, ticket);
    }

    /// As the checkpointer does before it folds up to here.
    pub(super) fn begin_fold(&self, lsn: u64, ticket: u64) {
        self.sales.begin_fold(FoldEnd { lsn, ticket });
    }

    /// The unfolded value under a key.
    pub(super) fn fresh(&self, look_up: LookUp, key: &[u8]) -> Option<Option<Value>> {
        self.fresh.find(look_up, key)
    }

    /// As the checkpointer does once everything up to here is folded.
    pub(super) fn made_folded(&self, ticket: u64) {
        self.fresh.folded(ticket);
        self.sales.folded(ticket);
    }
}

impl std::ops::Deref for Shelf {
    type Target = FoldedState;

    fn deref(&self) -> &FoldedState {
        &self.folded
    }
}

impl Books for Shelf {
    fn folded(&self) -> Ticket {
        Ticket(0)
    }

    fn fold_soon(&self) {}

    fn settle(&self) -> Result<(), Error> {
        Ok(())
    }

    fn follow(&self, _: Weak<dyn Awake>) {}

    fn load(&self, key: &WalletKey) -> Result<Option<LoadedWallet>, Error> {
        self.folded.load(key)
    }

    fn wallets_after(&self, after: Option<&WalletKey>, limit: usize) -> Result<Vec<Wallet>, Error> {
        self.folded.wallets_after(after, limit)
    }

    fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        self.folded.new_history(key)
    }

    fn documents(&self) -> Result<Vec<Document>, Error> {
        self.folded.documents()
    }

    fn notes(&self, prefix: &[u8]) -> Result<Vec<StoredNote>, Error> {
        self.folded.notes(prefix)
    }

    fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<(Timestamp, Usage)>, Error> {
        let stored = || self.folded.usage(product, interval, within);
        self.sales.merged((product, interval), within, stored)
    }

    fn usage_kept_after(
        &self,
        product: ProductId,
        interval: Interval,
    ) -> Result<Option<Timestamp>, Error> {
        self.folded.usage_kept_after(product, interval)
    }

    fn project_events(
        &self,
        project: ProjectId,
        after: EventNumber,
        limit: usize,
    ) -> Result<Vec<(EventNumber, ProjectEvent)>, Error> {
        let stored = self.folded.project_events(project, after, limit)?;
        let stored = stored.into_iter();
        stored
            .map(|(number, bytes)| Ok((number, decode_project_event(project, &bytes)?)))
            .collect()
    }

    fn last_project_event(&self) -> EventNumber {
        EventNumber::MAX
    }

    fn on_project_events(&self, _: OnEvents) {}

    fn stretch(
        &self,
        look_up: LookUp,
        stretch: &LookUpRange,
        limit: usize,
    ) -> Result<EntryBatch, Error> {
        self.fresh.merged(look_up, stretch, limit, |each| {
            self.folded.stretch(look_up, stretch, each)
        })
    }

    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, Error> {
        match self.fresh.find(look_up, key) {
            Some(fresh) => Ok(fresh),
            None => self.folded.find(look_up, key),
        }
    }
}
