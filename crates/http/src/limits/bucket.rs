//! A token bucket in one atomic number (GCRA): the instant at which it would be full again.

use std::{
    num::NonZeroU32,
    sync::atomic::{AtomicI64, Ordering},
};

use domain::Timestamp;

use super::exceeded::LimitExceeded;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The size of a token bucket, and how fast it is refilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Requests that a rested client may send at once.
    pub burst: NonZeroU32,
    /// Requests a second that it gets back.
    pub per_second: NonZeroU32,
}

impl Rate {
    /// Microseconds between two tokens, at least one.
    fn interval(self) -> i64 {
        MICROS_PER_SECOND
            .checked_div(i64::from(self.per_second.get()))
            .unwrap_or(1)
            .max(1)
    }
}

/// What is left in a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BucketState {
    /// What it holds when full.
    pub limit: u32,
    /// What it holds now.
    pub remaining: u32,
    /// Whole seconds until it is full again.
    pub reset_seconds: u32,
}

/// One client's bucket; full when new.
#[derive(Debug)]
pub(super) struct Bucket {
    /// When the bucket is full again, in microseconds since the epoch.
    full_at: AtomicI64,
}

impl Default for Bucket {
    fn default() -> Self {
        Self {
            full_at: AtomicI64::new(i64::MIN),
        }
    }
}

impl Bucket {
    pub(super) fn take(&self, rate: Rate, now: Timestamp) -> Result<BucketState, LimitExceeded> {
        let now = now.0.saturating_mul(1000);
        let interval = rate.interval();
        let limit = rate.burst.get();
        let capacity = interval.saturating_mul(i64::from(limit));
        let mut debt = 0;
        let taken = self
            .full_at
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |full_at| {
                // A clock set back must not lock a client out for longer than an empty bucket does.
                let full_at = full_at.clamp(now, now.saturating_add(capacity));
                let after = full_at.saturating_add(interval);
                debt = after.saturating_sub(now);
                (debt <= capacity).then_some(after)
            });
        let seconds = |micros: i64| whole(micros, MICROS_PER_SECOND);
        match taken {
            Ok(_) => Ok(BucketState {
                limit,
                remaining: u32::try_from(
                    capacity
                        .saturating_sub(debt)
                        .checked_div(interval)
                        .unwrap_or(0),
                )
                .unwrap_or(0),
                reset_seconds: seconds(debt),
            }),
            Err(_) => Err(LimitExceeded {
                limit,
                retry_after_seconds: seconds(debt.saturating_sub(capacity)).max(1),
                reset_seconds: seconds(debt.saturating_sub(interval)),
            }),
        }
    }
}

/// `amount` in whole units, rounded up.
pub(super) fn whole(amount: i64, unit: i64) -> u32 {
    let up = amount.max(0).saturating_add(unit.saturating_sub(1));
    u32::try_from(up.checked_div(unit).unwrap_or(0)).unwrap_or(u32::MAX)
}
