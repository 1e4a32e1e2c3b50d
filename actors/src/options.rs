//! The bounds of this crate.

use std::time::Duration;

/// Bounds and intervals.
#[derive(Debug, Clone)]
pub struct Options {
    /// The most commands in flight over all wallets; each item of a batch counts. More are refused.
    pub max_in_flight: u64,
    /// The most commands in flight at one wallet, where a batch counts once.
    pub max_in_flight_per_wallet: u32,
    /// The most wallets in memory, about 8 KB each.
    pub max_awake: usize,
    /// The most watchers of wallets.
    pub max_watchers: usize,
    /// How often a sweep evicts idle wallets.
    pub sweep_interval: Duration,
    /// A wallet that no command used during this many sweeps is evicted.
    pub idle_sweeps: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_in_flight: 262_144,
            max_in_flight_per_wallet: 16_384,
            max_awake: 16_384,
            max_watchers: 10_000,
            sweep_interval: Duration::from_secs(1),
            idle_sweeps: 30,
        }
    }
}
