//! How long the log's thread rests between two group commits.
//!
//! A commit costs the same write, two syncs and some wake-ups, together about what ten requests cost, however many
//! events it has. On a busy machine fewer and larger commits leave more of the processor to those who make events; but
//! where nearly all callers wait for one commit, nobody is left to make any in that time. So it rests until about half of
//! the callers wait. How many there are, how fast events come and how long a commit takes is seen as it goes: no time in
//! here is a machine's.
//!
//! Over a network most of a commit's time is the round trip: so several are under way at once, evenly spaced, and the
//! rest before each is shorter.

use std::time::Duration;

/// More events than this are not waited for: a commit's own cost is no more than a tenth of a request for each.
const ENOUGH: u32 = 128;
/// With fewer callers than this, each would mostly wait for himself.
const FEW: u32 = 16;
/// A new value counts one in so many.
const WEIGHT: u32 = 8;

#[derive(Debug)]
pub(crate) struct Pacing {
    /// A rest takes no longer than a commit divided by this.
    share: u32,
    /// How long a commit takes, as a moving average.
    commit: Duration,
    /// The time from one event to the next, as a moving average.
    between_events: Duration,
    /// Most events that waited at once lately: of a commit, and for the next.
    callers: u32,
}

impl Pacing {
    /// Of a log that is written by this process alone, one commit after the other.
    pub(crate) const fn alone() -> Self {
        Self {
            share: 1,
            commit: Duration::ZERO,
            between_events: Duration::ZERO,
            callers: 0,
        }
    }

    /// Of a log elsewhere, to which so many commits may be under way.
    pub(crate) fn shared(depth: usize) -> Self {
        Self {
            share: u32::try_from(depth).unwrap_or(u32::MAX).saturating_add(1),
            ..Self::alone()
        }
    }

    /// Counts a commit of so many events, which took so long and ended so long after the one before, while so many
    /// events came for the next.
    pub(crate) fn count(&mut self, events: u32, took: Duration, since_last: Duration, queued: u32) {
        self.commit = averaged(self.commit, took);
        let each = since_last.checked_div(events).unwrap_or(since_last);
        self.between_events = averaged(self.between_events, each);
        let fewer = self.callers.saturating_sub(self.callers / WEIGHT);
        self.callers = fewer.max(events.saturating_add(queued));
    }

    /// How long to rest before the next commit, for which so many events have come: never longer than a commit takes, or
    /// its share of that.
    pub(crate) fn rest(&self, queued: u32) -> Duration {
        if self.callers < FEW {
            return Duration::ZERO;
        }
        let missing = (self.callers / 2).min(ENOUGH).saturating_sub(queued);
        let longest = self.commit.checked_div(self.share).unwrap_or(self.commit);
        self.between_events.saturating_mul(missing).min(longest)
    }
}

fn averaged(average: Duration, value: Duration) -> Duration {
    let kept = average.saturating_mul(WEIGHT.saturating_sub(1));
    let sum = kept.saturating_add(value);
    sum.checked_div(WEIGHT).unwrap_or(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: Duration = Duration::from_micros(600);

    /// The rest after many commits like this one.
    fn after(events: u32, since_last: Duration, queued: u32) -> Duration {
        let mut pacing = Pacing::alone();
        for _ in 0..100 {
            pacing.count(events, COMMIT, since_last, queued);
        }
        pacing.rest(queued)
    }

    #[test]
    fn a_lone_caller_and_a_few_are_not_kept_waiting() {
        assert_eq!(after(1, COMMIT, 0), Duration::ZERO);
        assert_eq!(after(4, COMMIT, 4), Duration::ZERO);
    }

    #[test]
    fn many_callers_wait_until_half_of_them_do_and_no_longer_than_a_commit_takes() {
        // 40 in the commit, 20 for the next: ten more, at 15 µs each.
        let rest = after(40, COMMIT, 20);
        assert!((140..=150).contains(&rest.as_micros()), "{rest:?}");
        // All of them in one commit: half of them are waited for, but they are slow to come.
        let rest = after(100, Duration::from_millis(10), 0);
        assert!((590..=600).contains(&rest.as_micros()), "{rest:?}");
    }

    #[test]
    fn several_under_way_are_spread_over_the_time_that_one_takes() {
        let mut pacing = Pacing::shared(4);
        for _ in 0..100 {
            pacing.count(64, COMMIT, Duration::from_millis(10), 0);
        }
        assert_eq!(pacing.rest(0).as_micros(), 119);
        assert_eq!(pacing.rest(64), Duration::ZERO);
    }

    #[test]
    fn large_commits_follow_each_other_at_once() {
        assert_eq!(after(1_000, COMMIT, 200), Duration::ZERO);
        assert_eq!(after(100_000, COMMIT, 100_000), Duration::ZERO);
    }

    #[test]
    fn a_burst_is_forgotten_after_some_commits() {
        let mut pacing = Pacing::alone();
        pacing.count(1_000, COMMIT, COMMIT, 1_000);
        for _ in 0..40 {
            pacing.count(1, COMMIT, COMMIT, 0);
        }
        assert_eq!(pacing.rest(0), Duration::ZERO);
    }
}
