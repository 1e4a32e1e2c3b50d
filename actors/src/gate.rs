//! Bounds the commands in flight. Mailboxes are unbounded, so every command passes a gate first; when it is full, the
//! caller gets an error at once and nothing is done.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::answer::Error;

#[derive(Debug)]
pub(crate) struct InFlightLimiter {
    in_flight: AtomicU64,
    max: u64,
    closed: AtomicBool,
    emptied: Notify,
}

impl InFlightLimiter {
    pub(crate) fn new(max: u64) -> Self {
        Self {
            in_flight: AtomicU64::new(0),
            max,
            closed: AtomicBool::new(false),
            emptied: Notify::new(),
        }
    }

    /// Lets `weight` commands in, all or none. Every success needs one [`InFlightLimiter::leave`].
    pub(crate) fn enter(&self, weight: u64) -> Result<(), Error> {
        let before = self.in_flight.fetch_add(weight, Ordering::SeqCst);
        let refused = if self.closed.load(Ordering::SeqCst) {
            Error::Unavailable
        } else if before.saturating_add(weight) > self.max {
            Error::Overloaded
        } else {
            return Ok(());
        };
        self.leave(weight);
        Err(refused)
    }

    pub(crate) fn leave(&self, weight: u64) {
        let before = self.in_flight.fetch_sub(weight, Ordering::SeqCst);
        if before == weight && self.closed.load(Ordering::SeqCst) {
            self.emptied.notify_waiters();
        }
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        loop {
            let emptied = self.emptied.notified();
            tokio::pin!(emptied);
            // Registered before the check, so that no leave is missed.
            emptied.as_mut().enable();
            if self.in_flight.load(Ordering::SeqCst) == 0 {
                return;
            }
            emptied.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_gate_refuses_and_recovers() {
        let gate = InFlightLimiter::new(3);
        assert_eq!(gate.enter(2), Ok(()));
        assert_eq!(gate.enter(2), Err(Error::Overloaded));
        assert_eq!(gate.enter(1), Ok(()));
        gate.leave(3);
        assert_eq!(gate.in_flight(), 0);
    }

    #[tokio::test]
    async fn closing_waits_for_the_last_one() {
        let gate = std::sync::Arc::new(InFlightLimiter::new(3));
        gate.enter(1).unwrap();
        let close_task = tokio::spawn({
            let gate = gate.clone();
            async move { gate.close().await }
        });
        tokio::task::yield_now().await;
        assert_eq!(gate.enter(1), Err(Error::Unavailable));
        assert!(!close_task.is_finished());
        gate.leave(1);
        close_task.await.unwrap();
    }
}
