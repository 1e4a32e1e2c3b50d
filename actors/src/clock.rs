//! The clock, passed in so that tests own the time.

mod steady;

use std::sync::atomic::{AtomicI64, Ordering};

use domain::Timestamp;
pub use steady::{Machine, Readings, SystemClock};

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// How far this clock is ahead of the machine's, in milliseconds, while it makes up for a step of
    /// that one; otherwise 0.
    fn offset_millis(&self) -> i64 {
        0
    }

    /// The present instant by the machine's clock: for what is between the machine and others, such as a
    /// signature's age.
    fn wall(&self) -> Timestamp {
        Timestamp(self.now().0.saturating_sub(self.offset_millis()))
    }
}

/// A clock that moves only when told.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    ahead: AtomicI64,
}

impl ManualClock {
    /// Starts at an instant.
    #[must_use]
    pub const fn new(start: Timestamp) -> Self {
        Self {
            now: AtomicI64::new(start.0),
            ahead: AtomicI64::new(0),
        }
    }

    /// Has it be ahead of the machine's own clock by so much: that was put back, say.
    pub fn be_ahead(&self, millis: i64) {
        self.ahead.store(millis, Ordering::SeqCst);
    }

    /// Moves on (or, with a negative number, back) by milliseconds.
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
