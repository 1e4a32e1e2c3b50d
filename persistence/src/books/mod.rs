//! State made from the log: wallets with their histories, look-ups and the catalog. Applying the same events again, all
//! or some, grouped in any way, changes nothing; a checkpoint that was interrupted anywhere is repaired by applying
//! again. It flushes nothing: the caller decides when a checkpoint is durable.

mod apply;
pub(crate) mod catalog;
pub(crate) mod checkpoint;
pub(crate) mod copied;
mod directory;
pub(crate) mod disk;
pub(crate) mod events;
pub(crate) mod notes;
mod packed;
pub(crate) mod pages;
mod pending_list;
pub(crate) mod project_events;
pub(crate) mod read_all;
pub(crate) mod retention;
pub(crate) mod retire;
mod slices;
mod slot;
pub(crate) mod sorted_set;
pub(crate) mod store;
#[cfg(test)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "small numbers of tests"
)]
mod tests;
pub(crate) mod usage;
pub mod verify;
pub(crate) mod wallet_record;
mod writes;

pub use read_all::Reader;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use domain::{id::WalletKey, wallet::Wallet};
use parking_lot::Mutex;

use self::{
    apply::{CheckpointContext, Pending},
    events::Events,
    pages::Writer,
    retire::CheckpointReport,
    slices::Slices,
    slot::{Slot, Slots},
    store::{Store, damaged, io},
    wallet_record::WalletRecord,
};
use crate::{
    contract::{Awake, History, LoadedWallet},
    error::{Error, Ticket},
    lookups::AllChanges,
    tuning::Tuning,
};

/// Wallets whose records are written together, after their entries: so many snapshots and index
/// pages are in memory at once, however many wallets a checkpoint has.
const WALLETS_AT_ONCE: usize = 1024;

pub(crate) struct AppliedState {
    slots: Arc<Slots>,
    /// The last checkpoint number given out. Every checkpoint takes a new one, also after one that failed.
    last: AtomicU64,
    /// Merges of index runs between checkpoints.
    slices: Mutex<Slices>,
}

/// No awake wallets: at the start, and in tests.
pub(crate) struct NoAwakeWallets;

impl Awake for NoAwakeWallets {
    fn show(&self, _: &WalletKey, _: &mut dyn FnMut(&Wallet, Ticket)) {}
}

impl AppliedState {
    /// Opens the state, and tidies up after a checkpoint that was interrupted.
    pub(crate) fn open(db: &sled::Db, filter_bytes: usize) -> Result<Self, Error> {
        let tuning = Tuning {
            filter_bytes,
            ..Tuning::default()
        };
        Self::open_with(db, tuning)
    }

    fn open_with(db: &sled::Db, tuning: Tuning) -> Result<Self, Error> {
        let store = Store::open(db, tuning)?;
        retire::complete_lists(&store)?;
        let last = retire::sweep(&store, retire::last_number(&store)?)?;
        Ok(Self {
            slots: Arc::new(Slots::new(store)),
            last: last.into(),
            slices: Mutex::default(),
        })
    }

    pub(crate) fn store(&self) -> &Store {
        self.slots.store()
    }

    /// Writes the state after these events; those that it has already are skipped.
    pub(crate) fn checkpoint(
        &self,
        events: &mut Events,
        awake: &dyn Awake,
        durable: &dyn Fn() -> Ticket,
    ) -> Result<CheckpointReport, Error> {
        let mut report = CheckpointReport { lists: Vec::new() };
        let tools = CheckpointContext {
            slots: &self.slots,
            number: self.take_number()?,
            awake,
            durable,
        };
        let store = tools.store();
        events.sort();
        for document in events.documents() {
            catalog::put(store, document)?;
        }
        for (key, body) in events.notes() {
            notes::put(store, key, body)?;
        }
        let mut slices = self.slices.lock();
        let mut changes = AllChanges::default();
        let mut writer = Writer::new(store, tools.number);
        let mut wallets = events.wallets().peekable();
        while wallets.peek().is_some() {
            // Snapshots first: what they wait for is durable by the time they are written.
            let mut at_once = Vec::new();
            for (key, of) in wallets.by_ref().take(WALLETS_AT_ONCE) {
                at_once.push((Pending::begin(&tools, key, of)?, key, of));
            }
            for (pending, key, of) in &mut at_once {
                match pending {
                    Some(pending) => pending.write(&tools, *of, &mut writer, &mut changes)?,
                    None => apply::list(key, *of, &mut changes)?,
                }
            }
            writer.finish()?;
            for (pending, ..) in at_once {
                if let Some(pending) = pending {
                    report.lists.extend(pending.finish(&tools, &mut slices)?);
                }
            }
            if changes.count() >= store.tuning.changes_at_once {
                store.list(&mut changes)?;
            }
        }
        store.list(&mut changes)?;
        for (project, of) in events.project_events() {
            project_events::add(store, project, of)?;
        }
        let (used, through) = events.usage();
        usage::add(store, used, through)?;
        retire::set_last_number(store, tools.number)?;
        Ok(report)
    }

    fn take_number(&self) -> Result<u64, Error> {
        let last = self.last.fetch_add(1, Ordering::AcqRel);
        last.checked_add(1)
            .ok_or_else(|| damaged("there were too many checkpoints".into()))
    }

    pub(crate) fn last_number(&self) -> Result<u64, Error> {
        retire::last_number(self.store())
    }

    /// The largest number that a checkpoint or a merge has by now.
    pub(crate) fn number(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.slices.lock().is_idle()
    }

    /// Does a slice of a merge between checkpoints. Returns what the merge replaced, if it ended.
    pub(crate) fn merge_some(&self) -> Result<Option<CheckpointReport>, Error> {
        let mut slices = self.slices.lock();
        let list = slices.work(&self.slots, || self.take_number())?;
        Ok(list.map(|list| CheckpointReport { lists: vec![list] }))
    }

    /// Removes what a checkpoint replaced. Only after it is durable.
    pub(crate) fn forget(&self, report: CheckpointReport) -> Result<(), Error> {
        report
            .lists
            .iter()
            .try_for_each(|list| list.complete(self.store()))
    }

    pub(crate) fn load(&self, key: &WalletKey) -> Result<Option<LoadedWallet>, Error> {
        let slot = self.slots.wake(key);
        let wallet = self.read(key, Some(&slot))?;
        Ok(wallet.map(|wallet| LoadedWallet {
            wallet,
            history: slot,
        }))
    }

    /// At most `limit` wallets after `after`, as they were when they were last applied.
    pub(crate) fn wallets_after(
        &self,
        after: Option<&WalletKey>,
        limit: usize,
    ) -> Result<Vec<Wallet>, Error> {
        let from = after.map_or([0; 16], |after| after.0);
        let stored = self.store().wallets.range(from..);
        let mut wallets = Vec::new();
        for key in stored.keys() {
            if wallets.len() >= limit {
                break;
            }
            let key = wallet_record::read_key(&key.map_err(io)?)?;
            if after != Some(&key) {
                wallets.extend(self.read(&key, None)?);
            }
        }
        Ok(wallets)
    }

    /// Reads a wallet, and publishes its record to the slot if there is one. A checkpoint may replace what the record names:
    /// then the newer record is read.
    fn read(&self, key: &WalletKey, slot: Option<&Slot>) -> Result<Option<Wallet>, Error> {
        let store = self.store();
        let mut version_read = 0;
        loop {
            let Some(record) = WalletRecord::read(store, key)? else {
                return Ok(None);
            };
            if let Some(wallet) = record.wallet(store, key)? {
                if let Some(slot) = slot {
                    slot.publish(&record, None);
                }
                return Ok(wallet);
            }
            if record.head.version == version_read {
                return Err(damaged(format!(
                    "{key:?}: a part of its snapshot is missing"
                )));
            }
            version_read = record.head.version;
        }
    }

    pub(crate) fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        self.slots.wake(key)
    }
}
