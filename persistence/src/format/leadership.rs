//! What a log says of who leads it, in frames of their own, and of where it divides. Nothing is applied from these items.

use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// From here on its process leads: all that it acknowledges is behind this, and no other process's frame is before
/// another term start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermStart {
    /// The data directory of the process.
    pub node: u128,
    /// Drawn for one run of the process.
    pub incarnation: u128,
    /// How many term starts of this run came before: no two are the same bytes in the same place.
    pub attempt: u64,
    /// Where the process is reached by others.
    pub address: Box<str>,
    /// When it was made, by the clock of the process.
    pub at: Timestamp,
}

/// The leader still leads. It is found in its place only if no other process's term has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// When it was made, by the clock of the process.
    pub at: Timestamp,
}

/// The leader leads no more, and answers nothing from here on: any process may start a term at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resignation {
    /// The data directory in which the log goes on by itself: no term may start behind this.
    pub taken_by: Option<u128>,
    /// When it was made, by the clock of the process.
    pub at: Timestamp,
}

/// The log divides: all of it up to the frame that this is in is the beginning of another cell's, too, which goes on by
/// itself from there. The first item of its append; the events behind it say what goes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// The number of the other cell.
    pub to: i16,
    /// When it was made, by the clock of the process.
    pub at: Timestamp,
}

/// What a frame says of who leads, or of where the log divides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the items say what they are")]
pub enum LeadershipItem {
    TermStart(TermStart),
    Heartbeat(Heartbeat),
    Resignation(Resignation),
    Split(Split),
}

impl LeadershipItem {
    /// When it was written, by the clock of who wrote it.
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::TermStart(start) => start.at,
            Self::Heartbeat(heartbeat) => heartbeat.at,
            Self::Resignation(resignation) => resignation.at,
            Self::Split(split) => split.at,
        }
    }
}
