//! What an append comes to, and why the store cannot be read or written.

use domain::wallet::Corrupt;

/// The place of an append in the log's one order: a later append has a larger ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticket(pub u64);

/// The result of an append that was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It and all before it survive a power cut.
    Durable,
    /// It may or may not survive: the log failed under it and takes nothing in any more, or takes too long to say.
    Unknown,
}

/// Why the log does not take an append in. Nothing of the append is or will be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AppendRefusal {
    /// Checkpoints are too far behind, or the disk has stalled; try again soon.
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
    /// What keeps the log does not answer; it is asked again and again.
    #[error("the log cannot be reached")]
    Unreachable,
    /// Another process leads now, for good.
    #[error("another process leads")]
    Fenced,
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
    /// The database that has the log does not answer; it may later.
    #[error("the database: {0}")]
    Unreachable(String),
    /// Another process leads the log now; says which. This one has to end.
    #[error("{0}")]
    Fenced(String),
    /// The data directory cannot be used as it is; says why and what to do.
    #[error("{0}")]
    Unusable(String),
}
