//! The books, as the rest of Scrip sees them.

use std::sync::{Arc, Weak};

use domain::{
    Timestamp,
    catalog::Document,
    history::Record,
    id::{ProductId, ProjectId, WalletKey},
    project_event::ProjectEvent,
    wallet::Wallet,
};

use super::{
    backup::{BackUp, BackupSummary, OnProgress},
    event_number::{EventNumber, OnEvents},
};
use crate::{
    error::{Error, Ticket},
    lookups::{EntryBatch, LookUp, LookUpRange, Value},
    usage::{Interval, Usage},
};

/// A wallet as it is stored.
pub struct LoadedWallet {
    /// The state after all of its logged events.
    pub wallet: Wallet,
    /// The wallet's applied records.
    pub history: Arc<dyn History>,
}

/// A stored note: its key and its body.
pub type StoredNote = (Box<[u8]>, Box<[u8]>);

/// A wallet's applied records. Looking for an absent key is cheap, because every new idempotency key
/// is one. It follows the checkpoints: its records only grow.
pub trait History: Send + Sync {
    /// The wallet's version up to which its records can be found here; 0 if none. A later record is
    /// the wallet's own to remember.
    fn applied(&self) -> u64;

    /// The newest record with this look-up hash for which `matches` holds. Two look-ups may share a
    /// hash: `matches` compares the key itself.
    fn find(&self, hash: u64, matches: &dyn Fn(&Record) -> bool) -> Result<Option<Record>, Error>;

    /// At most `limit` records with numbers below `seq`, the newest first. Fewer than `limit` (and
    /// at least one, if there is any) may be returned before the first record is reached.
    fn before(&self, seq: u64, limit: usize) -> Result<Vec<Record>, Error>;
}

/// The wallets in memory, as far as the books ask: a checkpoint takes their snapshots from them, so that it
/// need not replay what they have applied already.
pub trait Awake: Send + Sync {
    /// Calls `look` with a wallet that is awake, between two of its turns, and the ticket of its last append: its
    /// state is that after all its events up to that ticket. May do nothing.
    fn show(&self, key: &WalletKey, look: &mut dyn FnMut(&Wallet, Ticket));
}

/// The books.
///
/// Contract, checked by one conformance suite against every implementation:
///
/// 1. [`Books::load`], [`Books::documents`] and [`Books::notes`] show every append up to
///    [`Books::applied`], and after opening all that was recovered. A caller that loads a wallet makes
///    sure that all its appends are applied: see [`Books::flush`].
/// 2. Look-ups ([`Books::range`], [`Books::find`]) show every append that was taken in, also before it is durable: only
///    the wallet knows the present state, and whether it may be shown. Lists of wallets show what is applied.
/// 3. [`Books::project_events`] shows durable project events only, in the order of the log, and at least those of the
///    last thirty days. Their numbers rise with the log: a reader that continues after the last number
///    it was shown misses none.
pub trait Books: Send + Sync + 'static {
    /// Every append up to this ticket is applied.
    fn applied(&self) -> Ticket;

    /// Asks for a checkpoint soon, without waiting.
    fn checkpoint_soon(&self);

    /// Waits (blocking) until everything taken in so far is durable and applied.
    fn flush(&self) -> Result<(), Error>;

    /// Lets checkpoints take snapshots from these wallets in memory, for as long as they exist.
    fn follow(&self, awake: Weak<dyn Awake>);

    /// The wallet stored under `key`.
    fn load(&self, key: &WalletKey) -> Result<Option<LoadedWallet>, Error>;

    /// At most `limit` wallets after `after`, in the order of their keys, each as of its last checkpoint: a scan by several
    /// calls is not of one moment. Fewer than `limit`: there are no more.
    fn wallets_after(&self, after: Option<&WalletKey>, limit: usize) -> Result<Vec<Wallet>, Error>;

    /// The history of a wallet that was just created and has nothing stored.
    fn new_history(&self, key: &WalletKey) -> Arc<dyn History>;

    /// The whole catalog, each document in its latest form. For start-up.
    fn documents(&self) -> Result<Vec<Document>, Error>;

    /// Notes whose keys begin with `prefix`, in order of their keys, each in its latest form. For
    /// start-up: all of them are read into memory.
    fn notes(&self, prefix: &[u8]) -> Result<Vec<StoredNote>, Error>;

    /// At most `limit` entries of a look-up, in the range's order.
    fn range(
        &self,
        look_up: LookUp,
        range: &LookUpRange,
        limit: usize,
    ) -> Result<EntryBatch, Error>;

    /// What was granted, used and sold of a product, and by how many wallets, by intervals of the UTC calendar, oldest
    /// first: those that begin at or after the first instant and before the second. Intervals without usage are left
    /// out. Shows every append up to [`Books::applied`]; of sales, every append that was taken in, as look-ups do.
    fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<(Timestamp, Usage)>, Error>;

    /// Intervals of a product's usage that begin after this are all kept, older ones may not be; `None`: all are. Asked
    /// after [`Books::usage`], it tells whether that was complete.
    fn usage_kept_after(
        &self,
        product: ProductId,
        interval: Interval,
    ) -> Result<Option<Timestamp>, Error>;

    /// At most `limit` project events of a project after this number, oldest first.
    fn project_events(
        &self,
        project: ProjectId,
        after: EventNumber,
        limit: usize,
    ) -> Result<Vec<(EventNumber, ProjectEvent)>, Error>;

    /// A number below that of every project event that becomes durable from now on.
    fn last_project_event(&self) -> EventNumber;

    /// Registers a callback for when project events become durable.
    fn on_project_events(&self, listener: OnEvents);

    /// Writes a backup of all that is durable by now to a directory, complete or not at all; chunks that an earlier
    /// backup wrote there are reused. Nothing else waits for it.
    /// # Errors
    /// These books are not kept on a disk, `what` cannot be written as asked, or `on_progress` ended it.
    fn back_up(&self, what: &BackUp, on_progress: OnProgress<'_>) -> Result<BackupSummary, Error> {
        let _ = (what, on_progress);
        Err(Error::Unusable("these books are not on a disk".into()))
    }

    /// Bytes of applied frames that are kept only for a backup that is being made.
    fn kept_for_backup(&self) -> u64 {
        0
    }

    /// The value that a look-up has under a key.
    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, Error>;
}
