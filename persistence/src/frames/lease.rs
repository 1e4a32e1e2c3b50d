//! How long a process may trust that it leads. This does not keep writers apart, the log does: it keeps readers from being
//! shown what a new leader has made old.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// How long a leader answers from memory after it sent a frame that was acknowledged.
pub const TRUST: Duration = Duration::from_millis(2500);
/// A leader sends something at least this often.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// An instant of one process, by a clock that goes on while the machine sleeps: the time since some beginning.
pub type Moment = Duration;

/// The time since the machine was started, in which it may have slept.
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

/// No lease: it was released.
const OVER: u64 = u64::MAX;

impl Lease {
    /// A frame was acknowledged that was sent then.
    pub fn renew(&self, sent: Moment) {
        let until = nanos(sent.saturating_add(TRUST)).min(OVER - 1);
        self.until.fetch_max(until, Ordering::AcqRel);
    }

    /// Ends it for good. Must be called before a resignation is sent.
    pub fn give_up(&self) {
        self.until.store(OVER, Ordering::Release);
    }

    /// Whether no other process can have been acknowledged a frame by now. To be called after reading what is shown.
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
