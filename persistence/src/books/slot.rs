//! What an awake wallet keeps of its applied history: the newest keys and its runs' filters, shared
//! by the wallet's actor, which asks, and the checkpoint, which publishes. At most one slot for each
//! wallet; a sleeping wallet has none. Records themselves are never kept.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use domain::{history::Record, id::WalletKey};
use parking_lot::{Mutex, RwLock};

use super::{
    pages,
    store::{Store, damaged},
    wallet_record::WalletRecord,
};
use crate::{
    contract::History,
    error::Error,
    index::{
        Key,
        filter::{self, Budget, BudgetShare, Filter},
        pack, packed,
        run::{self, RunMeta},
        unpack, versions,
    },
};

/// A slot's view of one applied state. Never changed, only replaced.
pub(crate) struct State {
    version: u64,
    /// Keys that are in no run, packed and sorted.
    recent: Box<[u8]>,
    /// Their filter: most look-ups are of new keys, and this answers them from one cache line
    /// where a search touches several.
    recent_filter: Box<[filter::Block]>,
    runs: Box<[Arc<Run>]>,
}

/// A run, and its filter unless the budget was used up.
struct Run {
    meta: RunMeta,
    filter: Option<Filter>,
}

impl Run {
    fn bytes(&self) -> usize {
        let filter = self.filter.as_ref();
        filter.map_or(0, |filter| filter.form.bytes())
    }
}

pub(crate) struct Slot {
    key: WalletKey,
    slots: Arc<Slots>,
    /// Its part of the memory for filters.
    share: Arc<BudgetShare>,
    state: RwLock<Arc<State>>,
}

pub(crate) struct Slots {
    store: Store,
    budget: Arc<Budget>,
    shards: [Mutex<HashMap<WalletKey, Weak<Slot>>>; SHARDS],
}

const SHARDS: usize = 64;

impl Slots {
    pub(crate) fn new(store: Store) -> Self {
        let budget = Arc::new(Budget::new(store.tuning.filter_bytes));
        Self {
            store,
            budget,
            shards: std::array::from_fn(|_| Mutex::default()),
        }
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "a remainder of the number of shards"
    )]
    fn shard(&self, key: &WalletKey) -> &Mutex<HashMap<WalletKey, Weak<Slot>>> {
        // Wallet keys are uniformly spread.
        let [first, ..] = key.0;
        &self.shards[usize::from(first) % SHARDS]
    }

    pub(crate) fn awake(&self, key: &WalletKey) -> Option<Arc<Slot>> {
        self.shard(key).lock().get(key).and_then(Weak::upgrade)
    }

    /// The wallet's slot; a new one knows nothing until something is published.
    pub(crate) fn wake(self: &Arc<Self>, key: &WalletKey) -> Arc<Slot> {
        let mut shard = self.shard(key).lock();
        if let Some(slot) = shard.get(key).and_then(Weak::upgrade) {
            return slot;
        }
        let nothing = State {
            version: 0,
            recent: Box::default(),
            recent_filter: Box::default(),
            runs: Box::default(),
        };
        let slot = Arc::new(Slot {
            key: *key,
            slots: Arc::clone(self),
            share: self.budget.share(),
            state: RwLock::new(Arc::new(nothing)),
        });
        shard.insert(*key, Arc::downgrade(&slot));
        slot
    }

    #[cfg(test)]
    pub(crate) fn filter_bytes(&self) -> usize {
        self.budget.used()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut shard = self.slots.shard(&self.key).lock();
        // Another slot may have taken this one's place since its last owner let go.
        if shard
            .get(&self.key)
            .is_some_and(|slot| slot.strong_count() == 0)
        {
            shard.remove(&self.key);
            if shard.capacity() > shard.len().saturating_mul(4).max(64) {
                shard.shrink_to_fit();
            }
        }
    }
}

impl Slot {
    /// The keys that are in no run as of a version, together with new ones, sorted. `None`: this slot
    /// shows another version.
    pub(crate) fn recent(&self, version: u64, new: &[Key]) -> Option<Vec<Key>> {
        let state = Arc::clone(&self.state.read());
        if state.version != version {
            return None;
        }
        let room = packed(&state.recent).len().saturating_add(new.len());
        let mut keys = Vec::with_capacity(room);
        keys.extend(unpack(&state.recent));
        keys.extend_from_slice(new);
        keys.sort_unstable();
        Some(keys)
    }

    /// Publishes a record's runs, and its keys that are in no run, unless a newer record was published already: a
    /// wallet that is loaded while it is applied may come here in either order. The publisher reads the filters, so
    /// that look-ups do not wait for them. `false` if a run is not there (any more): read the record again.
    pub(crate) fn publish(&self, record: &WalletRecord, keys: &[Key]) -> Result<bool, Error> {
        let old = Arc::clone(&self.state.read());
        if old.version > record.head.version {
            return Ok(true);
        }
        let mut runs = Vec::with_capacity(record.head.runs.len());
        // A wallet with more than its part makes its largest filter smaller, one with each checkpoint.
        let is_over = self.share.is_over_share();
        let large = old.runs.iter().filter(|run| run.filter.is_some());
        let largest = large.max_by_key(|run| run.bytes()).filter(|_| is_over);
        for meta in &record.head.runs {
            if let Some(run) = largest.filter(|run| run.meta == *meta)
                && let Some(filter) = run.filter.as_ref().and_then(Filter::smaller)
            {
                runs.push(Arc::new(Run {
                    meta: *meta,
                    filter: Some(filter),
                }));
                continue;
            }
            let same = old
                .runs
                .iter()
                .find(|run| run.meta == *meta && run.filter.is_some());
            match same {
                Some(run) => runs.push(Arc::clone(run)),
                None => match self.filter(meta)? {
                    Ok(filter) => runs.push(Arc::new(Run {
                        meta: *meta,
                        filter,
                    })),
                    Err(RunRetired) => return Ok(false),
                },
            }
        }
        let mut recent = Vec::new();
        pack(keys, &mut recent);
        let new = Arc::new(State {
            version: record.head.version,
            recent: recent.into(),
            recent_filter: recent_filter(keys),
            runs: runs.into(),
        });
        let mut state = self.state.write();
        if state.version <= new.version {
            *state = new;
        }
        Ok(true)
    }

    fn filter(&self, meta: &RunMeta) -> Result<Result<Option<Filter>, RunRetired>, Error> {
        let store = &self.slots.store;
        let keys = usize::try_from(meta.keys).unwrap_or(usize::MAX);
        let per_page = match meta.pages {
            0 | 1 => filter::blocks_for(keys),
            _ => filter::blocks_for(store.tuning.keys_per_page),
        };
        let count = per_page.saturating_mul(usize::from(meta.pages.max(1)));
        let mut blocks = Vec::with_capacity(count);
        if meta.pages > 1 {
            for page in 0..meta.pages {
                let Some(stored) = run::stored_filter(store, &self.key, meta.number, page)? else {
                    return Ok(Err(RunRetired));
                };
                blocks.extend(stored);
            }
        } else {
            let mut keys = Vec::new();
            if !run::read(store, &self.key, meta.number, 0, &mut keys)? {
                return Ok(Err(RunRetired));
            }
            blocks.resize(count, [0; 8]);
            for key in keys {
                filter::insert(&mut blocks, key.hash);
            }
        }
        // Pages written under another tuning have another size; all pages of a run have the same.
        let per_page = blocks
            .len()
            .checked_div(usize::from(meta.pages.max(1)))
            .unwrap_or_default();
        Ok(Ok(self.affordable(blocks, per_page)))
    }

    /// The largest form of a filter that there is room for.
    fn affordable(&self, blocks: Vec<filter::Block>, per_page: usize) -> Option<Filter> {
        let mut form = filter::FilterBlocks::new(blocks, per_page);
        if !self.share.has_room_for_full(form.bytes()) {
            form = form.halved().unwrap_or_else(|whole| whole);
        }
        loop {
            if let Some(reserved) = self.share.reserve(form.bytes()) {
                return Some(Filter { form, reserved });
            }
            form = form.halved().ok()?;
        }
    }

    #[cfg(test)]
    pub(crate) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read())
    }

    /// Looks through a state, and through its successor when it is outdated.
    pub(crate) fn search(
        &self,
        mut state: Arc<State>,
        hash: u64,
        matches: &dyn Fn(&Record) -> bool,
    ) -> Result<Option<Record>, Error> {
        loop {
            if let Ok(found) = self.look(&state, hash, matches)? {
                return Ok(found);
            }
            // A replaced run is forgotten only after its successor was published.
            let now = Arc::clone(&self.state.read());
            if Arc::ptr_eq(&now, &state) {
                return Err(damaged(format!(
                    "{:?}: a run of its index is missing",
                    self.key
                )));
            }
            state = now;
        }
    }

    /// Searches one state, the newest entry first.
    fn look(
        &self,
        state: &State,
        hash: u64,
        matches: &dyn Fn(&Record) -> bool,
    ) -> Result<Result<Option<Record>, RunRetired>, Error> {
        let store = &self.slots.store;
        // Runs of several levels may overlap in time: only all of them together have an order.
        let mut candidates: Vec<u64> = versions(packed(&state.recent), hash).collect();
        for run in &state.runs {
            let page = run.meta.page_of(hash);
            let perhaps = match &run.filter {
                Some(filter) => filter.may_have(page, hash),
                None if run.meta.pages > 1 => {
                    match run::stored_filter(store, &self.key, run.meta.number, page)? {
                        Some(blocks) => filter::may_have(&blocks, hash),
                        None => return Ok(Err(RunRetired)),
                    }
                }
                None => true,
            };
            if !perhaps {
                continue;
            }
            let Some(versions) = run::find(store, &self.key, &run.meta, hash)? else {
                return Ok(Err(RunRetired));
            };
            candidates.extend(versions);
        }
        candidates.sort_unstable();
        for version in candidates.into_iter().rev() {
            if let Some(record) = self.confirm(version, matches)? {
                return Ok(Ok(Some(record)));
            }
        }
        Ok(Ok(None))
    }

    fn confirm(
        &self,
        version: u64,
        matches: &dyn Fn(&Record) -> bool,
    ) -> Result<Option<Record>, Error> {
        let record = pages::record(&self.slots.store, &self.key, version)?;
        Ok(matches(&record).then_some(record))
    }
}

/// A run that a state names is gone: a checkpoint has replaced it.
struct RunRetired;

fn recent_filter(keys: &[Key]) -> Box<[filter::Block]> {
    let mut blocks = vec![[0; 8]; filter::blocks_for(keys.len())];
    for key in keys {
        filter::insert(&mut blocks, key.hash);
    }
    blocks.into()
}

impl State {
    fn recently_used(&self, hash: u64) -> bool {
        !self.recent.is_empty()
            && filter::may_have(&self.recent_filter, hash)
            && versions(packed(&self.recent), hash).next().is_some()
    }

    /// Whether memory alone can tell that the hash was never used.
    fn never_used(&self, hash: u64) -> bool {
        !self.recently_used(hash)
            && self.runs.iter().all(|run| {
                let page = run.meta.page_of(hash);
                run.filter
                    .as_ref()
                    .is_some_and(|filter| !filter.may_have(page, hash))
            })
    }
}

impl History for Slot {
    fn applied(&self) -> u64 {
        self.state.read().version
    }

    fn find(&self, hash: u64, matches: &dyn Fn(&Record) -> bool) -> Result<Option<Record>, Error> {
        let state = {
            let state = self.state.read();
            if state.never_used(hash) {
                return Ok(None);
            }
            Arc::clone(&state)
        };
        self.search(state, hash, matches)
    }

    fn before(&self, seq: u64, limit: usize) -> Result<Vec<Record>, Error> {
        pages::before(&self.slots.store, &self.key, seq, limit)
    }
}
