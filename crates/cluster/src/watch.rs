//! When another process may try to lead. Neither this nor the [`Lease`] keeps writers apart: the log does. They keep
//! readers from being shown what a new leader has made old.
//!
//! Why it holds: a term start behind the frame *m* keeps every later frame of the former leader out. So the last frame
//! that was acknowledged to it is *m* or an earlier one, and was sent before another process saw *m*. It trusts itself for
//! [`TRUST`] from when it sent it; the other waited for [`TIMEOUT`] from when it first saw *m*. Neither compares its
//! clock with another one's; that they run alike to within a tenth is enough.
//!
//! [`Lease`]: persistence::frames::Lease
//! [`TRUST`]: persistence::frames::lease::TRUST

use std::time::Duration;

use persistence::frames::{FramePosition, lease::Moment};

/// How long a head must have been seen unmoved before another opens behind it.
pub const TIMEOUT: Duration = Duration::from_millis(3300);
/// Two looks further apart are two beginnings: a process that did not look cannot say that nothing moved.
pub const MAX_POLL_GAP: Duration = Duration::from_secs(1);

/// A follower's watch over a log's head.
#[derive(Debug, Default)]
pub struct Watch {
    seen: Option<Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    head: FramePosition,
    /// Whether the head is a resignation: no process leads.
    is_closed: bool,
    first: Moment,
    last: Moment,
}

impl Watch {
    /// The log's head was read, and the answer was there by then. `is_closed`: it is a resignation, so no process leads.
    pub fn saw(&mut self, head: FramePosition, is_closed: bool, now: Moment) {
        let still = self
            .seen
            .filter(|seen| seen.head == head && now.saturating_sub(seen.last) <= MAX_POLL_GAP);
        self.seen = Some(Seen {
            head,
            is_closed,
            first: still.map_or(now, |seen| seen.first),
            last: now,
        });
    }

    /// The head behind which a term start may be sent now, if so.
    pub fn may_open(&self, now: Moment) -> Option<FramePosition> {
        let seen = self.seen?;
        let is_fresh = now.saturating_sub(seen.last) <= MAX_POLL_GAP;
        let waited = now.saturating_sub(seen.first) >= TIMEOUT;
        (is_fresh && (seen.is_closed || waited)).then_some(seen.head)
    }
}
