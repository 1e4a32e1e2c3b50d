//! Waiting on a condition with a deadline, so that no test waits for a fixed time.

use std::time::{Duration, Instant};

/// How long a condition that should hold within moments may take on a busy machine: it only ends a hang.
pub const SOON: Duration = Duration::from_secs(300);

/// Time between two checks of a condition.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Checks until `condition` returns a value; panics with `what` after `limit`.
pub async fn until<T>(what: &str, limit: Duration, mut condition: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        pause(what, started, limit).await;
    }
}

/// Checks an asynchronous condition until it returns a value; panics with `what` after `limit`.
pub async fn answered<T>(
    what: &str,
    limit: Duration,
    mut condition: impl AsyncFnMut() -> Option<T>,
) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        pause(what, started, limit).await;
    }
}

async fn pause(what: &str, started: Instant, limit: Duration) {
    assert!(started.elapsed() < limit, "not within {limit:?}: {what}");
    tokio::time::sleep(LOOK_EVERY).await;
}
