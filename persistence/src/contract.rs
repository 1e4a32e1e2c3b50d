//! What the rest of Scrip may rely on, whatever the log is made of. Nothing here assumes that the
//! log is local: an append may be durable, refused or of unknown outcome, and only that.

use std::sync::Arc;

use domain::{
    catalog::Document,
    history::Record,
    id::{CodeHash, OrderId, OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, Email},
    time::Timestamp,
    wallet::{Corrupt, Wallet},
};

use crate::codec::Append;

/// The place of an append in the journal's one order: a later append has a larger ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticket(pub u64);

/// What became of an append that was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It and all before it survive a power cut.
    Durable,
    /// The log failed under it: it may or may not survive. The journal takes nothing any more.
    Unknown,
}

/// Why an append was not taken in. Nothing of it is or will be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Folding is too far behind; try again soon.
    #[error("the log is too far ahead of the folded state")]
    Backlog,
    /// The disk is nearly full.
    #[error("the disk is nearly full")]
    DiskFull,
    /// The log failed before, for good.
    #[error("the log failed")]
    Poisoned,
    /// The journal was closed.
    #[error("the log is closed")]
    Closed,
}

/// Reading failed. A damaged store is never guessed around.
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

/// Called exactly once with the outcome of an append, outside all of the journal's locks, in the
/// order of the tickets.
pub type Done = Box<dyn FnOnce(Outcome) + Send>;

/// A wallet as it is stored.
pub struct Stored {
    /// The state after all of its logged events.
    pub wallet: Wallet,
    /// Records that its [`History`] does not have yet: events logged before a restart and not
    /// folded since. Oldest first, without gaps after [`History::folded`].
    pub tail: Vec<Record>,
    /// What was folded.
    pub history: Arc<dyn History>,
}

/// A place in a project's list of orders, or among those that are due. Places are in order of
/// `(at, order.serial)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderPlace {
    /// When the order was placed; among those that are due, when it expires.
    pub at: Timestamp,
    /// The order, and with it its wallet.
    pub order: OrderId,
}

impl OrderPlace {
    /// What the next page is asked for with.
    #[must_use]
    pub const fn place(&self) -> (Timestamp, OrderSerial) {
        (self.at, self.order.serial)
    }
}

/// A note as it is kept: its key and its body.
pub type KeptNote = (Box<[u8]>, Box<[u8]>);

/// A wallet's folded records. Cheap to ask for what is not there: every new idempotency key is.
/// It follows the folding: what it has only grows.
pub trait History: Send + Sync {
    /// The number of the last record that can be found here; 0 if none. A record with a larger
    /// number is the wallet's own to remember.
    fn folded(&self) -> u64;

    /// The record with this look-up hash for which `matches` holds, of several the one with the
    /// largest number. Two look-ups may share a hash: `matches` compares the key itself.
    fn find(&self, hash: u64, matches: &dyn Fn(&Record) -> bool) -> Result<Option<Record>, Error>;

    /// At most `limit` records with numbers below `seq`, the newest first. Fewer than `limit` (and
    /// at least one, if there is any) may be returned before the first record is reached.
    fn before(&self, seq: u64, limit: usize) -> Result<Vec<Record>, Error>;
}

/// The books. One order of appends; folded state behind it.
///
/// Contract, checked by one conformance suite against every implementation:
///
/// 1. [`Journal::append`] never waits for a disk. Tickets rise in the order of the calls; only an
///    append of no events shares the ticket before it.
/// 2. All events of one append survive together or not at all, and never without every append with
///    a smaller ticket.
/// 3. `done` hears [`Outcome::Durable`] only after the append survives a power cut. Then
///    [`Journal::durable`] is at least its ticket, already while `done` runs.
/// 4. After a failed write or sync nothing is taken in any more, every waiting `done` hears
///    [`Outcome::Unknown`], and no failed sync is ever tried again.
/// 5. Opening again gives every durable append, in order, exactly once; of the others a prefix.
/// 6. [`Journal::load`] and [`Journal::documents`] show every append up to [`Journal::folded`],
///    and after opening also all that was recovered. Whoever loads a wallet must know that all its
///    appends are folded (or were recovered): see [`Journal::settle`].
/// 7. The same holds for [`Journal::notes`], [`Journal::orders`], [`Journal::checkout`],
///    [`Journal::due`] and [`Journal::buyers`]. They may already show some of what is being folded.
///    What was appended since the start and is not folded yet is the caller's own to remember; and
///    how an order stands, only its wallet knows.
pub trait Journal: Send + Sync + 'static {
    /// Takes an append in. `done` may be `None` for events that nobody waits for. An append of no
    /// events writes nothing: it waits for all before it, and has the last one's ticket.
    fn append(&self, append: Append, done: Option<Done>) -> Result<Ticket, Refused>;

    /// Every append up to this ticket is durable.
    fn durable(&self) -> Ticket;

    /// Every append up to this ticket is folded into the state that [`Journal::load`] reads.
    fn folded(&self) -> Ticket;

    /// Why appends would be refused now, if they would.
    fn refusing(&self) -> Option<Refused>;

    /// Events taken in and not folded yet.
    fn backlog(&self) -> u64;

    /// Asks for a fold soon, without waiting.
    fn fold_soon(&self);

    /// Waits (blocking) until everything taken in so far is durable and folded.
    fn settle(&self) -> Result<(), Error>;

    /// The wallet stored under `key`.
    fn load(&self, key: &WalletKey) -> Result<Option<Stored>, Error>;

    /// The history of a wallet that was just created and has nothing stored.
    fn new_history(&self, key: &WalletKey) -> Arc<dyn History>;

    /// The wallet that a code opens, where the code is not the one it was created with.
    fn alias(&self, code: &CodeHash) -> Result<Option<WalletKey>, Error>;

    /// The whole catalog, each document in its latest form. For start-up.
    fn documents(&self) -> Result<Vec<Document>, Error>;

    /// Notes whose keys start like this, in order of their keys, each in its latest form. For
    /// start-up: all of them are read into memory.
    fn notes(&self, prefix: &[u8]) -> Result<Vec<KeptNote>, Error>;

    /// At most `limit` orders of a project, checkouts and renewals alike, the newest first: those
    /// strictly before a place, or the newest of all. Fewer than `limit`: there are no more. A page
    /// asked for with the last place of the page before it continues that one, however many orders
    /// were placed meanwhile.
    fn orders(
        &self,
        project: ProjectId,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, Error>;

    /// The order that a checkout session of the provider is for.
    fn checkout(&self, project: ProjectId, checkout: &CheckoutId)
    -> Result<Option<OrderId>, Error>;

    /// At most `limit` pending orders of a project that expire at `until` or earlier, the soonest
    /// first: those strictly after a place, or from the first. Fewer than `limit`: there are no
    /// more. Pending as of the folding: whoever acts on one asks its wallet first.
    fn due(
        &self,
        project: ProjectId,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, Error>;

    /// At most `limit` wallets of a project with an order that was paid under this address, by
    /// key. Capitals do not count. Found by a hash of the address: whoever tells something to its
    /// owner compares it with the wallet's own.
    fn buyers(
        &self,
        project: ProjectId,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<WalletKey>, Error>;

    /// Takes nothing more in, makes what was taken in durable, and lets go of the disk (blocking).
    fn close(&self) -> Result<(), Error>;
}
