//! A rolling window: at most so many events in so many seconds, by their instants.

use std::collections::VecDeque;

use domain::{Timestamp, catalog::CreationLimit};

use super::{bucket::whole, exceeded::LimitExceeded};

/// A window keeps at most so many instants. With a larger limit, events that are closer together
/// than this part of the window share one instant, the later one: they are forgotten a little late,
/// never early.
const MAX_INSTANTS: u32 = 4096;

/// The events of the last while, oldest first.
#[derive(Debug, Default)]
pub(super) struct Window {
    events: VecDeque<Events>,
    count: u32,
}

/// Events that count as one instant, the last one's.
#[derive(Debug, Clone, Copy)]
struct Events {
    first: Timestamp,
    last: Timestamp,
    number: u32,
}

impl Window {
    /// Whether one more is allowed; counts nothing.
    pub(super) fn check(
        &mut self,
        limit: CreationLimit,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        self.forget(limit, now);
        if self.count < limit.max {
            Ok(())
        } else {
            Err(self.refusal(limit, now))
        }
    }

    /// Counts one, unless that passes the limit.
    pub(super) fn take(
        &mut self,
        limit: CreationLimit,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        self.check(limit, now)?;
        self.count = self.count.saturating_add(1);
        let grain = if limit.max <= MAX_INSTANTS {
            0
        } else {
            millis(limit)
                .checked_div(i64::from(MAX_INSTANTS))
                .unwrap_or(0)
        };
        match self.events.back_mut() {
            Some(events) if now.0.saturating_sub(events.first.0) <= grain => {
                events.last = now.max(events.last);
                events.number = events.number.saturating_add(1);
            }
            _ => self.events.push_back(Events {
                first: now,
                last: now,
                number: 1,
            }),
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn give_back(&mut self) {
        let Some(newest) = self.events.back_mut() else {
            return;
        };
        newest.number = newest.number.saturating_sub(1);
        self.count = self.count.saturating_sub(1);
        if newest.number == 0 {
            self.events.pop_back();
        }
    }

    fn forget(&mut self, limit: CreationLimit, now: Timestamp) {
        while let Some(oldest) = self.events.front().copied() {
            if oldest.gone_at(limit) > now {
                break;
            }
            self.events.pop_front();
            self.count = self.count.saturating_sub(oldest.number);
        }
    }

    fn refusal(&self, limit: CreationLimit, now: Timestamp) -> LimitExceeded {
        // A limit that was lowered needs more than the oldest to go. A limit of 0 never allows one, and may be raised:
        // the caller tries again after a window.
        let mut excess = self.count.saturating_sub(limit.max).saturating_add(1);
        let mut free_at = now.plus_seconds(i64::from(limit.window_seconds));
        for events in &self.events {
            excess = excess.saturating_sub(events.number);
            if excess == 0 {
                free_at = events.gone_at(limit);
                break;
            }
        }
        let empty_at = self
            .events
            .back()
            .map_or(free_at, |newest| newest.gone_at(limit));
        let seconds = |instant: Timestamp| whole(instant.0.saturating_sub(now.0), 1000);
        LimitExceeded {
            limit: limit.max,
            retry_after_seconds: seconds(free_at).max(1),
            reset_seconds: seconds(empty_at),
        }
    }
}

impl Events {
    const fn gone_at(self, limit: CreationLimit) -> Timestamp {
        self.last.plus_seconds(limit.window_seconds as i64)
    }
}

fn millis(limit: CreationLimit) -> i64 {
    i64::from(limit.window_seconds).saturating_mul(1000)
}
