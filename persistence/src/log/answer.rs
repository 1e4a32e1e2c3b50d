//! Answers those who wait for the log's thread, however that ends.

use std::{sync::Arc, thread};

use super::shared::{Disk, Shared};
use crate::error::{Error, Outcome};

/// Answers callers. They wait as "unknown": only success has to be noted.
pub(super) fn answer(
    shared: &Shared,
    waiting: &mut Vec<(crate::contract::OnOutcome, Outcome)>,
    outcome: Outcome,
) {
    let mut waiting = std::mem::take(waiting);
    if waiting.is_empty() {
        return;
    }
    if outcome == Outcome::Durable {
        for (_, noted) in &mut waiting {
            *noted = Outcome::Durable;
        }
    }
    (shared.options.completions)(waiting);
}

/// However this thread ends, no caller is left waiting in the queue.
pub(super) struct PanicGuard<'a>(pub &'a Shared, pub &'a Arc<Disk>);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0
                .fail(self.1, &Error::Io("the log's thread panicked".into()));
            answer(self.0, &mut self.0.queue.take_waiting(), Outcome::Unknown);
        }
        self.0.all_answered();
    }
}
