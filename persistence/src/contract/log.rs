//! The log, as the rest of Scrip sees it.

use super::latency::Commits;
use crate::{
    error::{AppendRefusal, Error, Outcome, Ticket},
    format::append::Append,
};

/// Called exactly once with the outcome of an append, outside all of the log's locks, in the order of the tickets.
pub type OnOutcome = Box<dyn FnOnce(Outcome) + Send>;

/// How much was taken in and is not applied yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Number of events.
    pub events: u64,
    /// Encoded bytes of these events.
    pub bytes: u64,
}

impl Backlog {
    /// Whether its events or its bytes reach `enough`.
    pub(crate) const fn reaches(self, enough: Self) -> bool {
        self.events >= enough.events || self.bytes >= enough.bytes
    }

    /// Five eighths of it, where the log begins to wait for checkpoints.
    pub(crate) const fn most(self) -> Self {
        Self {
            events: (self.events / 8).saturating_mul(5),
            bytes: (self.bytes / 8).saturating_mul(5),
        }
    }
}

/// The log: one order of appends.
///
/// Contract, checked by one conformance suite against every implementation:
///
/// 1. [`Log::append`] never waits for a disk. Tickets rise in the order of the calls; only an append
///    of no events shares the ticket before it.
/// 2. All events of one append survive together or not at all, and never without every append with a smaller ticket.
/// 3. `done` is called with [`Outcome::Durable`] only after the append survives a power cut. Then
///    [`Log::durable`] is at least its ticket, already while `done` runs.
/// 4. After a *failed* write or sync nothing is taken in any more, every waiting `done` is called with
///    [`Outcome::Unknown`], and no failed sync is ever tried again. A log that can ask what became of a write whose
///    answer was lost asks, and goes on; until then it refuses. A caller that waits for too long gets
///    [`Outcome::Unknown`], too.
/// 5. Opening again gives every durable append, in order, exactly once; of the others a prefix.
/// 6. Whether there is room is asked before anything is changed, with [`Log::refusing`]: an append that follows is
///    refused only where the log has failed or was closed, so that no wallet in memory gets ahead of a log that has no
///    room. The room that is left then is enough for one append of each thread.
/// 7. Of all that ever open a log for writing one *leads*, the last whose term start is durable: after it no
///    other's append becomes durable without a term start of its own. A reader asks [`Log::can_serve_reads`] after it has
///    read memory. Otherwise it sends an append without events, which only a log that still leads answers with
///    [`Outcome::Durable`].
pub trait Log: Send + Sync + 'static {
    /// Takes an append in. `done` may be `None` for events that nobody waits for. An append of no
    /// events writes nothing: it waits for all before it, and has the last one's ticket.
    fn append(&self, append: Append, done: Option<OnOutcome>) -> Result<Ticket, AppendRefusal>;

    /// Every append up to this ticket is durable.
    fn durable(&self) -> Ticket;

    /// Every append up to this ticket is durable, and none of another process was reported as durable: what was
    /// read from memory before this was asked may be revealed.
    fn can_serve_reads(&self, ticket: Ticket) -> bool {
        self.durable() >= ticket
    }

    /// Whether this process leads, as far as it knows: what reaches others is done by one that does.
    fn leads(&self) -> bool {
        true
    }

    /// Why nothing should be appended now, if so.
    fn refusing(&self) -> Option<AppendRefusal>;

    /// How much was taken in and is not applied yet.
    fn backlog(&self) -> Backlog;

    /// How long group commits take; empty where no disk is waited for.
    fn commits(&self) -> Commits {
        Commits::default()
    }

    /// Refuses further appends, makes those taken in durable, and releases the disk (blocking).
    fn close(&self) -> Result<(), Error>;
}
