//! How long a process may trust that it leads, and when another may try to. Neither keeps writers apart: the log does.
//! These keep readers from being shown what a new leader has made old.
//!
//! Why it holds: an opening behind the frame *m* keeps every later frame of the former leader out. So the last frame
//! that was acknowledged to it is *m* or an earlier one, and was sent before anybody saw *m*. It trusts itself for
//! [`TRUST`] from when it sent it; the other waited for [`TIMEOUT`] from when it first saw *m*. Neither compares its
//! clock with another one's; that they run alike to within a tenth is enough.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::FramePosition;

/// How long a leader answers from memory after it sent a frame that was acknowledged.
pub const TRUST: Duration = Duration::from_millis(2500);
/// How long a head must have been seen unmoved before another opens behind it.
pub const TIMEOUT: Duration = Duration::from_millis(3300);
/// Two looks further apart are two beginnings: whoever did not look cannot say that nothing moved.
pub const MAX_BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// A leader sends something at least this often.
pub const BEAT_EVERY: Duration = Duration::from_millis(500);

/// An instant of one process, by a clock that goes on while the machine sleeps: the time since some beginning.
pub type Moment = Duration;

/// The time since the machine was started, in which it may have slept.
#[must_use]
pub fn now() -> Moment {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Moment::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A leader's right to answer from memory.
#[derive(Debug, Default)]
pub struct Lease {
    /// The end of its trust in nanoseconds, never moved back; 0: there is none.
    until: AtomicU64,
}

/// No lease: it was given up.
const OVER: u64 = u64::MAX;

impl Lease {
    /// A frame was acknowledged that was sent then.
    pub fn renew(&self, sent: Moment) {
        let until = nanos(sent.saturating_add(TRUST)).min(OVER - 1);
        self.until.fetch_max(until, Ordering::AcqRel);
    }

    /// Ends it for good. Must be called before a closing is sent.
    pub fn give_up(&self) {
        self.until.store(OVER, Ordering::Release);
    }

    /// Whether nobody else can have been acknowledged a frame by now. To be asked after what is shown was read.
    #[must_use]
    pub fn holds(&self, now: Moment) -> bool {
        match self.until.load(Ordering::Acquire) {
            OVER => false,
            until => nanos(now) < until,
        }
    }
}

fn nanos(moment: Moment) -> u64 {
    u64::try_from(moment.as_nanos()).unwrap_or(OVER - 1)
}

/// A follower's watch over a log's head.
#[derive(Debug, Default)]
pub struct Watch {
    seen: Option<Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    head: FramePosition,
    /// Whether the head is a closing: nobody leads.
    is_closed: bool,
    first: Moment,
    last: Moment,
}

impl Watch {
    /// The log's head was read, and the answer was there by then. `is_closed`: it is a closing, behind which nobody
    /// leads.
    pub fn saw(&mut self, head: FramePosition, is_closed: bool, now: Moment) {
        let still = self
            .seen
            .filter(|seen| seen.head == head && now.saturating_sub(seen.last) <= MAX_BETWEEN_LOOKS);
        self.seen = Some(Seen {
            head,
            is_closed,
            first: still.map_or(now, |seen| seen.first),
            last: now,
        });
    }

    /// The head behind which an opening may be sent now, if so.
    #[must_use]
    pub fn may_open(&self, now: Moment) -> Option<FramePosition> {
        let seen = self.seen?;
        let is_fresh = now.saturating_sub(seen.last) <= MAX_BETWEEN_LOOKS;
        let waited = now.saturating_sub(seen.first) >= TIMEOUT;
        (is_fresh && (seen.is_closed || waited)).then_some(seen.head)
    }
}
