//! Codes that opened nothing, of one client: in a rolling window so many different ones, a repeated one
//! once. Whoever mistyped a code and tries it again, or reloads the page, guesses nothing. What was tried
//! is not kept: only a hash, under a key that ends with the process.

use std::collections::VecDeque;

use domain::{Timestamp, catalog::CreationLimit};

use super::{Refusal, hash::Hash, window::Window};

/// Of so many it is known which they were; with a larger limit older ones count again.
const REMEMBERED: usize = 1024;

/// What one client tried in vain.
#[derive(Debug, Default)]
pub(super) struct Misses {
    window: Window,
    tried: VecDeque<(Timestamp, Hash)>,
}

impl Misses {
    /// Whether one more may be tried; counts nothing.
    ///
    /// # Errors
    ///
    /// As many were tried as may be.
    pub(super) fn check(&mut self, limit: CreationLimit, now: Timestamp) -> Result<(), Refusal> {
        self.window.check(limit, now)
    }

    /// Counts one, unless it was counted before.
    ///
    /// # Errors
    ///
    /// As many others were tried as may be; it is not counted.
    pub(super) fn take(
        &mut self,
        limit: CreationLimit,
        tried: Hash,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let window = i64::from(limit.window_seconds);
        let is_over = |(at, _): &(Timestamp, Hash)| at.plus_seconds(window) <= now;
        while self.tried.front().is_some_and(is_over) {
            self.tried.pop_front();
        }
        if self.tried.iter().any(|(_, known)| *known == tried) {
            return Ok(());
        }
        self.window.take(limit, now)?;
        if self.tried.len() >= REMEMBERED {
            self.tried.pop_front();
        }
        self.tried.push_back((now, tried));
        Ok(())
    }

    /// How many it is known which they were.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.tried.len()
    }
}
