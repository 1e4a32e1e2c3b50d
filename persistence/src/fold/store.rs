//! The trees of the folded state, and the only way anything is written to them: one record at a
//! time (sled's batches keep every old leaf alive), none larger than sled keeps in its log (a
//! larger one would go to a file that it never syncs).

use super::packed::{Packed, Set};
use crate::{
    contract::Error,
    lookups::{AllChanges, LookUp},
};

/// Sizes that determine the layout. Changing one leaves what is stored readable. sled reads and
/// rewrites leaves of up to 16 values. With ten million entries in one wallet, ledger pages of 16
/// KiB and 1,024 keys to an index page, against 56 KiB and 4,096: half the memory and half the time
/// or less to find a used key, for 8 to 22 percent more time to fold (three runs of each).
#[derive(Debug, Clone)]
pub(crate) struct Tuning {
    /// Most bytes of newest entries in a wallet's own record.
    pub(crate) tail_bytes: usize,
    /// Most bytes of a ledger page.
    pub(crate) page_bytes: usize,
    /// Most keys of a wallet that are in no run, and are read from its entries.
    pub(crate) inline_keys: usize,
    /// How many spills move from a wallet's own record to a directory block at once.
    pub(crate) inline_spills: usize,
    /// Keys for each index page, on average.
    pub(crate) keys_per_page: usize,
    /// Most keys in one stored value of an index page; the rest follow in further values.
    pub(crate) keys_per_value: usize,
    /// How many runs of a level become one of the next.
    pub(crate) fan_in: usize,
    /// Runs with more keys together are merged a slice at a time, between folds.
    pub(crate) keys_at_once: u64,
    /// Index pages that are written in such a slice.
    pub(crate) pages_at_once: usize,
    /// A larger snapshot is stored in parts beside the wallet's own record.
    pub(crate) snapshot_bytes: usize,
    /// Bytes of one of those parts.
    pub(crate) part_bytes: usize,
    /// Bytes of one page of a packed set.
    pub(crate) packed_bytes: usize,
    /// Changes of look-ups that a fold holds in memory before it stores them.
    pub(crate) changes_at_once: usize,
    /// Bytes of memory for the filters of awake wallets.
    pub(crate) filter_bytes: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            tail_bytes: 2 << 10,
            page_bytes: 16 << 10,
            inline_keys: 315,
            inline_spills: 32,
            keys_per_page: 1024,
            keys_per_value: 4700,
            fan_in: 8,
            keys_at_once: 1 << 16,
            pages_at_once: 32,
            snapshot_bytes: 40 << 10,
            part_bytes: 56 << 10,
            packed_bytes: 4 << 10,
            changes_at_once: 1 << 16,
            filter_bytes: 256 << 20,
        }
    }
}

/// No value may be larger.
pub(crate) const MAX_VALUE_BYTES: usize = 64 << 10;

/// The sled trees of the folded state, each with what its keys are.
pub(crate) struct Store {
    /// Wallet key: [`super::wallet_record`].
    pub(crate) wallets: sled::Tree,
    /// Fold, wallet, first entry: [`super::pages`].
    pub(crate) pages: sled::Tree,
    /// Fold, wallet, place: parts of a large snapshot.
    pub(crate) parts: sled::Tree,
    /// Wallet, first entry: [`super::directory`].
    pub(crate) directory: sled::Tree,
    /// Fold, wallet, page, part: [`crate::index::run`].
    pub(crate) index: sled::Tree,
    /// Fold, wallet, page: the filters of runs with several pages.
    pub(crate) filters: sled::Tree,
    /// Kind, identifier: a document.
    pub(crate) catalog: sled::Tree,
    /// The note's own key: [`super::notes`].
    pub(crate) notes: sled::Tree,
    /// Product, interval, instant: [`super::usage`].
    pub(crate) usage: sled::Tree,
    /// Project, first number: [`super::project events`].
    pub(crate) project_events: sled::Tree,
    /// One for each look-up, in the order of [`LookUp::ALL`].
    look_ups: [Box<dyn Set>; LookUp::ALL.len()],
    /// The last fold's number, and what folds replaced: [`super::retire`].
    pub(crate) folds: sled::Tree,
    pub(crate) tuning: Tuning,
    /// How many more writes succeed before one fails, for tests.
    #[cfg(test)]
    pub(crate) fuse: std::sync::Arc<std::sync::atomic::AtomicI64>,
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
            project_events: tree("notices")?,
            look_ups: [
                set::<40, 16>(db, LookUp::Placed, &tuning)?,
                set::<32, 16>(db, LookUp::Called, &tuning)?,
                set::<40, 16>(db, LookUp::Due, &tuning)?,
                set::<40, 16>(db, LookUp::Periods, &tuning)?,
                set::<32, 0>(db, LookUp::Buyers, &tuning)?,
                set::<16, 16>(db, LookUp::Codes, &tuning)?,
                set::<16, 16>(db, LookUp::Ids, &tuning)?,
            ],
            folds: tree("folds")?,
            tuning,
            #[cfg(test)]
            fuse: std::sync::Arc::new(i64::MAX.into()),
        })
    }

    /// The packed set that stores a look-up.
    pub(crate) fn look_up(&self, look_up: LookUp) -> &dyn Set {
        #[expect(clippy::indexing_slicing, reason = "there is one for each")]
        &*self.look_ups[look_up as usize]
    }

    /// Stores what changed in the look-ups.
    pub(crate) fn list(&self, changes: &mut AllChanges) -> Result<(), Error> {
        for (look_up, changes) in changes.take() {
            self.look_up(look_up).apply(self, &changes)?;
        }
        Ok(())
    }

    /// Writes a record, without a flush.
    pub(crate) fn put(
        &self,
        tree: &sled::Tree,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]> + Into<sled::IVec>,
    ) -> Result<(), Error> {
        self.burn()?;
        let length = value.as_ref().len();
        if length > MAX_VALUE_BYTES {
            let name = String::from_utf8_lossy(&tree.name()).into_owned();
            return Err(damaged(format!("a record of {name} has {length} bytes")));
        }
        tree.insert(key, value).map(drop).map_err(io)
    }

    /// Removes a record, if it is there.
    pub(crate) fn remove(&self, tree: &sled::Tree, key: impl AsRef<[u8]>) -> Result<(), Error> {
        self.burn()?;
        tree.remove(key).map(drop).map_err(io)
    }

    /// Removes every record whose key begins with `prefix`.
    pub(crate) fn remove_all(&self, tree: &sled::Tree, prefix: &[u8]) -> Result<(), Error> {
        for key in tree.scan_prefix(prefix).keys() {
            self.remove(tree, key.map_err(io)?)?;
        }
        Ok(())
    }

    #[cfg(not(test))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "tests inject failures here"
    )]
    const fn burn(&self) -> Result<(), Error> {
        Ok(())
    }

    #[cfg(test)]
    fn burn(&self) -> Result<(), Error> {
        match self.fuse.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) {
            ..=0 => Err(Error::Io("injected".into())),
            _ => Ok(()),
        }
    }
}

/// Opens the set of a look-up, which must be declared with these widths.
fn set<const K: usize, const V: usize>(
    db: &sled::Db,
    look_up: LookUp,
    tuning: &Tuning,
) -> Result<Box<dyn Set>, Error> {
    let declared = look_up.declared();
    if (declared.key, declared.value) != (K, V) {
        return Err(damaged(format!("{} has another width", declared.name)));
    }
    let tree = db.open_tree(declared.name).map_err(io)?;
    Ok(Box::new(Packed::<K, V>::new(tree, tuning.packed_bytes)))
}

pub(crate) fn io(error: sled::Error) -> Error {
    crate::database::failed("the folded state", &error)
}

pub(crate) const fn damaged(what: String) -> Error {
    Error::Damaged(what)
}
