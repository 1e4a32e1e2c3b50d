//! When a call is repeated, and after which pause. Nothing is repeated that might be done twice.

use crate::error::ErrorKind;
use std::time::Duration;

/// Pause before the first repetition; doubled for each later one.
const FIRST: Duration = Duration::from_millis(100);
/// Longest pause between two repetitions, unless the server asks for more.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// A server's `Retry-After` beyond this is returned to the caller instead.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The pause before the `attempt`th repetition, of which there may be `retries`; `None`: do not repeat.
pub(crate) fn next(
    kind: &ErrorKind,
    repeatable: bool,
    attempt: u32,
    retries: u32,
) -> Option<Duration> {
    let chance = uuid::Uuid::new_v4().as_u64_pair().1;
    pause(kind, repeatable, attempt, chance).filter(|_| attempt < retries)
}

/// The pause before the `attempt`th repetition, counted from 0; `None`: do not repeat. `repeatable` says
/// whether repeating has no further effect. `chance` is any number: it spreads callers who failed together.
fn pause(kind: &ErrorKind, repeatable: bool, attempt: u32, chance: u64) -> Option<Duration> {
    let asked = match kind {
        // These errors mean that nothing was done.
        ErrorKind::Refused(it) if it.status == 429 || it.code == "overloaded" => it.retry_after,
        ErrorKind::Refused(it) if it.status == 503 && repeatable => it.retry_after,
        ErrorKind::NoAnswer(error)
            if repeatable || error.downcast_ref().is_some_and(reqwest::Error::is_connect) =>
        {
            None
        }
        ErrorKind::Unreadable { status, .. } if repeatable && [502, 503, 504].contains(status) => {
            None
        }
        _ => return None,
    };
    if asked.is_some_and(|asked| asked > TIMEOUT) {
        return None;
    }
    let step = FIRST.saturating_mul(1 << attempt.min(10)).min(MAX_PAUSE);
    let half = step.as_millis().try_into().unwrap_or(u64::MAX) / 2;
    let jitter = Duration::from_millis(chance.checked_rem(half.max(1)).unwrap_or(0));
    Some(
        asked
            .unwrap_or_default()
            .max(step.checked_div(2).unwrap_or_default())
            .saturating_add(jitter),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use api_types::ErrorBody;

    fn refused(status: u16, code: &str, after: Option<u64>) -> ErrorKind {
        let body = format!(r#"{{"code": "{code}", "message": "No."}}"#);
        let mut refusal: Box<ErrorBody> =
            serde_json::from_str(&body).unwrap_or_else(|_| unreachable!());
        refusal.status = status;
        refusal.retry_after = after.map(Duration::from_secs);
        ErrorKind::Refused(refusal)
    }

    #[test]
    fn only_what_was_not_done_or_can_be_done_once_is_repeated() {
        for (kind, when_repeatable, otherwise) in [
            (refused(429, "rate_limited", Some(1)), true, true),
            (refused(503, "overloaded", Some(1)), true, true),
            (refused(503, "unavailable", Some(1)), true, false),
            (
                refused(429, "too_many_invalid_codes", Some(3600)),
                false,
                false,
            ),
            (refused(402, "insufficient_credits", None), false, false),
            (refused(409, "already_subscribed", None), false, false),
            (refused(502, "provider_error", None), false, false),
        ] {
            assert_eq!(
                pause(&kind, true, 0, 7).is_some(),
                when_repeatable,
                "{kind}"
            );
            assert_eq!(pause(&kind, false, 0, 7).is_some(), otherwise, "{kind}");
        }
    }

    #[test]
    fn it_waits_as_long_as_the_server_says_and_longer_each_time() {
        let waits = pause(&refused(503, "overloaded", Some(2)), true, 0, 0);
        assert_eq!(waits, Some(Duration::from_secs(2)));
        let without_delay = refused(503, "overloaded", None);
        let steps =
            [0, 1, 2, 30].map(|n| pause(&without_delay, true, n, 0).map(|it| it.as_millis()));
        assert_eq!(steps, [Some(50), Some(100), Some(200), Some(2_500)]);
        let spread = pause(&without_delay, true, 0, 49).map(|it| it.as_millis());
        assert_eq!(spread, Some(99));
    }
}
