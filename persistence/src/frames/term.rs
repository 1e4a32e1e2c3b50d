//! Who leads a log that several processes may write, as one of them knows it. Every connection to such a log begins with
//! an *opening*: a frame behind all that was read. It takes over from another process, goes on after a lost connection,
//! and settles what became of groups whose answers were lost, all in the same way: once the opening is durable, what lies
//! before it does not change any more, and nothing that was sent earlier can follow it.
//!
//! Nothing here reads or writes: whoever has the connection asks [`Term::judge`] what to do.

use std::sync::Arc;

use domain::Timestamp;

use super::{FramePosition, Group, frame};
use crate::{
    error::Error,
    format::{
        append::{Append, LogEvent},
        codec::decode_value,
        item::{self, Item},
        leadership::{Beat, Closing, Opening, Split},
    },
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

/// A frame as a log that is shared keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFrame {
    /// Its number, and the hash that was written with it.
    pub place: FramePosition,
    /// The frame itself.
    pub bytes: Arc<[u8]>,
}

/// What is to be done with what a new connection read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Start this group, which is an opening. If it becomes durable, call [`Term::opened`]; whatever else is heard of
    /// it, connect and judge again.
    Open(Group),
    /// Another was faster: watch on. This process has never led.
    Beaten,
    /// Another leads. This process may have led, and must end: nothing that it still holds will ever be written by it.
    Deposed,
}

/// See the module.
#[derive(Debug)]
pub struct Term {
    claimant: Claimant,
    /// Openings that were made.
    attempts: u64,
    /// The last place that is known: of a frame of its own that was acknowledged, else of the head that it opens behind.
    known: FramePosition,
    /// Whether an opening of its own was acknowledged.
    has_led: bool,
    /// What the last opening found behind the last place that was known, and the opening itself.
    found: Vec<FramePosition>,
}

impl Term {
    /// A process that has not opened yet.
    #[must_use]
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

    /// It is to open right behind this head, which [`super::lease::Watch`] allows.
    pub const fn behind(&mut self, head: FramePosition) {
        self.known = head;
    }

    /// The place from which on frames have to be read for [`Term::judge`].
    #[must_use]
    pub const fn known(&self) -> FramePosition {
        self.known
    }

    /// A group of its own up to this place is durable.
    pub const fn acknowledged(&mut self, last: FramePosition) {
        self.known = last;
    }

    /// Judges what a new connection read: all frames from [`Term::known`] on, in order.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] when the log has lost a frame that it acknowledged to this process, or its frames are no chain.
    pub fn judge(&mut self, kept: &[KeptFrame], at: Timestamp) -> Result<Verdict, Error> {
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
        let mut found = Vec::with_capacity(behind.len().saturating_add(1));
        let (mut before, mut is_own) = (self.known, self.has_led);
        for kept in behind {
            follows(kept, before)?;
            if let Some(incarnation) = opened_by(&kept.bytes)? {
                if incarnation != self.claimant.incarnation {
                    return Ok(match is_own {
                        true => Verdict::Deposed,
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
        let group = self.opening(before, at)?;
        found.push(group.last());
        self.found = found;
        Ok(Verdict::Open(group))
    }

    /// The opening that was judged last is durable: this process leads. Returns the places behind the last one that was
    /// known: they are of frames of its own, durable, and all that it will ever have there. The last is the opening's.
    pub fn opened(&mut self) -> Vec<FramePosition> {
        let found = std::mem::take(&mut self.found);
        self.has_led = true;
        self.known = found.last().copied().unwrap_or(self.known);
        found
    }

    /// The process that opens, and where it is reached.
    #[must_use]
    pub const fn claimant(&self) -> &Claimant {
        &self.claimant
    }

    /// A group that says that whoever opened still leads.
    ///
    /// # Errors
    ///
    /// It cannot be encoded.
    pub fn beat(behind: FramePosition, at: Timestamp) -> Result<Group, Error> {
        Group::single(&Append::one(&LogEvent::Beat(Beat { at }))?, behind)
    }

    /// A group that says that this process leads no more; where it `takes` the log, nobody ever will.
    ///
    /// # Errors
    ///
    /// It cannot be encoded.
    pub fn closing(
        &self,
        behind: FramePosition,
        takes: bool,
        at: Timestamp,
    ) -> Result<Group, Error> {
        let taken_by = takes.then_some(self.claimant.node);
        let closing = LogEvent::Closing(Closing { taken_by, at });
        Group::single(&Append::one(&closing)?, behind)
    }

    fn opening(&mut self, behind: FramePosition, at: Timestamp) -> Result<Group, Error> {
        self.attempts = self.attempts.saturating_add(1);
        let opening = LogEvent::Opening(Opening {
            node: self.claimant.node,
            incarnation: self.claimant.incarnation,
            attempt: self.attempts,
            address: self.claimant.address.clone(),
            at,
        });
        Group::single(&Append::one(&opening)?, behind)
    }
}

/// Verifies that a frame is sound, is the one that its place names, and follows another.
pub(crate) fn follows(kept: &KeptFrame, before: FramePosition) -> Result<(), Error> {
    let read = frame::decode(&kept.bytes)?;
    let place = FramePosition {
        lsn: before.lsn.saturating_add(1),
        hash: frame::hash(&kept.bytes),
    };
    match kept.place == place && read.lsn == place.lsn && read.before == before.hash {
        true => Ok(()),
        false => Err(Error::Damaged(format!(
            "the log at frame {}: it does not follow the frame before it",
            place.lsn
        ))),
    }
}

/// The incarnation whose opening a frame is, if it is one.
fn opened_by(bytes: &[u8]) -> Result<Option<u128>, Error> {
    Ok(match said(bytes)? {
        Some(LeadershipItem::Opened(opening)) => Some(opening.incarnation),
        _ => None,
    })
}

/// What a frame says of who leads, or of where the log divides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LeadershipItem {
    Opened(Opening),
    Beat(Beat),
    Closed(Closing),
    Split(Split),
}

impl LeadershipItem {
    /// When it was said, by the clock of who said it.
    pub(crate) const fn at(&self) -> Timestamp {
        match self {
            Self::Opened(opening) => opening.at,
            Self::Beat(beat) => beat.at,
            Self::Closed(closing) => closing.at,
            Self::Split(split) => split.at,
        }
    }
}

/// What a sound frame says of who leads or where the log divides, if it does: the last of it.
pub(crate) fn said(bytes: &[u8]) -> Result<Option<LeadershipItem>, Error> {
    let mut last = None;
    each_said(bytes, |said| last = Some(said))?;
    Ok(last)
}

/// Whether a sound frame is one from which another cell's log goes on.
pub(crate) fn splits_off(bytes: &[u8], cell: i16) -> Result<bool, Error> {
    let mut splits = false;
    let is_to = |said| matches!(said, LeadershipItem::Split(split) if split.to == cell);
    each_said(bytes, |said| splits |= is_to(said))?;
    Ok(splits)
}

/// Such an item is the first of its append. A frame has several appends, so that it may divide more than once.
fn each_said(bytes: &[u8], mut each: impl FnMut(LeadershipItem)) -> Result<(), Error> {
    frame::decode_checked(bytes)?.each_append(|append, _| {
        match item::split(append)?.0 {
            Item::Opening(opening) => each(LeadershipItem::Opened(decode_value(opening)?)),
            Item::Beat(beat) => each(LeadershipItem::Beat(decode_value(beat)?)),
            Item::Closing(closing) => each(LeadershipItem::Closed(decode_value(closing)?)),
            Item::Split(split) => each(LeadershipItem::Split(decode_value(split)?)),
            _ => {}
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::append::Note;

    const AT: Timestamp = Timestamp(7);

    fn note(text: &str) -> LogEvent {
        LogEvent::Note(Note {
            key: text.as_bytes().into(),
            body: Some(text.as_bytes().into()),
        })
    }

    fn append(events: &[LogEvent]) -> Append {
        let mut append = Append::default();
        for event in events {
            append.push(event).unwrap();
        }
        append
    }

    fn split(to: i16) -> LogEvent {
        LogEvent::Split(Split { to, at: AT })
    }

    #[test]
    fn a_frame_that_divides_the_log_says_so_and_counts_what_is_beside_it() {
        let appends = [
            append(&[note("before")]),
            append(&[split(3), note("goes"), note("too")]),
            append(&[split(-5), note("elsewhere")]),
            append(&[note("after")]),
        ];
        let mut queued = Vec::new();
        for append in &appends {
            frame::push(&mut queued, append);
        }
        let group = Group::of(&queued, FramePosition::default(), &mut Vec::new()).unwrap();
        let [made] = group.frames.as_slice() else {
            panic!("{group:?}");
        };
        assert_eq!((made.appends, made.events), (4, 5));
        assert_eq!(frame::decode(&made.bytes).unwrap().count().unwrap(), 5);
        let all = [3, -5, 4].map(|cell| splits_off(&made.bytes, cell).unwrap());
        assert_eq!(all, [true, true, false]);
        let last = LeadershipItem::Split(Split { to: -5, at: AT });
        assert_eq!(said(&made.bytes).unwrap(), Some(last));
        let beat = Term::beat(FramePosition::default(), AT).unwrap();
        assert!(!splits_off(&beat.frames[0].bytes, 3).unwrap());
    }

    #[test]
    fn a_split_behind_another_item_is_refused_since_nobody_would_see_it() {
        let mut late = append(&[note("first")]);
        assert!(late.push(&split(1)).is_err());
        assert_eq!(late.bytes(), append(&[note("first")]).bytes());
        assert_eq!(append(&[split(1)]).events(), 0);
    }
}
