//! Waiting on a condition with a deadline, so that no test waits for a fixed time.

use std::time::{Duration, Instant};

/// How long a condition that should hold within moments may take on a busy machine: it is there to end a hang.
pub const SOON: Duration = Duration::from_secs(300);

/// Time between two looks at a condition.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Looks until `condition` gives a value; panics naming `what` when `limit` has passed.
pub async fn until<T>(what: &str, limit: Duration, mut condition: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        pause(what, begun, limit).await;
    }
}

/// The same for a condition that has to be asked for.
pub async fn answered<T>(
    what: &str,
    limit: Duration,
    mut condition: impl AsyncFnMut() -> Option<T>,
) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        pause(what, begun, limit).await;
    }
}

async fn pause(what: &str, begun: Instant, limit: Duration) {
    assert!(begun.elapsed() < limit, "not within {limit:?}: {what}");
    tokio::time::sleep(LOOK_EVERY).await;
}
