//! A clock that a test moves.

use std::sync::atomic::{AtomicI64, Ordering};

use domain::Timestamp;

use super::Clock;

/// A clock that moves only by [`ManualClock::advance_millis`].
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    ahead: AtomicI64,
}

impl ManualClock {
    /// A clock stopped at an instant.
    pub const fn new(start: Timestamp) -> Self {
        Self {
            now: AtomicI64::new(start.0),
            ahead: AtomicI64::new(0),
        }
    }

    /// Sets how far it is ahead of the machine's clock, as if that had been set back.
    pub fn be_ahead(&self, millis: i64) {
        self.ahead.store(millis, Ordering::SeqCst);
    }

    /// Moves forward by some milliseconds, or back by a negative number.
    pub fn advance_millis(&self, millis: i64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::SeqCst))
    }

    fn offset_millis(&self) -> i64 {
        self.ahead.load(Ordering::SeqCst)
    }
}
