//! Whether to retry, and when. Pure, so that every rule is a row of a test's table.

use std::time::Duration;

/// The most attempts of one call after no answer or a server error.
const MAX_ATTEMPTS: u32 = 3;
/// The most attempts while Stripe is busy (409, 429), unless the operation times out first.
const MAX_BUSY_ATTEMPTS: u32 = 8;
/// The longest pause before the second attempt, doubled for each later one.
const FIRST_PAUSE_MS: u64 = 500;
/// The longest pause that Stripe can request; beyond it the caller gets the error.
const MAX_PAUSE: Duration = Duration::from_secs(15);
/// The longest pause of our own.
const MAX_OWN_PAUSE_MS: u64 = 4000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FailedAttempt {
    pub(super) status: Option<u16>,
    pub(super) code: Option<String>,
    pub(super) should_retry: Option<bool>,
    pub(super) retry_after_seconds: Option<u64>,
}

impl FailedAttempt {
    /// Whether the failure is temporary: the same request may succeed later.
    pub(super) fn is_passing(&self) -> bool {
        let Some(status) = self.status else {
            return true;
        };
        // Stripe decides: a 500 that it recorded under the operation key would only be replayed.
        self.should_retry.unwrap_or(match status {
            429 | 500..=599 => true,
            // Another request holds the object, or this idempotency key.
            409 => matches!(
                self.code.as_deref(),
                Some("lock_timeout" | "idempotency_key_in_use")
            ),
            _ => false,
        })
    }

    /// The pause before the next attempt, after `attempts`; `None` to stop. `jitter` is a random byte.
    pub(super) fn pause(&self, attempts: u32, jitter: u8) -> Option<Duration> {
        let most = match self.status {
            Some(409 | 429) => MAX_BUSY_ATTEMPTS,
            _ => MAX_ATTEMPTS,
        };
        if attempts >= most || !self.is_passing() {
            return None;
        }
        // Between half of it and all of it, to spread callers.
        let whole = FIRST_PAUSE_MS << attempts.saturating_sub(1).min(MAX_BUSY_ATTEMPTS);
        let half = whole.min(MAX_OWN_PAUSE_MS) / 2;
        let jitter = half.saturating_mul(u64::from(jitter)) / 255;
        let own = Duration::from_millis(half.saturating_add(jitter));
        let requested = Duration::from_secs(self.retry_after_seconds.unwrap_or(0));
        (requested <= MAX_PAUSE).then_some(own.max(requested))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> FailedAttempt {
        FailedAttempt {
            status: Some(status),
            ..FailedAttempt::default()
        }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let code = |code: &str| FailedAttempt {
            code: Some(code.into()),
            ..status(409)
        };
        let attempt = |status_is, should| FailedAttempt {
            should_retry: Some(should),
            ..status(status_is)
        };
        for (failed, again) in [
            (FailedAttempt::default(), true),
            (status(429), true),
            (status(500), true),
            (status(503), true),
            (status(599), true),
            (code("lock_timeout"), true),
            (code("idempotency_key_in_use"), true),
            (code("resource_already_exists"), false),
            (status(409), false),
            (status(400), false),
            (status(401), false),
            (status(402), false),
            (status(404), false),
            (status(302), false),
            (attempt(500, false), false),
            (attempt(429, false), false),
            (attempt(400, true), true),
        ] {
            assert_eq!(failed.pause(1, 0).is_some(), again, "{failed:?}");
        }
    }

    #[test]
    fn pauses_grow_and_end() {
        let pauses = |jitter| [1, 2, 3].map(|n| FailedAttempt::default().pause(n, jitter));
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(pauses(0), [ms(250), ms(500), None]);
        assert_eq!(pauses(255), [ms(500), ms(1000), None]);
        for busy in [
            status(429),
            FailedAttempt {
                code: Some("lock_timeout".into()),
                ..status(409)
            },
        ] {
            let pauses = [1, 3, 5, 7, 8].map(|n| busy.pause(n, 0));
            assert_eq!(pauses, [ms(250), ms(1000), ms(2000), ms(2000), None]);
        }
    }

    #[test]
    fn the_provider_may_ask_for_a_longer_pause_but_not_for_any() {
        let retry_after = |seconds| FailedAttempt {
            retry_after_seconds: Some(seconds),
            ..status(429)
        };
        assert_eq!(retry_after(0).pause(1, 0), Some(Duration::from_millis(250)));
        assert_eq!(retry_after(2).pause(1, 0), Some(Duration::from_secs(2)));
        assert_eq!(retry_after(5).pause(1, 0), Some(Duration::from_secs(5)));
        assert_eq!(retry_after(15).pause(1, 0), Some(Duration::from_secs(15)));
        assert_eq!(retry_after(16).pause(1, 0), None);
        assert_eq!(retry_after(u64::MAX).pause(1, 0), None);
    }
}
