//! When requests are due that are sent at a fixed rate.

use std::time::{Duration, Instant};

/// Evenly spaced instants.
pub(super) struct Schedule {
    begin: Instant,
    per_second: f64,
    number: u64,
}

impl Schedule {
    /// A thread's share of a total rate; the threads take turns.
    pub(super) fn share(begin: Instant, per_second: f64, thread: usize, threads: usize) -> Self {
        let turn = Duration::from_secs_f64(thread as f64 / per_second);
        Self {
            begin: begin + turn,
            per_second: per_second / threads as f64,
            number: 0,
        }
    }

    /// When the next request is due.
    pub(super) fn next(&self) -> Instant {
        self.begin + Duration::from_secs_f64(self.number as f64 / self.per_second)
    }

    /// Takes the next request if it is due; returns when it was due.
    pub(super) fn take(&mut self, now: Instant) -> Option<Instant> {
        let due = self.next();
        if due > now {
            return None;
        }
        self.number += 1;
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns_and_nothing_that_is_due_is_left_out() {
        let begin = Instant::now();
        let later = |millis| begin + Duration::from_millis(millis);
        let mut shares = [0, 1].map(|thread| Schedule::share(begin, 1_000.0, thread, 2));
        assert_eq!(shares[0].next(), begin);
        assert_eq!(shares[1].next(), later(1));
        assert_eq!(shares[0].take(begin), Some(begin));
        assert_eq!(shares[0].take(later(1)), None);
        // A hundred requests late: all of them are sent, and each counts from when it was due.
        let mut due = 0;
        for share in &mut shares {
            while share.take(later(100)).is_some() {
                due += 1;
            }
        }
        assert_eq!(due, 100);
    }
}
