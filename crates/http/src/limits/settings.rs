//! The settings of the limits.

use std::num::NonZeroU32;

use domain::wallet::hold::MAX_OPEN_HOLDS;
use ipnet::IpNet;

use super::bucket::Rate;

/// Limits as configured; the defaults are the documented ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Requests of a publishable key, per key and client address.
    pub publishable: Rate,
    /// Requests of a secret key, wherever they come from; `None`: not limited.
    pub secret: Option<Rate>,
    /// Recovery codes that open nothing, per project and client address in a rolling hour.
    pub invalid_codes_per_hour: u32,
    /// Clients remembered by all limits together; beyond, the least active ones are forgotten.
    pub tracked_clients: usize,
    /// Holds of one wallet that may be open at once.
    pub open_holds: usize,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            publishable: Rate::default(),
            secret: None,
            invalid_codes_per_hour: 20,
            tracked_clients: 100_000,
            open_holds: MAX_OPEN_HOLDS,
            trusted_proxies: Vec::new(),
        }
    }
}

impl Rate {
    /// So many requests at once, and so many more each second. A zero counts as one.
    pub const fn new(burst: u32, per_second: u32) -> Self {
        Self {
            burst: or_one(burst),
            per_second: or_one(per_second),
        }
    }
}

const fn or_one(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}

impl Default for Rate {
    fn default() -> Self {
        Self::new(30, 5)
    }
}
