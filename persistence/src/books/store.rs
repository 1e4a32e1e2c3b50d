//! The trees of the applied state.

pub(crate) use super::writes::{damaged, io};
use super::{
    sorted_set::{Set, SortedSet},
    writes::Writes,
};
use crate::{
    error::Error,
    index::Pages,
    lookups::{AllChanges, LookUp, each_look_up},
    tuning::Tuning,
};

pub(crate) type RecordSink<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), Error> + 'a;

/// The sled trees of the applied state, each with what its keys are.
pub(crate) struct Store {
    /// Wallet key: [`super::wallet_record`].
    pub(crate) wallets: sled::Tree,
    /// Checkpoint, wallet, first entry: [`super::pages`].
    pub(crate) pages: sled::Tree,
    /// Checkpoint, wallet, place: parts of a large snapshot.
    pub(crate) parts: sled::Tree,
    /// Wallet, first entry: [`super::directory`].
    pub(crate) directory: sled::Tree,
    /// Checkpoint, wallet, page, part: [`crate::index::run`].
    pub(crate) index: sled::Tree,
    /// Checkpoint, wallet, page: the filters of runs.
    pub(crate) filters: sled::Tree,
    /// Kind, identifier: a document.
    pub(crate) catalog: sled::Tree,
    /// The note's own key: [`super::notes`].
    pub(crate) notes: sled::Tree,
    /// Product, interval, instant: [`super::usage`].
    pub(crate) usage: sled::Tree,
    /// Project, first number: [`super::project_events`].
    pub(crate) project_events: sled::Tree,
    /// One for each look-up, in the order of [`LookUp::ALL`].
    look_ups: Sets,
    /// The last checkpoint's number, and what checkpoints replaced: [`super::retire`].
    pub(crate) checkpoints: sled::Tree,
    pub(crate) tuning: Tuning,
    pub(crate) writes: Writes,
}

impl Store {
    pub(crate) fn open(db: &sled::Db, tuning: Tuning) -> Result<Self, Error> {
        let tree = |name: &str| db.open_tree(name).map_err(io);
        Ok(Self {
            wallets: tree("wallets")?,
            pages: tree("pages")?,
            parts: tree("parts")?,
            directory: tree("directory")?,
            index: tree("index")?,
            filters: tree("filters")?,
            catalog: tree("catalog")?,
            notes: tree("notes")?,
            usage: tree("usage")?,
            project_events: tree("project_events")?,
            look_ups: sets(db, &tuning)?,
            checkpoints: tree("folds")?,
            tuning,
            writes: Writes::default(),
        })
    }

    pub(crate) fn look_up(&self, look_up: LookUp) -> &dyn Set {
        #[expect(clippy::indexing_slicing, reason = "there is one for each")]
        &*self.look_ups[look_up as usize]
    }

    pub(crate) fn list(&self, changes: &mut AllChanges) -> Result<(), Error> {
        for (look_up, changes) in changes.take() {
            self.look_up(look_up).apply(&self.writes, &changes)?;
        }
        self.merge_pending(self.tuning.pending_bytes)
    }

    /// Moves the largest pending lists of look-ups into their pages, until all together are no larger than this.
    pub(crate) fn merge_pending(&self, most: usize) -> Result<(), Error> {
        loop {
            let pending = self.look_ups.iter().map(|set| (set.pending_bytes(), set));
            let all: usize = pending.clone().map(|(bytes, _)| bytes).sum();
            match pending.max_by_key(|(bytes, _)| *bytes) {
                Some((_, largest)) if all > most => largest.merge_pending(&self.writes)?,
                _ => return Ok(()),
            }
        }
    }
}

impl Pages for Store {
    type Value = sled::IVec;

    fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    fn page(&self, key: &[u8]) -> Result<Option<sled::IVec>, Error> {
        self.index.get(key).map_err(io)
    }

    fn filter(&self, key: &[u8]) -> Result<Option<sled::IVec>, Error> {
        self.filters.get(key).map_err(io)
    }

    fn put_page(&self, key: Vec<u8>, value: Vec<u8>) -> Result<(), Error> {
        self.writes.put(&self.index, key, value)
    }

    fn put_filter(&self, key: Vec<u8>, value: Vec<u8>) -> Result<(), Error> {
        self.writes.put(&self.filters, key, value)
    }
}

type Sets = [Box<dyn Set>; LookUp::ALL.len()];

macro_rules! open_sets {
    ($($(#[$_doc:meta])* $_name:ident $tree:literal $key:literal $value:literal $_wallet:ident,)*) => {
        fn sets(db: &sled::Db, tuning: &Tuning) -> Result<Sets, Error> {
            Ok([$(set::<$key, $value>(db, $tree, tuning)?,)*])
        }
    };
}
each_look_up!(open_sets);

fn set<const K: usize, const V: usize>(
    db: &sled::Db,
    tree: &str,
    tuning: &Tuning,
) -> Result<Box<dyn Set>, Error> {
    let pages = db.open_tree(tree).map_err(io)?;
    let pending = db.open_tree(format!("{tree} pending")).map_err(io)?;
    let set = SortedSet::<K, V>::open(pages, pending, tuning)?;
    Ok(Box::new(set))
}
