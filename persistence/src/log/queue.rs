//! Where appends wait for the log's thread: one mutex, one buffer that already has the form of a
//! frame's payload. Pushing copies the events in and hands out a ticket; it never waits for a disk.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};

use crate::{
    contract::OnOutcome,
    error::{AppendRefusal, Outcome, Ticket},
    format::append::Append,
    frames::frame,
};

/// Larger buffers are given back after a burst instead of being kept.
const KEPT_BYTES: usize = 8 << 20;

/// Everything that was queued at one moment: the next group commit.
#[derive(Default)]
pub(crate) struct Batch {
    /// Appends in the form of [`frame::push`].
    pub bytes: Vec<u8>,
    /// Callbacks in the order of the tickets, with the outcome `Unknown` until it is known.
    pub waiting: Vec<(OnOutcome, Outcome)>,
    /// How many project events there are in `bytes`.
    pub project_events: u32,
    /// The last ticket before this batch.
    pub before: u64,
}

#[derive(Default)]
struct State {
    batch: Batch,
    /// The last ticket handed out.
    last: u64,
    /// Why nothing is taken in any more.
    stopped: Option<AppendRefusal>,
    /// Whether the log's thread sleeps.
    idle: bool,
}

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Bytes that wait, readable without the lock.
    bytes: AtomicUsize,
    wake: Condvar,
}

impl Queue {
    /// Takes an append in. `on_ticket` is called in the order of the tickets, for appends that write something.
    pub(crate) fn push(
        &self,
        append: &Append,
        done: Option<OnOutcome>,
        on_ticket: impl FnOnce(),
    ) -> Result<Ticket, AppendRefusal> {
        let mut state = self.state.lock();
        if let Some(refused) = state.stopped {
            return Err(refused);
        }
        if let Some(done) = done {
            state.batch.waiting.push((done, Outcome::Unknown));
        }
        // An append of no events only waits for those before it: it has their ticket.
        if append.events() > 0 {
            frame::push(&mut state.batch.bytes, append);
            let project_events = state
                .batch
                .project_events
                .saturating_add(append.project_events());
            state.batch.project_events = project_events;
            self.bytes.store(state.batch.bytes.len(), Ordering::Relaxed);
            state.last = state.last.saturating_add(1);
            on_ticket();
        }
        let ticket = Ticket(state.last);
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        if idle {
            self.wake.notify_one();
        }
        Ok(ticket)
    }

    /// Waits for the next batch; `None` when the queue is stopped and empty. `spent` is an earlier
    /// batch whose buffer is reused.
    pub(crate) fn take(&self, mut spent: Batch) -> Option<Batch> {
        spent.bytes.clear();
        spent.project_events = 0;
        spent.bytes.shrink_to(KEPT_BYTES);
        let mut state = self.state.lock();
        while state.batch.bytes.is_empty() && state.batch.waiting.is_empty() {
            if state.stopped.is_some() {
                return None;
            }
            state.idle = true;
            self.wake.wait(&mut state);
        }
        state.idle = false;
        spent.before = state.last;
        // The group before this one is a good guess at how many will wait, and growing copies.
        spent.waiting = Vec::with_capacity(state.batch.waiting.len().saturating_mul(2));
        self.bytes.store(0, Ordering::Relaxed);
        Some(std::mem::replace(&mut state.batch, spent))
    }

    /// Refuses further appends; what is queued stays for the log's thread. The first reason wins,
    /// but a failure wins over a close.
    pub(crate) fn stop(&self, why: AppendRefusal) {
        let mut state = self.state.lock();
        if state.stopped.is_none() || why == AppendRefusal::Poisoned {
            state.stopped = Some(why);
        }
        drop(state);
        self.wake.notify_all();
    }

    /// Why nothing is taken in any more, if so.
    pub(crate) fn stopped(&self) -> Option<AppendRefusal> {
        self.state.lock().stopped
    }

    /// Bytes that wait for the log's thread.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The last ticket handed out.
    pub(crate) fn last(&self) -> u64 {
        self.state.lock().last
    }
}
