//! How long a connection may wait for its client, by one timer for its whole life. Arming one for
//! each request costs more than reading its head does; this one is put off when it fires.

use std::{pin::pin, time::Duration};

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

/// Since when a connection's client is the one to act: `None` while a request is worked on.
#[derive(Debug)]
pub(super) struct Waiting(Mutex<Option<Instant>>);

impl Waiting {
    /// From now on.
    pub(super) fn new() -> Self {
        Self(Mutex::new(Some(Instant::now())))
    }

    /// A request has come.
    pub(super) fn ends(&self) {
        *self.0.lock() = None;
    }

    /// It is answered.
    pub(super) fn begins(&self) {
        *self.0.lock() = Some(Instant::now());
    }

    fn since(&self) -> Option<Instant> {
        *self.0.lock()
    }
}

/// Runs a connection to its end; `None` when its client made it wait for `limit`.
pub(super) async fn run<T>(
    connection: impl Future<Output = T>,
    waiting: &Waiting,
    limit: Duration,
) -> Option<T> {
    let mut connection = pin!(connection);
    let mut timer = pin!(sleep_until(Instant::now() + limit));
    loop {
        tokio::select! {
            biased;
            ended = &mut connection => return Some(ended),
            () = &mut timer => {
                let now = Instant::now();
                let until = waiting.since().unwrap_or(now) + limit;
                if until <= now {
                    return None;
                }
                timer.as_mut().reset(until);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_nothing_is_cut_off_at_the_limit() {
        let (begun, waiting) = (Instant::now(), Waiting::new());
        assert_eq!(run(pending::<()>(), &waiting, LIMIT).await, None);
        assert_eq!(begun.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn the_limit_counts_from_the_latest_answer() {
        let (begun, waiting) = (Instant::now(), Waiting::new());
        let client = async {
            tokio::time::sleep(Duration::from_secs(50)).await;
            waiting.ends();
            // However long an answer takes, that is not the client's doing.
            tokio::time::sleep(Duration::from_secs(500)).await;
            waiting.begins();
            pending::<()>().await;
        };
        assert_eq!(run(client, &waiting, LIMIT).await, None);
        assert_eq!(begun.elapsed().as_secs(), 50 + 500 + 60);
    }
}
