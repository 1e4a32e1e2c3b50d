//! The clock, passed in so that tests control time.

mod steady;

use std::sync::atomic::{AtomicI64, Ordering};

use domain::Timestamp;
pub use steady::{ClockSource, MachineClocks, SystemClock};

/// A source of the present time.
pub trait Clock: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// How far this clock is ahead of the machine's, in milliseconds, while it makes up for a jump; otherwise 0.
    fn offset_millis(&self) -> i64 {
        0
    }

    /// The present instant by the machine's clock, to compare with other machines' instants, such as that of a
    /// signature.
    fn wall(&self) -> Timestamp {
        Timestamp(self.now().0.saturating_sub(self.offset_millis()))
    }
}

/// A clock for tests, which moves only by [`ManualClock::advance_millis`].
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    ahead: AtomicI64,
}

impl ManualClock {
    /// A clock stopped at an instant.
    #[must_use]
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

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn offset_millis(&self) -> i64 {
        (**self).offset_millis()
    }
}
