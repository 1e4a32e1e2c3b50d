//! What a log says of who leads it, in frames of their own, and of where it divides. Nothing is folded from these items.

use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// From here on its process leads: whatever it acknowledges lies behind it, and nobody else's frame does before
/// another opening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermStart {
    /// The data directory of the process.
    pub node: u128,
    /// Drawn for one run of the process.
    pub incarnation: u128,
    /// How many openings of this run came before: no two are the same bytes in the same place.
    pub attempt: u64,
    /// Where the process is reached by others.
    pub address: Box<str>,
    /// When it was made, by the clock of the process.
    pub at: Timestamp,
}

/// Whoever opened still leads. It is found in its place only if nobody else opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// When it was made, by the clock of the process.
    pub at: Timestamp,
}

/// Whoever opened leads no more, and answers nothing from here on: anybody may open at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resignation {
    /// The data directory in which the log goes on by itself: nobody may open behind this.
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
