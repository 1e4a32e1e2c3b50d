//! Waiting on a condition with a deadline, so that no test waits for a fixed time.

use std::time::{Duration, Instant};

/// How long a condition that should hold within moments may take on a busy machine.
pub const SOON: Duration = Duration::from_secs(30);

/// Time between two looks at a condition.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Looks until `condition` gives a value; panics naming `what` when `limit` has passed.
pub async fn until<T>(what: &str, limit: Duration, mut condition: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + limit;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < end, "not within {limit:?}: {what}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
