//! What an awake wallet keeps of its applied history: the newest keys and filters of its runs, shared
//! by the wallet's actor, which asks, and the checkpoint, which publishes. At most one slot for each
//! wallet; a sleeping wallet has none. Records themselves are never kept. Waking reads neither keys nor
//! filters, so that it costs the same with any past: look-ups read what they need.

use std::{
    cmp::Reverse,
    collections::HashMap,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU32, Ordering},
    },
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
        Fingerprint, Key,
        filter::{self, Block, Budget, BudgetShare, Reservation},
        fingerprint, pack, packed,
        run::{self, RunMeta},
        unpack, versions,
    },
};

/// A slot's view of one applied state. Never changed, only replaced.
pub(crate) struct State {
    version: u64,
    /// Keys of later entries are in no run.
    indexed: u64,
    /// Those keys, packed and sorted, if they are known: the checkpoint knows them, or a look-up has read them.
    recent: OnceLock<Box<[u8]>>,
    /// The filter of their fingerprints; empty if there are none. Most look-ups are of new keys, and this answers them
    /// from one cache line where a search touches several.
    recent_filter: Box<[Block]>,
    runs: Box<[Arc<Run>]>,
}

type PageFilter = Box<[Block]>;

/// A run, with the filters of pages that look-ups came to, as far as the budget goes.
struct Run {
    meta: RunMeta,
    pages: OnceLock<Box<[OnceLock<PageFilter>]>>,
    reserved: Reservation,
}

impl Run {
    fn new(meta: RunMeta, share: &Arc<BudgetShare>) -> Self {
        Self {
            meta,
            pages: OnceLock::new(),
            reserved: share.reservation(),
        }
    }

    /// Whether it may have a hash, if the filter of that page is in memory.
    fn may_have(&self, hash: u64) -> Option<bool> {
        let page = usize::from(self.meta.page_of(hash));
        let filter = self.pages.get()?.get(page)?.get()?;
        Some(filter::may_have(filter, hash))
    }

    fn keep(&self, page: u16, filter: PageFilter) {
        let pages = || (0..self.meta.pages).map(|_| OnceLock::new()).collect();
        if let Some(filter) = self.reserved.fit(filter)
            && let Some(page) = self.pages.get_or_init(pages).get(usize::from(page))
        {
            drop(page.set(filter));
        }
    }
}

/// So many look-ups read filters before any is kept: most wallets wake for a few.
const LOOK_UPS_WITHOUT_FILTERS: u32 = 4;

pub(crate) struct Slot {
    key: WalletKey,
    slots: Arc<Slots>,
    /// Its part of the memory for filters.
    share: Arc<BudgetShare>,
    /// How many look-ups have read filters.
    readers: AtomicU32,
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
            indexed: 0,
            recent: OnceLock::from(Box::default()),
            recent_filter: Box::default(),
            runs: Box::default(),
        };
        let slot = Arc::new(Slot {
            key: *key,
            slots: Arc::clone(self),
            share: self.budget.share(),
            readers: AtomicU32::new(0),
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
    /// The keys that are in no run as of a version, together with new ones, sorted. `None`: this slot shows another
    /// version, or does not know them.
    pub(crate) fn recent(&self, version: u64, new: &[Key]) -> Option<Vec<Key>> {
        let state = Arc::clone(&self.state.read());
        let recent = state.recent.get().filter(|_| state.version == version)?;
        let mut keys = Vec::with_capacity(packed(recent).len().saturating_add(new.len()));
        keys.extend(unpack(recent));
        keys.extend_from_slice(new);
        keys.sort_unstable();
        Some(keys)
    }

    /// Publishes a record's runs, and its keys that are in no run if they are known, unless a newer record was published
    /// already: a wallet that is loaded while it is applied may come here in either order.
    pub(crate) fn publish(&self, record: &WalletRecord, keys: Option<&[Key]>) {
        let old = Arc::clone(&self.state.read());
        // A wallet with more than its part lets go of its largest run's filters, which may come back smaller.
        let is_over = self.share.is_over_share();
        let largest = old.runs.iter().max_by_key(|run| run.reserved.bytes());
        let largest = largest.filter(|_| is_over).map(|run| run.meta.number);
        let runs = record.head.runs.iter().map(|meta| {
            let same = |run: &&Arc<Run>| run.meta == *meta && largest != Some(meta.number);
            let same = old.runs.iter().find(same);
            same.map_or_else(|| Arc::new(Run::new(*meta, &self.share)), Arc::clone)
        });
        let recent = keys.map(packed_keys);
        let new = Arc::new(State {
            version: record.head.version,
            indexed: record.head.indexed,
            recent: recent.map_or_else(OnceLock::new, OnceLock::from),
            recent_filter: recent_filter(&record.fingerprints),
            runs: runs.collect(),
        });
        let mut state = self.state.write();
        if new.age() > state.age() {
            *state = new;
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
        let keep = self.readers.fetch_add(1, Ordering::Relaxed) >= LOOK_UPS_WITHOUT_FILTERS;
        // Runs of several levels may overlap in time: only all of them together have an order.
        let mut candidates = Vec::new();
        if state.may_be_recent(hash) {
            let recent = self.read_recent(state)?;
            candidates.extend(versions(packed(recent), hash));
        }
        for run in &state.runs {
            match run.may_have(hash) {
                Some(false) => continue,
                Some(true) => {}
                None => {
                    let page = run.meta.page_of(hash);
                    let stored = run::stored_filter(store, &self.key, run.meta.number, page)?;
                    let Some(stored) = stored else {
                        return Ok(Err(RunRetired));
                    };
                    if keep {
                        run.keep(page, stored.blocks());
                    }
                    if !stored.may_have(hash) {
                        continue;
                    }
                }
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

    /// A state's keys that are in no run.
    fn read_recent<'a>(&self, state: &'a State) -> Result<&'a [u8], Error> {
        if let Some(recent) = state.recent.get() {
            return Ok(recent);
        }
        let store = &self.slots.store;
        // Its record may be newer. Entries are never removed.
        let record = WalletRecord::read(store, &self.key)?
            .ok_or_else(|| damaged(format!("{:?}: its record is missing", self.key)))?;
        let keys = pages::keys(store, &self.key, &record, state.indexed, state.version)?;
        Ok(state.recent.get_or_init(|| packed_keys(&keys)))
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

fn packed_keys(keys: &[Key]) -> Box<[u8]> {
    let mut bytes = Vec::new();
    pack(keys, &mut bytes);
    bytes.into()
}

fn recent_filter(fingerprints: &[u8]) -> Box<[Block]> {
    let fingerprints: &[Fingerprint] = fingerprints.as_chunks().0;
    if fingerprints.is_empty() {
        return Box::default();
    }
    let mut blocks = vec![[0; 8]; filter::blocks_for(fingerprints.len())];
    for fingerprint in fingerprints {
        filter::insert(&mut blocks, spread(*fingerprint));
    }
    blocks.into()
}

/// A fingerprint as the filter takes it: as many bits as a hash.
fn spread(fingerprint: Fingerprint) -> u64 {
    let [a, b, c] = fingerprint;
    u64::from(u32::from_be_bytes([0, a, b, c])).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl State {
    /// Of two states the one with the larger age is newer: of one version it has fewer runs, since some were merged.
    fn age(&self) -> (u64, Reverse<usize>) {
        (self.version, Reverse(self.runs.len()))
    }

    fn may_be_recent(&self, hash: u64) -> bool {
        let filter = &self.recent_filter;
        !filter.is_empty() && filter::may_have(filter, spread(fingerprint(hash)))
    }

    /// Whether memory alone can tell that the hash was never used.
    fn never_used(&self, hash: u64) -> bool {
        !self.may_be_recent(hash)
            && self
                .runs
                .iter()
                .all(|run| run.may_have(hash) == Some(false))
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
