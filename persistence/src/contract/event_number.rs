//! The numbers of project events: they rise in the log's order, so that a reader that goes on after a number misses
//! none.

use std::sync::Arc;

/// A project event's place in the log: its frame's number, and its offset in the frame.
pub type EventNumber = u64;

/// Called when there are new project events. Must not wait for anything.
pub type OnEvents = Arc<dyn Fn() + Send + Sync>;

/// Bits of an offset in a frame: frames are shorter than 64 KiB.
pub(crate) const PLACE_BITS: u32 = 16;

pub(crate) fn number(lsn: u64, start: usize) -> EventNumber {
    (lsn << PLACE_BITS) | start as u64
}

pub(crate) fn last_of(lsn: u64) -> EventNumber {
    number(lsn, (1 << PLACE_BITS) - 1)
}
