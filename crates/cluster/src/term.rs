//! Who leads a log that several processes may write, as one of them knows it. Every connection to such a log begins with
//! a *term start*: a frame behind all that was read. It takes over from another process, goes on after a lost connection,
//! and resolves what became of groups whose answers were lost, all in the same way: once the term start is durable, what is
//! before it does not change any more, and nothing that was sent earlier can follow it.
//!
//! Nothing here reads or writes: the owner of the connection asks [`Term::judge`] what to do.

use domain::Timestamp;
use persistence::{
    Append, Error, Heartbeat, LogEvent, Resignation, TermStart,
    frames::{FramePosition, Group, LeadershipItem, StoredFrame, follows, parse_leadership},
};

/// One run of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    /// Its data directory.
    pub node: u128,
    /// Drawn for this run.
    pub incarnation: u128,
    /// Where it is reached by others.
    pub address: Box<str>,
}

/// What is to be done with what a new connection read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Start this group, which is a term start. If it becomes durable, call [`Term::opened`]; after any other
    /// answer, connect and judge again.
    Open(Group),
    /// Another was faster: watch on. This process has never led.
    Beaten,
    /// Another leads. This process may have led, and must end: nothing that it still holds will ever be written by it.
    Fenced,
}

/// See the module.
#[derive(Debug)]
pub struct Term {
    claimant: Claimant,
    /// Openings that were made.
    attempts: u64,
    /// The last place that is known: of a frame of its own that was acknowledged, else of the head that it opens behind.
    known: FramePosition,
    /// Whether a term start of its own was acknowledged.
    has_led: bool,
    /// What the last term start found behind the last place that was known, and the term start itself.
    found: Vec<FramePosition>,
}

impl Term {
    /// A process that has not opened yet.
    pub const fn new(claimant: Claimant) -> Self {
        Self {
            claimant,
            attempts: 0,
            known: FramePosition {
                lsn: 0,
                hash: [0; 32],
            },
            has_led: false,
            found: Vec::new(),
        }
    }

    /// It is to open right behind this head, which [`crate::watch::Watch`] allows.
    pub const fn behind(&mut self, head: FramePosition) {
        self.known = head;
    }

    /// The place from which on frames have to be read for [`Term::judge`].
    pub const fn known(&self) -> FramePosition {
        self.known
    }

    /// A group of its own up to this place is durable.
    pub const fn acknowledged(&mut self, last: FramePosition) {
        self.known = last;
    }

    /// Judges what a new connection read: all frames from [`Term::known`] on, in order.
    /// # Errors
    /// [`Error::Damaged`] when the log has lost a frame that it acknowledged to this process, or its frames are no chain.
    pub fn judge(&mut self, kept: &[StoredFrame], at: Timestamp) -> Result<Verdict, Error> {
        let behind = match kept.split_first() {
            Some((known, behind)) if known.place == self.known => behind,
            // It was seen, and not yet safe: the log may lose it until something behind it was acknowledged.
            _ if !self.has_led => return Ok(Verdict::Beaten),
            _ => {
                return Err(Error::Damaged(format!(
                    "the log has lost frame {}, which it had acknowledged",
                    self.known.lsn
                )));
            }
        };
        let mut found = Vec::with_capacity(behind.len() + 1);
        let (mut before, mut is_own) = (self.known, self.has_led);
        for kept in behind {
            follows(kept, before)?;
            if let Some(incarnation) = opened_by(&kept.bytes)? {
                if incarnation != self.claimant.incarnation {
                    return Ok(match is_own {
                        true => Verdict::Fenced,
                        false => Verdict::Beaten,
                    });
                }
                is_own = true;
            }
            // A frame of the one who was thought to lead no more.
            if !is_own {
                return Ok(Verdict::Beaten);
            }
            before = kept.place;
            found.push(before);
        }
        let group = self.start(before, at)?;
        found.push(group.last());
        self.found = found;
        Ok(Verdict::Open(group))
    }

    /// The term start that was judged last is durable: this process leads. Returns the places behind the last one that was
    /// known: they are of frames of its own, durable, and all that it will ever have there. The last is the term start's.
    pub fn opened(&mut self) -> Vec<FramePosition> {
        let found = std::mem::take(&mut self.found);
        self.has_led = true;
        self.known = found.last().copied().unwrap_or(self.known);
        found
    }

    /// The process that opens, and where it is reached.
    pub const fn claimant(&self) -> &Claimant {
        &self.claimant
    }

    /// A group that says that this process still leads.
    /// # Errors
    /// It cannot be encoded.
    pub fn heartbeat(behind: FramePosition, at: Timestamp) -> Result<Group, Error> {
        group(LeadershipItem::Heartbeat(Heartbeat { at }), behind)
    }

    /// A group that says that this process leads no more. With `takes` no other process may lead the log again.
    /// # Errors
    /// It cannot be encoded.
    pub fn resignation(
        &self,
        behind: FramePosition,
        takes: bool,
        at: Timestamp,
    ) -> Result<Group, Error> {
        let taken_by = takes.then_some(self.claimant.node);
        let end = LeadershipItem::Resignation(Resignation { taken_by, at });
        group(end, behind)
    }

    fn start(&mut self, behind: FramePosition, at: Timestamp) -> Result<Group, Error> {
        self.attempts += 1;
        let start = LeadershipItem::TermStart(TermStart {
            node: self.claimant.node,
            incarnation: self.claimant.incarnation,
            attempt: self.attempts,
            address: self.claimant.address.clone(),
            at,
        });
        group(start, behind)
    }
}

fn group(item: LeadershipItem, behind: FramePosition) -> Result<Group, Error> {
    Group::single(&Append::one(&LogEvent::Leadership(item))?, behind)
}

/// The incarnation whose term start a frame is, if it is one.
fn opened_by(bytes: &[u8]) -> Result<Option<u128>, Error> {
    Ok(match parse_leadership(bytes)? {
        Some(LeadershipItem::TermStart(start)) => Some(start.incarnation),
        _ => None,
    })
}
