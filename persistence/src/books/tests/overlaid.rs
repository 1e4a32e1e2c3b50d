//! Folded state that is read as books are: pending entries are laid over it.

use std::sync::{Arc, Weak};

use domain::{
    Timestamp,
    catalog::Document,
    id::{ProductId, ProjectId, WalletKey},
    project_event::ProjectEvent,
    wallet::Wallet,
};

use crate::{
    books::{AppliedState, catalog, notes, project_events, usage},
    contract::{Awake, Books, EventNumber, History, LoadedWallet, OnEvents, StoredNote},
    error::{Error, Ticket},
    format::{
        append::{Append, LogEvent, PendingChanges},
        decode_project_event,
    },
    lookups::{EntryBatch, LookUp, LookUpRange, Value, overlay::Overlay},
    tuning::Tuning,
    usage::{
        Interval, Usage,
        pending::{CheckpointEnd, PendingSales},
    },
};

pub(super) struct OverlaidBooks {
    pub(super) applied: AppliedState,
    overlay: Overlay,
    sales: PendingSales,
}

impl OverlaidBooks {
    pub(super) fn open(db: &sled::Db, tuning: Tuning) -> Self {
        Self {
            applied: AppliedState::open_with(db, tuning).unwrap(),
            overlay: Overlay::default(),
            sales: PendingSales::default(),
        }
    }

    /// As the log's side does when it takes this in under this ticket.
    pub(super) fn append(&self, events: &[LogEvent], ticket: u64) {
        let mut append = Append::default();
        events.iter().for_each(|event| append.push(event).unwrap());
        let PendingChanges { listed, sold } = append.take_pending();
        self.overlay.add(&listed);
        self.sales.add(&sold).set(ticket);
        self.overlay.appended(listed, ticket);
    }

    /// As the checkpointer does before it applies up to here.
    pub(super) fn begin_checkpoint(&self, lsn: u64, ticket: u64) {
        self.sales.begin_checkpoint(CheckpointEnd { lsn, ticket });
    }

    pub(super) fn pending(&self, look_up: LookUp, key: &[u8]) -> Option<Option<Value>> {
        self.overlay.find(look_up, key)
    }

    /// As the checkpointer does once everything up to here is applied.
    pub(super) fn made_applied(&self, ticket: u64) {
        self.overlay.applied(ticket);
        self.sales.applied(ticket);
    }
}

impl std::ops::Deref for OverlaidBooks {
    type Target = AppliedState;

    fn deref(&self) -> &AppliedState {
        &self.applied
    }
}

impl Books for OverlaidBooks {
    fn applied(&self) -> Ticket {
        Ticket(0)
    }

    fn checkpoint_soon(&self) {}

    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }

    fn follow(&self, _: Weak<dyn Awake>) {}

    fn load(&self, key: &WalletKey) -> Result<Option<LoadedWallet>, Error> {
        self.applied.load(key)
    }

    fn wallets_after(&self, after: Option<&WalletKey>, limit: usize) -> Result<Vec<Wallet>, Error> {
        self.applied.wallets_after(after, limit)
    }

    fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        self.applied.new_history(key)
    }

    fn documents(&self) -> Result<Vec<Document>, Error> {
        catalog::documents(self.store())
    }

    fn notes(&self, prefix: &[u8]) -> Result<Vec<StoredNote>, Error> {
        notes::with_prefix(self.store(), prefix)
    }

    fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<(Timestamp, Usage)>, Error> {
        let stored = || usage::read(self.store(), product, interval, within);
        self.sales.merged((product, interval), within, stored)
    }

    fn usage_kept_after(
        &self,
        product: ProductId,
        interval: Interval,
    ) -> Result<Option<Timestamp>, Error> {
        usage::kept_after(self.store(), product, interval)
    }

    fn project_events(
        &self,
        project: ProjectId,
        after: EventNumber,
        limit: usize,
    ) -> Result<Vec<(EventNumber, ProjectEvent)>, Error> {
        let stored = project_events::after(self.store(), project, after, limit)?;
        let stored = stored.into_iter();
        stored
            .map(|(number, bytes)| Ok((number, decode_project_event(project, &bytes)?)))
            .collect()
    }

    fn last_project_event(&self) -> EventNumber {
        EventNumber::MAX
    }

    fn on_project_events(&self, _: OnEvents) {}

    fn range(
        &self,
        look_up: LookUp,
        range: &LookUpRange,
        limit: usize,
    ) -> Result<EntryBatch, Error> {
        self.overlay.merged(look_up, range, limit, |each| {
            self.store().look_up(look_up).range(range, each)
        })
    }

    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, Error> {
        match self.overlay.find(look_up, key) {
            Some(value) => Ok(value),
            None => self.store().look_up(look_up).get(key),
        }
    }
}
