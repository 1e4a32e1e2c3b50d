//! When a delivery is tried again.

use domain::Timestamp;

/// Seconds between attempts. When the last of them fails, the delivery has failed.
const PAUSES: [i64; 9] = [
    5,
    5 * 60,
    30 * 60,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
];
const HOUR: i64 = 3600;
/// Maximum wait that a receiver may ask for, in seconds.
const MAX_RETRY_AFTER: i64 = 24 * HOUR;
/// An event that cannot be read is tried after 1, 2, 4, … seconds up to this many, and then has failed.
const MAX_UNREAD: i64 = 2048;
/// Seconds until the next try after the service was overloaded.
pub(super) const LATER_SECONDS: i64 = 1;
/// After this many seconds with nothing but failures an endpoint is disabled.
pub(super) const FAILING_SECONDS: i64 = 5 * 24 * HOUR;

/// When to try again after so many attempts; `None`: never. `wish` is the wait that the receiver asks for, in
/// seconds; `random` spreads deliveries that failed together.
pub(super) fn next(
    attempts: usize,
    now: Timestamp,
    wish: Option<i64>,
    random: u64,
) -> Option<Timestamp> {
    let pause = *PAUSES.get(attempts.checked_sub(1)?)?;
    let millis = pause.saturating_mul(1000);
    let most = u64::try_from(millis).unwrap_or(0) / 10;
    let jitter = random.checked_rem(most.saturating_add(1)).unwrap_or(0);
    let millis = millis.saturating_add(i64::try_from(jitter).unwrap_or(0));
    let wish = wish
        .unwrap_or(0)
        .clamp(0, MAX_RETRY_AFTER)
        .saturating_mul(1000);
    Some(Timestamp(now.0.saturating_add(millis.max(wish))))
}

/// When to send a delivery again whose attempt by hand failed: when it was planned before, but not at once.
pub(super) fn after_by_hand(
    planned: Option<Timestamp>,
    now: Timestamp,
    wish: Option<i64>,
) -> Timestamp {
    let [soonest, ..] = PAUSES;
    let wait = wish.unwrap_or(0).clamp(soonest, MAX_RETRY_AFTER);
    let soonest = now.plus_seconds(wait);
    planned.map_or(soonest, |planned| planned.max(soonest))
}

/// When to read an event again after so many failed reads; `None`: never, after more than an hour, as the
/// wallet's next events wait.
pub(super) fn unread(times: u32, now: Timestamp) -> Option<Timestamp> {
    let pause = 1_i64.checked_shl(times.checked_sub(1)?);
    let pause = pause.filter(|pause| *pause <= MAX_UNREAD)?;
    Some(now.plus_seconds(pause))
}

/// The wait that `Retry-After` asks for, in seconds from now: it holds a number or a date.
pub(super) fn wish(header: &str, now: Timestamp) -> Option<i64> {
    let header = header.trim();
    if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is long enough.
        return Some(header.parse().unwrap_or(MAX_RETRY_AFTER));
    }
    let until = jiff::fmt::rfc2822::parse(header).ok()?.timestamp();
    let millis = until.as_millisecond().saturating_sub(now.0);
    // Rounded up, so as not to be early.
    Some(millis.max(0).saturating_add(999) / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_795_000_000_000);

    #[test]
    fn pauses_grow_and_end() {
        let waits = |random| -> Vec<i64> {
            let all = (1..).map_while(|attempts| next(attempts, NOW, None, random));
            all.map(|at| at.0 - NOW.0).collect()
        };
        let exact: Vec<i64> = PAUSES.iter().map(|pause| pause * 1000).collect();
        assert_eq!(waits(0), exact);
        for (wait, pause) in waits(u64::MAX - 7).into_iter().zip(exact) {
            assert!((pause..=pause + pause / 10).contains(&wait), "{wait}");
        }
        assert_eq!(next(0, NOW, None, 0), None);
    }

    #[test]
    fn a_receiver_may_ask_for_more_time_but_not_for_ever() {
        let wait = |wish| next(1, NOW, Some(wish), 0).unwrap().0 - NOW.0;
        assert_eq!(wait(60), 60_000);
        assert_eq!(wait(1), 5_000, "never sooner than the schedule");
        assert_eq!(wait(i64::MAX), 86_400_000);
        assert_eq!(wait(-1), 5_000);
    }

    #[test]
    fn what_was_asked_for_by_hand_changes_no_plan() {
        let at = |millis| Timestamp(NOW.0 + millis);
        assert_eq!(after_by_hand(Some(at(90_000)), NOW, None), at(90_000));
        assert_eq!(after_by_hand(Some(at(90_000)), NOW, Some(120)), at(120_000));
        assert_eq!(after_by_hand(Some(at(-1)), NOW, None), at(5_000));
        assert_eq!(after_by_hand(None, NOW, Some(i64::MAX)), at(86_400_000));
    }

    #[test]
    fn an_unreadable_event_fails_after_an_hour() {
        let waits = (1..).map_while(|times| unread(times, NOW));
        let waits: Vec<_> = waits.map(|at| (at.0 - NOW.0) / 1000).collect();
        assert_eq!((waits.len(), waits[0], waits[11]), (12, 1, 2048));
        assert_eq!(waits.iter().sum::<i64>(), 4095);
        assert_eq!((unread(0, NOW), unread(u32::MAX, NOW)), (None, None));
    }

    #[test]
    fn a_wish_is_a_number_or_an_instant() {
        assert_eq!(wish("120", NOW), Some(120));
        assert_eq!(wish(" 7 ", NOW), Some(7));
        assert_eq!(wish("99999999999999999999", NOW), Some(MAX_RETRY_AFTER));
        assert_eq!(wish("Wed, 18 Nov 2026 11:08:40 GMT", NOW), Some(120));
        assert_eq!(wish("Wed, 18 Nov 2020 11:08:40 GMT", NOW), Some(0));
        for nonsense in ["", "soon", "-5", "1.5"] {
            assert_eq!(wish(nonsense, NOW), None, "{nonsense}");
        }
    }
}
