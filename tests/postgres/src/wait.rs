//! Waiting on a condition with a deadline, in a thread.

use std::{
    thread,
    time::{Duration, Instant},
};

/// How long a condition that should hold within moments may take on a busy machine: it only ends a hang.
pub const SOON: Duration = Duration::from_secs(120);

/// Time between two checks of a condition.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Checks until `condition` returns a value; panics with `what` after [`SOON`].
pub fn until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(started.elapsed() < SOON, "not within {SOON:?}: {what}");
        thread::sleep(LOOK_EVERY);
    }
}
