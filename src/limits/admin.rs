//! How often somebody may try to administrate. A token cannot be guessed; trying must not be free all
//! the same, nor may whoever has it keep everybody else waiting.

use std::num::NonZeroU32;

use domain::{Timestamp, catalog::CreationLimit};

use super::{Client, Limits, Rate, Refusal, found_or_new};

/// From a client, at one door.
const WRONG_TOKENS: CreationLimit = CreationLimit {
    max: 20,
    window_seconds: 900,
};

/// What a token opens. A scraper with an old token shuts itself out, and not the administrator who
/// sits at the same machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Door {
    /// The admin API.
    Administration,
    /// `/metrics`
    Figures,
}

/// Requests of a client: more than a large catalog needs to be applied.
pub(super) const fn rate() -> Rate {
    Rate {
        burst: match NonZeroU32::new(1000) {
            Some(burst) => burst,
            None => NonZeroU32::MIN,
        },
        per_second: match NonZeroU32::new(100) {
            Some(per_second) => per_second,
            None => NonZeroU32::MIN,
        },
    }
}

impl Limits {
    /// Counts a request that carries a token, right or wrong, and looks whether it may be compared at
    /// all: after too many wrong ones a right one is not told from them.
    ///
    /// # Errors
    ///
    /// The client sent too many wrong tokens, or too many requests.
    pub fn may_open(&self, door: Door, client: Client, now: Timestamp) -> Result<(), Refusal> {
        if let Some(window) = self.wrong_tokens.get(&(door, client)) {
            window.lock().check(WRONG_TOKENS, now)?;
        }
        let bucket = found_or_new(&self.administration, client);
        bucket.take(rate(), now).map(drop)
    }

    /// Counts a wrong token.
    ///
    /// # Errors
    ///
    /// There were too many in the meantime; this one is not counted.
    pub fn wrong_token(&self, door: Door, client: Client, now: Timestamp) -> Result<(), Refusal> {
        let window = found_or_new(&self.wrong_tokens, (door, client));
        window.lock().take(WRONG_TOKENS, now)
    }
}
