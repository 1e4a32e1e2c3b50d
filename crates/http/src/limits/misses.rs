//! The wrong recovery codes that one client sent in a rolling window. A repeated code counts once: a buyer who tries a
//! mistyped code again, or reloads the page, is not guessing. Codes are kept as hashes only, under a key that ends with
//! the process.

use std::collections::VecDeque;

use domain::{Timestamp, catalog::CreationLimit};

use super::{exceeded::LimitExceeded, hash::Hash, window::Window};

/// The most codes that are remembered. With a larger limit, older ones count again.
const REMEMBERED: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Misses {
    window: Window,
    codes: VecDeque<(Timestamp, Hash)>,
}

impl Misses {
    /// Checks whether another code may be tried; counts nothing.
    /// # Errors
    /// The limit is used up.
    pub(super) fn check(
        &mut self,
        limit: CreationLimit,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        self.window.check(limit, now)
    }

    /// Counts a code, unless it was counted before.
    /// # Errors
    /// Other codes used the limit up; this one is not counted.
    pub(super) fn take(
        &mut self,
        limit: CreationLimit,
        code: Hash,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        let window = i64::from(limit.window_seconds);
        let is_over = |(at, _): &(Timestamp, Hash)| at.plus_seconds(window) <= now;
        while self.codes.front().is_some_and(is_over) {
            self.codes.pop_front();
        }
        if self.codes.iter().any(|(_, known)| *known == code) {
            return Ok(());
        }
        self.window.take(limit, now)?;
        if self.codes.len() >= REMEMBERED {
            self.codes.pop_front();
        }
        self.codes.push_back((now, code));
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.codes.len()
    }
}
