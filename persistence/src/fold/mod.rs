//! State folded from the log: wallets with their histories, codes and the catalog. Folding the
//! same events again, all or some, grouped in whatever way, changes nothing; a fold that was
//! interrupted anywhere is repaired by folding again. It flushes nothing: whoever calls decides
//! when a fold is durable.

mod apply;
mod catalog;
mod directory;
pub(crate) mod events;
mod notes;
pub(crate) mod orders;
mod overlay;
mod packed;
pub(crate) mod pages;
mod retire;
pub(crate) mod store;
#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "small numbers of tests"
)]
mod tests;
mod verify;
pub(crate) mod wallet_record;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use domain::{
    catalog::Document,
    id::{CodeHash, OrderId, OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, Email},
    time::Timestamp,
    wallet::{Event, Wallet},
};

use self::{
    events::Events,
    orders::Changes,
    store::{Store, Tuning, damaged},
    wallet_record::WalletRecord,
};
use crate::{
    contract::{Error, History, KeptNote, OrderPlace, Stored},
    index::slot::{Slot, Slots},
    verify::Report,
};

/// The folded state.
pub(crate) struct Folded {
    slots: Arc<Slots>,
    /// The last fold number given out. Every fold takes a new one, also after one that failed.
    last: AtomicU32,
}

/// What a fold replaced.
#[derive(Debug)]
#[must_use = "what was replaced must be forgotten once the fold is durable"]
pub(crate) struct FoldReport {
    lists: Vec<retire::List>,
}

impl Folded {
    /// Opens the state, and tidies up after a fold that was interrupted.
    pub(crate) fn open(db: &sled::Db) -> Result<Self, Error> {
        Self::open_with(db, Tuning::default())
    }

    fn open_with(db: &sled::Db, tuning: Tuning) -> Result<Self, Error> {
        let store = Store::open(db, tuning)?;
        retire::complete_lists(&store)?;
        let last = retire::sweep(&store, retire::last_number(&store)?)?;
        Ok(Self {
            slots: Arc::new(Slots::new(store)),
            last: last.into(),
        })
    }

    fn store(&self) -> &Store {
        self.slots.store()
    }

    /// Writes the state after these events; those that it has already are skipped.
    pub(crate) fn fold(&self, events: &mut Events) -> Result<FoldReport, Error> {
        let mut report = FoldReport { lists: Vec::new() };
        let number = self.take_number()?;
        events.sort();
        for document in events.documents() {
            catalog::put(self.store(), document)?;
        }
        for (key, body) in events.notes() {
            notes::put(self.store(), key, body)?;
        }
        let mut changed = events.documents().len() > 0;
        let mut orders = Changes::default();
        for (key, events) in events.wallets() {
            let folded = apply::wallet(&self.slots, number, key, &mut orders, events)?;
            if let apply::Folded::New(list) = folded {
                report.lists.extend(list);
                changed = true;
            }
            if orders.len() >= self.store().tuning.orders_at_once {
                orders.store(self.store())?;
            }
        }
        orders.store(self.store())?;
        if changed {
            retire::set_last_number(self.store(), number)?;
        }
        Ok(report)
    }

    fn take_number(&self) -> Result<u32, Error> {
        let next = |last: u32| last.checked_add(1);
        let last = self
            .last
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let last = last.map_err(|_| damaged("there were too many folds".into()))?;
        next(last).ok_or_else(|| damaged("there were too many folds".into()))
    }

    /// Removes what a fold replaced. Only after it is durable.
    pub(crate) fn forget(&self, report: FoldReport) -> Result<(), Error> {
        report
            .lists
            .iter()
            .try_for_each(|list| list.complete(self.store()))
    }

    /// The stored wallet after `tail` (log order, versions; what is folded of it is skipped).
    pub(crate) fn load(
        &self,
        key: &WalletKey,
        tail: Vec<(u64, Event)>,
    ) -> Result<Option<Stored>, Error> {
        let slot = self.slots.wake(key);
        let mut wallet = self.read(key, &slot)?;
        let mut records = Vec::new();
        for (version, event) in tail {
            let (next, record) = apply::replay(wallet, *key, version, event)?;
            wallet = next;
            records.extend(record);
        }
        let folded = slot.folded();
        records.retain(|record| record.seq > folded);
        Ok(wallet.map(|wallet| Stored {
            wallet,
            tail: records,
            history: slot,
        }))
    }

    /// Reads a wallet and shows its record to the slot. A fold may replace what the record names
    /// meanwhile: then the record is a newer one.
    fn read(&self, key: &WalletKey, slot: &Slot) -> Result<Option<Wallet>, Error> {
        let mut seen = 0;
        loop {
            let Some(record) = WalletRecord::read(self.store(), key)? else {
                return Ok(None);
            };
            if let Some(wallet) = record.wallet(self.store(), key)?
                && slot.publish(&record)?
            {
                return Ok(Some(wallet));
            }
            if record.head.version == seen {
                return Err(damaged(format!(
                    "{key:?}: a run or a part that it names is missing"
                )));
            }
            seen = record.head.version;
        }
    }

    /// The history of a wallet that has nothing stored yet.
    pub(crate) fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        self.slots.wake(key)
    }

    /// The wallet that a code opens, where the code is not the wallet's own key.
    pub(crate) fn alias(&self, code: &CodeHash) -> Result<Option<WalletKey>, Error> {
        catalog::alias(self.store(), code)
    }

    /// All catalog documents.
    pub(crate) fn documents(&self) -> Result<Vec<Document>, Error> {
        catalog::documents(self.store())
    }

    /// Notes whose keys start like this, in order.
    pub(crate) fn notes(&self, prefix: &[u8]) -> Result<Vec<KeptNote>, Error> {
        notes::with_prefix(self.store(), prefix)
    }

    /// See [`crate::Journal::orders`]; what was recovered is laid over what is folded.
    pub(crate) fn orders(
        &self,
        over: &Changes,
        project: ProjectId,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, Error> {
        let orders = &self.store().orders;
        orders.before(over, project, before, limit)
    }

    /// See [`crate::Journal::checkout`].
    pub(crate) fn checkout(
        &self,
        over: &Changes,
        project: ProjectId,
        checkout: &CheckoutId,
    ) -> Result<Option<OrderId>, Error> {
        self.store().orders.checkout(over, project, checkout)
    }

    /// See [`crate::Journal::due`].
    pub(crate) fn due(
        &self,
        over: &Changes,
        project: ProjectId,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, Error> {
        let orders = &self.store().orders;
        orders.due(over, project, after, until, limit)
    }

    /// See [`crate::Journal::buyers`].
    pub(crate) fn buyers(
        &self,
        over: &Changes,
        project: ProjectId,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<WalletKey>, Error> {
        self.store().orders.buyers(over, project, email, limit)
    }

    /// Re-reads everything and reports what is wrong. Nothing may be folded meanwhile. `unfolded`:
    /// wallets with events that are not folded, or not all.
    pub(crate) fn verify(
        &self,
        unfolded: &BTreeSet<WalletKey>,
        report: &mut Report,
    ) -> Result<(), Error> {
        verify::verify(self.store(), unfolded, report)
    }
}
