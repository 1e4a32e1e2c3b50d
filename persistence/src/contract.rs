//! What the rest of Scrip may rely on, whatever the log and the books are made of. Nothing here assumes
//! that the log is local: an append may be durable, refused or of unknown outcome, and only that.
//!
//! The **log** is one order of appends. The **books** are state folded from it: wallets with their
//! histories, the catalog, notes, look-ups.

use std::sync::{Arc, Weak};

use domain::{
    Timestamp,
    catalog::Document,
    history::Record,
    id::{ProductId, ProjectId, WalletKey},
    project_event::ProjectEvent,
    wallet::{Corrupt, Wallet},
};

use crate::{
    backup::{BackUp, BackupSummary, OnProgress},
    latency::Commits,
    log_event::Append,
    lookups::{Key, LookUp, LookUpRange, Value},
    project_events::{EventNumber, OnEvents},
    usage::{Interval, Usage},
};

/// The place of an append in the log's one order: a later append has a larger ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticket(pub u64);

/// The result of an append that was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It and all before it survive a power cut.
    Durable,
    /// The log failed under it: it may or may not survive. The log takes nothing in any more.
    Unknown,
}

/// Why the log does not take an append in. Nothing of the append is or will be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AppendRefusal {
    /// Folding is too far behind, or the disk has stalled; try again soon.
    #[error("the log is too far ahead of the books")]
    Backlog,
    /// The disk is nearly full.
    #[error("the disk is nearly full")]
    DiskFull,
    /// The log failed before, for good.
    #[error("the log failed")]
    Poisoned,
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
}

/// Why the store cannot be read or written. Damage is reported, never guessed around.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The operating system or sled refused.
    #[error("the store failed: {0}")]
    Io(String),
    /// What was read is not what was written; says where.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// Events do not fit the state they are applied to.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// The data directory cannot be used as it is; says why and what to do.
    #[error("{0}")]
    Unusable(String),
}

/// Called exactly once with the outcome of an append, outside all of the log's locks, in the order of
/// the tickets.
pub type OnOutcome = Box<dyn FnOnce(Outcome) + Send>;

/// How much was taken in and is not folded yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Number of events.
    pub events: u64,
    /// Encoded bytes of these events.
    pub bytes: u64,
}

/// The log: one order of appends.
///
/// Contract, checked by one conformance suite against every implementation:
///
/// 1. [`Log::append`] never waits for a disk. Tickets rise in the order of the calls; only an append
///    of no events shares the ticket before it.
/// 2. All events of one append survive together or not at all, and never without every append with a
///    smaller ticket.
/// 3. `done` hears [`Outcome::Durable`] only after the append survives a power cut. Then
///    [`Log::durable`] is at least its ticket, already while `done` runs.
/// 4. After a failed write or sync nothing is taken in any more, every waiting `done` hears
///    [`Outcome::Unknown`], and no failed sync is ever tried again.
/// 5. Opening again gives every durable append, in order, exactly once; of the others a prefix.
/// 6. Whether there is room is asked before anything is changed, with [`Log::refusing`]: an append
///    that follows is refused only where the log has failed or was closed, so that no wallet in memory
///    gets ahead of a log that has no room. The room that is left then is enough for one append of
///    each thread.
pub trait Log: Send + Sync + 'static {
    /// Takes an append in. `done` may be `None` for events that nobody waits for. An append of no
    /// events writes nothing: it waits for all before it, and has the last one's ticket.
    fn append(&self, append: Append, done: Option<OnOutcome>) -> Result<Ticket, AppendRefusal>;

    /// Every append up to this ticket is durable.
    fn durable(&self) -> Ticket;

    /// Why nothing should be appended now, if so.
    fn refusing(&self) -> Option<AppendRefusal>;

    /// How much was taken in and is not folded yet.
    fn backlog(&self) -> Backlog;

    /// How long group commits take; empty where no disk is waited for.
    fn commits(&self) -> Commits {
        Commits::default()
    }

    /// Refuses further appends, makes those taken in durable, and releases the disk (blocking).
    fn close(&self) -> Result<(), Error>;
}

/// A wallet as it is stored.
pub struct LoadedWallet {
    /// The state after all of its logged events.
    pub wallet: Wallet,
    /// The wallet's folded records.
    pub history: Arc<dyn History>,
}

/// A stored note: its key and its body.
pub type StoredNote = (Box<[u8]>, Box<[u8]>);

/// A wallet's folded records. Looking for an absent key is cheap, because every new idempotency key
/// is one. It follows the folding: its records only grow.
pub trait History: Send + Sync {
    /// The wallet's version up to which its records can be found here; 0 if none. A later record is
    /// the wallet's own to remember.
    fn folded(&self) -> u64;

    /// The newest record with this look-up hash for which `matches` holds. Two look-ups may share a
    /// hash: `matches` compares the key itself.
    fn find(&self, hash: u64, matches: &dyn Fn(&Record) -> bool) -> Result<Option<Record>, Error>;

    /// At most `limit` records with numbers below `seq`, the newest first. Fewer than `limit` (and
    /// at least one, if there is any) may be returned before the first record is reached.
    fn before(&self, seq: u64, limit: usize) -> Result<Vec<Record>, Error>;
}

/// The wallets in memory, as far as the books ask: a fold takes their snapshots from them, so that it
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
///    [`Books::folded`], and after opening all that was recovered. A caller that loads a wallet makes
///    sure that all its appends are folded: see [`Books::settle`].
/// 2. Look-ups ([`Books::stretch`], [`Books::find`]) show every append that was taken in, also before
///    it is durable: only the wallet knows the present state, and whether it may be shown.
/// 3. [`Books::project events`] shows durable project events only, in the order of the log, and at least those of the
///    last thirty days. Their numbers rise with the log: a reader that continues after the last number
///    it was shown misses none.
pub trait Books: Send + Sync + 'static {
    /// Every append up to this ticket is folded.
    fn folded(&self) -> Ticket;

    /// Asks for a fold soon, without waiting.
    fn fold_soon(&self);

    /// Waits (blocking) until everything taken in so far is durable and folded.
    fn settle(&self) -> Result<(), Error>;

    /// Lets folds take snapshots from these wallets in memory, for as long as they exist.
    fn follow(&self, awake: Weak<dyn Awake>);

    /// The wallet stored under `key`.
    fn load(&self, key: &WalletKey) -> Result<Option<LoadedWallet>, Error>;

    /// The history of a wallet that was just created and has nothing stored.
    fn new_history(&self, key: &WalletKey) -> Arc<dyn History>;

    /// The whole catalog, each document in its latest form. For start-up.
    fn documents(&self) -> Result<Vec<Document>, Error>;

    /// Notes whose keys begin with `prefix`, in order of their keys, each in its latest form. For
    /// start-up: all of them are read into memory.
    fn notes(&self, prefix: &[u8]) -> Result<Vec<StoredNote>, Error>;

    /// At most `limit` entries of a look-up, in the stretch's order.
    fn stretch(
        &self,
        look_up: LookUp,
        stretch: &LookUpRange,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, Error>;

    /// What was granted, used and sold of a product, and by how many wallets, by intervals of the UTC calendar,
    /// oldest first: those that begin at or after the first instant and before the second. Intervals without usage
    /// are left out. Shows every append up to [`Books::folded`].
    fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<(Timestamp, Usage)>, Error>;

    /// At most `limit` project events of a project after this number, oldest first.
    fn project_events(
        &self,
        project: ProjectId,
        after: EventNumber,
        limit: usize,
    ) -> Result<Vec<(EventNumber, ProjectEvent)>, Error>;

    /// A number below that of every project event that becomes durable from now on.
    fn last_notice(&self) -> EventNumber;

    /// Registers a callback for when project events become durable.
    fn on_notices(&self, told: OnEvents);

    /// Writes a backup of all that is durable by now to a directory, whole or not at all; chunks that an earlier
    /// backup wrote there are reused. Nothing else waits for it.
    ///
    /// # Errors
    ///
    /// These books are not kept on a disk, `what` cannot be written as asked, or `told` ended it.
    fn back_up(&self, what: &BackUp, told: OnProgress<'_>) -> Result<BackupSummary, Error> {
        let _ = (what, told);
        Err(Error::Unusable("these books are not on a disk".into()))
    }

    /// Bytes of folded frames that are kept only for a backup that is being made.
    fn kept_for_backup(&self) -> u64 {
        0
    }

    /// The value that a look-up has under a key.
    fn find(&self, look_up: LookUp, key: &[u8]) -> Result<Option<Value>, Error>;
}

/// The log and the books of one data directory.
#[derive(Clone)]
pub struct Store {
    /// The log that every change goes through.
    pub log: Arc<dyn Log>,
    /// The state that is folded from the log.
    pub books: Arc<dyn Books>,
}

impl Store {
    /// A store whose log and books are one object.
    pub fn of<T: Log + Books>(both: Arc<T>) -> Self {
        Self {
            log: Arc::clone(&both) as Arc<dyn Log>,
            books: both,
        }
    }
}
