//! How an endpoint does: its last attempts, of which few are kept.

use std::collections::{BTreeMap, VecDeque};

use domain::{Timestamp, id::DeliveryId};

use super::delivery::{Attempt, Delivery};

/// Attempts that are counted.
const COUNTED: usize = 100;
/// How old one that counts may be.
const COUNTED_SECONDS: i64 = 24 * 3600;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointHealth {
    /// The last attempts of the last 24 hours, 100 at most.
    pub attempts: u64,
    /// Those of them that it accepted.
    pub succeeded: u64,
    pub last_success_at: Option<Timestamp>,
    pub last_failure: Option<Attempt>,
    /// Since when it has accepted nothing; `None`: the last attempt was accepted, or there was none.
    pub failing_since: Option<Timestamp>,
    /// Events that wait to be sent to it.
    pub waiting: u64,
}

/// The attempts that an endpoint's health is read from.
#[derive(Debug, Default)]
pub(super) struct RecentAttempts {
    recent: VecDeque<(Timestamp, bool)>,
    last_success: Option<Timestamp>,
    last_failure: Option<Attempt>,
    failing_since: Option<Timestamp>,
}

impl RecentAttempts {
    /// Those of the deliveries that are kept.
    pub(super) fn of(deliveries: &BTreeMap<DeliveryId, Delivery>) -> Self {
        let mut all: Vec<&Attempt> = deliveries.values().flat_map(|it| &it.attempts).collect();
        all.sort_by_key(|attempt| attempt.at);
        let mut attempts = Self::default();
        for attempt in all {
            attempts.add(attempt);
        }
        attempts
    }

    pub(super) fn add(&mut self, attempt: &Attempt) {
        let is_accepted = attempt.error.is_none();
        if is_accepted {
            self.last_success = Some(attempt.at);
            self.failing_since = None;
        } else {
            self.last_failure = Some(attempt.clone());
            self.failing_since.get_or_insert(attempt.at);
        }
        if self.recent.len() >= COUNTED {
            self.recent.pop_front();
        }
        self.recent.push_back((attempt.at, is_accepted));
    }

    /// Whether the last attempt was not accepted.
    pub(super) const fn is_failing(&self) -> bool {
        self.failing_since.is_some()
    }

    pub(super) fn health(&self, waiting: u64, now: Timestamp) -> EndpointHealth {
        let since = now.plus_seconds(COUNTED_SECONDS.saturating_neg());
        let counted = self.recent.iter().filter(|(at, _)| *at >= since);
        let count = |all: usize| u64::try_from(all).unwrap_or(u64::MAX);
        EndpointHealth {
            attempts: count(counted.clone().count()),
            succeeded: count(counted.filter(|(_, is_accepted)| *is_accepted).count()),
            last_success_at: self.last_success,
            last_failure: self.last_failure.clone(),
            failing_since: self.failing_since,
            waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(at: i64, error: Option<&str>) -> Attempt {
        Attempt {
            at: Timestamp(at),
            status_code: error.map(|_| 500),
            error: error.map(Into::into),
            millis: 1,
        }
    }

    #[test]
    fn failing_endpoints_show_since_when_and_count_a_day_or_a_hundred_attempts() {
        let mut attempts = RecentAttempts::default();
        let now = Timestamp(COUNTED_SECONDS * 1000 * 3);
        assert_eq!(attempts.health(2, now).waiting, 2);
        // Too old to count, and remembered all the same.
        attempts.add(&attempt(5, None));
        attempts.add(&attempt(6, Some("no")));
        let health = attempts.health(0, now);
        assert_eq!(
            (health.attempts, health.failing_since),
            (0, Some(Timestamp(6)))
        );
        for at in 0..150 {
            attempts.add(&attempt(now.0 - 1000 + at, Some("no")));
        }
        let health = attempts.health(0, now);
        assert_eq!((health.attempts, health.succeeded), (100, 0));
        assert_eq!(health.failing_since, Some(Timestamp(6)));
        assert!(attempts.is_failing());
        attempts.add(&attempt(now.0, None));
        let health = attempts.health(0, now);
        assert_eq!((health.attempts, health.succeeded), (100, 1));
        assert_eq!(
            (health.failing_since, health.last_success_at),
            (None, Some(now))
        );
        assert!(health.last_failure.is_some());
    }
}
