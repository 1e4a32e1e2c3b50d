//! How long group commits take: a histogram, counted as they are made.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Upper bounds of all buckets but the last, in microseconds: from a fast disk to one that hangs.
pub const BOUNDS_MICROS: [u64; 14] = [
    100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000,
];

/// Group commits since the start, by how long the disk took for each: from its first write to when all of
/// it would survive a power cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Commits {
    /// Commits within each of [`BOUNDS_MICROS`] and above the one before it; the last: slower ones.
    pub counts: [u64; BOUNDS_MICROS.len() + 1],
    /// The sum of all durations, in microseconds.
    pub micros: u64,
}

impl Commits {
    /// The number of commits.
    pub fn all(&self) -> u64 {
        self.counts.iter().copied().fold(0, u64::saturating_add)
    }

    /// The bound in microseconds that `percent` of the commits kept; `None`: there were none, or it is above all
    /// bounds.
    pub fn within(&self, percent: u64) -> Option<u64> {
        let all = self.all();
        let enough = all.saturating_mul(percent).div_ceil(100);
        let mut sum = 0_u64;
        let bounds = BOUNDS_MICROS.iter().zip(&self.counts);
        let mut reaching = bounds.filter_map(|(bound, count)| {
            sum += *count;
            (sum >= enough).then_some(*bound)
        });
        reaching.next().filter(|_| all > 0)
    }
}

/// [`Commits`] while they are being counted.
#[derive(Debug, Default)]
pub(crate) struct Latency {
    counts: [AtomicU64; BOUNDS_MICROS.len() + 1],
    micros: AtomicU64,
}

impl Latency {
    pub(crate) fn count(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let place = BOUNDS_MICROS.partition_point(|bound| *bound < micros);
        if let Some(count) = self.counts.get(place) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn commits(&self) -> Commits {
        Commits {
            counts: self.counts.each_ref().map(|it| it.load(Ordering::Relaxed)),
            micros: self.micros.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_counted_under_the_bound_that_it_kept() {
        let latency = Latency::default();
        assert_eq!(latency.commits().within(50), None);
        for micros in [1, 100, 101, 2_500_000] {
            latency.count(Duration::from_micros(micros));
        }
        let commits = latency.commits();
        assert_eq!(
            (commits.counts[0], commits.counts[1], commits.counts[13]),
            (2, 1, 1)
        );
        assert_eq!((commits.all(), commits.micros), (4, 2_500_202));
        let within = [50, 75, 99].map(|percent| commits.within(percent));
        assert_eq!(within, [Some(100), Some(250), Some(2_500_000)]);
        latency.count(Duration::from_secs(3));
        assert_eq!(latency.commits().counts[14], 1);
        assert_eq!(latency.commits().within(100), None);
    }
}
