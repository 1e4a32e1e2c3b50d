//! How much the actors may take.

use std::time::Duration;

/// Bounds and intervals.
#[derive(Debug, Clone)]
pub struct Options {
    /// Commands between their arrival and their answer, over all wallets; each item of a batch
    /// counts. More is shed.
    pub max_in_flight: u64,
    /// The same at one wallet, where a batch counts once.
    pub max_in_flight_per_wallet: u32,
    /// Wallets in memory at once, about 8 KB each.
    pub max_awake: usize,
    /// How often idle wallets are looked for.
    pub sweep_interval: Duration,
    /// A wallet that was not asked for during so many sweeps goes to sleep.
    pub idle_sweeps: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_in_flight: 262_144,
            max_in_flight_per_wallet: 16_384,
            max_awake: 16_384,
            sweep_interval: Duration::from_secs(1),
            idle_sweeps: 30,
        }
    }
}
