//! How often somebody may try to administrate in vain. A token cannot be guessed, but trying must cost
//! something; whoever has it is let in whatever others tried, and may not keep everybody else waiting.

use std::{num::NonZeroU32, time::Duration};

use domain::{Timestamp, catalog::CreationLimit};

use super::{Client, Limits, Rate, Refusal, found_or_new};

/// From a client, at one door.
const WRONG_TOKENS: CreationLimit = CreationLimit {
    max: 20,
    window_seconds: 900,
};

/// How long the answer to a wrong one takes at least.
const SLOWED: Duration = Duration::from_millis(100);
/// So many of them wait at once.
pub(super) const SLOWED_AT_ONCE: usize = 256;

/// What a token opens.
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
    /// Counts a request that carries the right token.
    ///
    /// # Errors
    ///
    /// The client sent too many requests.
    pub fn administrate(&self, client: Client, now: Timestamp) -> Result<(), Refusal> {
        let bucket = found_or_new(&self.administration, client);
        bucket.take(rate(), now).map(drop)
    }

    /// Counts a wrong token, or whatever else was to open a door and did not, and takes its time over it.
    ///
    /// # Errors
    ///
    /// There were too many of this client; this one is not counted.
    pub async fn wrong_token(
        &self,
        door: Door,
        client: Client,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let window = found_or_new(&self.wrong_tokens, (door, client));
        let counted = window.lock().take(WRONG_TOKENS, now);
        // Where so many wait already, nobody is kept for longer: that would be memory for strangers.
        if let Ok(_place) = self.slowed.try_acquire() {
            tokio::time::sleep(SLOWED).await;
        }
        counted
    }
}
