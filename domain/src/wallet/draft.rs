//! A decision of several steps: each is decided on the wallet as the steps before it leave it. The
//! events are logged as one append, so that they become visible together or not at all.

use super::{Change, Event, Wallet};
use crate::time::Timestamp;

/// A wallet's copy to decide on, and the events so far.
pub(super) struct Draft {
    pub(super) wallet: Wallet,
    pub(super) now: Timestamp,
    events: Vec<Event>,
}

impl Draft {
    pub(super) fn on(wallet: &Wallet, now: Timestamp) -> Self {
        Self {
            wallet: wallet.clone(),
            now,
            events: Vec::new(),
        }
    }

    /// The next step.
    pub(super) fn push(&mut self, change: Change) {
        let at = self.wallet.date(self.now);
        self.log(Event { at, change });
    }

    /// What a step made fall due: credits whose end was moved to now.
    pub(super) fn catch_up(&mut self) {
        while let Some(event) = self.wallet.next_due(&[], self.now) {
            if !self.log(event) {
                return;
            }
        }
    }

    /// All steps; none: nothing changes.
    pub(super) fn finish(mut self) -> Vec<Event> {
        self.catch_up();
        self.events
    }

    /// Whether the event fits. One that does not is a defect; it is kept, so that whoever applies
    /// the decision meets the same error where it is dealt with.
    fn log(&mut self, event: Event) -> bool {
        let fits = self.wallet.apply(event.clone()).is_ok();
        self.events.push(event);
        fits
    }
}
