//! The clock, passed in so that tests control time.

#[cfg(any(test, feature = "test-util"))]
mod manual;
mod steady;

use domain::Timestamp;
#[cfg(any(test, feature = "test-util"))]
pub use manual::ManualClock;
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

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn offset_millis(&self) -> i64 {
        (**self).offset_millis()
    }
}
