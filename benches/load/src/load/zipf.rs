//! Wallets by Zipf's law: the n-th is used in proportion to `1 / n^skew`.

use super::spread;

/// Numbers that a hash is spread over: as many as an `f64` tells apart.
const STEPS: u64 = 1 << 53;

/// The part of requests that is for each wallet or for one before it.
#[derive(Debug)]
pub(crate) struct Zipf(Vec<f64>);

impl Zipf {
    pub(crate) fn new(wallets: u64, skew: f64) -> Self {
        let mut sum = 0.0;
        let sums = (1..=wallets).map(|rank| {
            sum += (rank as f64).powf(-skew);
            sum
        });
        let mut sums: Vec<f64> = sums.collect();
        for part in &mut sums {
            *part /= sum;
        }
        Self(sums)
    }

    /// The wallet of a request, always the same one.
    pub(super) fn wallet(&self, item: u64) -> u64 {
        let point = spread(item, STEPS) as f64 / STEPS as f64;
        self.0.partition_point(|part| *part <= point) as u64
    }

    /// The part of requests that is for the first wallet.
    pub(crate) fn hottest(&self) -> f64 {
        self.0.first().copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(skew: f64) -> Vec<f64> {
        let zipf = Zipf::new(1_000, skew);
        let mut counts = vec![0.0; 1_000];
        for item in 0..400_000 {
            counts[zipf.wallet(item) as usize] += 1.0;
        }
        counts
    }

    #[test]
    fn the_tenth_wallet_is_used_a_tenth_as_often_as_the_first() {
        let skewed = counts(1.0);
        // The thousandth harmonic number is 7.485.
        assert!((0.130..0.137).contains(&(skewed[0] / 400_000.0)));
        assert!((9.3..10.7).contains(&(skewed[0] / skewed[9])));
        assert!((90.0..110.0).contains(&(skewed[0] / (skewed[98..101].iter().sum::<f64>() / 3.0))));
        let even = counts(0.0);
        assert!(even.iter().all(|count| (300.0..500.0).contains(count)));
    }
}
