//! Counts of attempts to deliver webhooks.

use prometheus_client::metrics::counter::Counter;

use super::delivery::Attempt;

/// Attempts to deliver webhooks, by outcome.
#[derive(Debug, Clone)]
pub struct AttemptCounters {
    /// Attempts that the endpoint accepted.
    pub accepted: Counter,
    /// Attempts that the endpoint refused.
    pub refused: Counter,
    /// Attempts without an answer.
    pub unanswered: Counter,
    /// Not sent, and failed: the event could not be read.
    pub unreadable: Counter,
}

impl AttemptCounters {
    pub(super) fn count(&self, attempt: &Attempt) {
        match (attempt.status_code, &attempt.error) {
            (_, None) => self.accepted.inc(),
            (Some(_), Some(_)) => self.refused.inc(),
            (None, Some(_)) => self.unanswered.inc(),
        };
    }
}
