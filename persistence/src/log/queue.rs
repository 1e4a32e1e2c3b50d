//! Where appends wait for the log's thread: one mutex, one buffer that already has the form of a
//! frame's payload. Pushing copies the events in and hands out a ticket; it never waits for a disk.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Instant,
};

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

/// What the log's thread was woken for.
pub(crate) enum Taken {
    /// This is to be written.
    Batch(Batch),
    /// [`Queue::wake`] was called, or it is time. With the buffer that was brought.
    Nothing(Batch),
    /// Nothing is queued, and nothing will be.
    Stopped,
}

#[derive(Default)]
struct State {
    /// Batches that are as large as they may be, the oldest first.
    full: VecDeque<Batch>,
    batch: Batch,
    last: u64,
    stopped: Option<AppendRefusal>,
    idle: bool,
    /// Whether it was called for something else than appends.
    called: bool,
}

pub(crate) struct Queue {
    state: Mutex<State>,
    /// A batch takes nothing more in once it has so many bytes.
    batch_bytes: usize,
    /// Whether the storage of the log cannot be reached.
    unreachable: AtomicBool,
    /// Bytes that wait, readable without the lock.
    bytes: AtomicUsize,
    wake: Condvar,
}

impl Queue {
    /// An empty queue. A batch is closed once it has `batch_bytes`; its last append may exceed that.
    pub(crate) fn new(batch_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            batch_bytes,
            unreachable: AtomicBool::default(),
            bytes: AtomicUsize::default(),
            wake: Condvar::default(),
        }
    }

    /// Takes an append in. `on_ticket` is called in the order of the tickets, for appends that write something, before
    /// the log's thread can see them.
    pub(crate) fn push(
        &self,
        append: &Append,
        done: Option<OnOutcome>,
        on_ticket: impl FnOnce(u64),
    ) -> Result<Ticket, AppendRefusal> {
        let mut state = self.state.lock();
        if let Some(refused) = state.stopped {
            return Err(refused);
        }
        // A caller that only waits may be answered at once; for an append there is room, since it was asked before.
        if append.events() == 0 && self.is_unreachable() {
            return Err(AppendRefusal::Unreachable);
        }
        // An append of no events only waits for those before it: it has their ticket.
        let ticket = state.last.checked_add(u64::from(append.events() > 0));
        let ticket = ticket.ok_or(AppendRefusal::Closed)?;
        if state.batch.bytes.len() >= self.batch_bytes {
            let next = Batch {
                before: state.last,
                ..Batch::default()
            };
            let full = std::mem::replace(&mut state.batch, next);
            state.full.push_back(full);
        }
        if let Some(done) = done {
            state.batch.waiting.push((done, Outcome::Unknown));
        }
        if append.events() > 0 {
            let before = state.batch.bytes.len();
            frame::push(&mut state.batch.bytes, append);
            let added = state.batch.bytes.len().saturating_sub(before);
            state.batch.project_events += append.project_events();
            self.bytes.fetch_add(added, Ordering::Relaxed);
            state.last = ticket;
            on_ticket(ticket);
        }
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        if idle {
            self.wake.notify_one();
        }
        Ok(Ticket(ticket))
    }

    /// Waits for the next batch, a call or an instant. `spent` is an earlier batch whose buffer is reused.
    pub(crate) fn take(
        &self,
        mut spent: Batch,
        not_before: Instant,
        until: Option<Instant>,
    ) -> Taken {
        spent.bytes.clear();
        spent.project_events = 0;
        spent.bytes.shrink_to(KEPT_BYTES);
        let mut state = self.state.lock();
        // An append in that time does not wake the thread.
        while state.full.is_empty() && state.stopped.is_none() && Instant::now() < not_before {
            if std::mem::take(&mut state.called) {
                return Taken::Nothing(spent);
            }
            self.wake.wait_until(&mut state, not_before);
        }
        if let Some(full) = state.full.pop_front() {
            self.bytes.fetch_sub(full.bytes.len(), Ordering::Relaxed);
            return Taken::Batch(full);
        }
        while state.batch.bytes.is_empty() && state.batch.waiting.is_empty() {
            if state.stopped.is_some() {
                return Taken::Stopped;
            }
            if std::mem::take(&mut state.called)
                || until.is_some_and(|until| Instant::now() >= until)
            {
                return Taken::Nothing(spent);
            }
            state.idle = true;
            match until {
                Some(until) => drop(self.wake.wait_until(&mut state, until)),
                None => self.wake.wait(&mut state),
            }
            state.idle = false;
        }
        spent.before = state.last;
        // The group before this one is a good guess at how many will wait, and growing copies.
        spent.waiting = Vec::with_capacity(state.batch.waiting.len() * 2);
        self.bytes
            .fetch_sub(state.batch.bytes.len(), Ordering::Relaxed);
        Taken::Batch(std::mem::replace(&mut state.batch, spent))
    }

    /// Calls the log's thread for something else than an append.
    pub(crate) fn wake(&self) {
        self.state.lock().called = true;
        self.wake.notify_one();
    }

    /// Takes the callers who wait, and leaves what they wait for.
    pub(crate) fn take_waiting(&self) -> Vec<(OnOutcome, Outcome)> {
        let mut state = self.state.lock();
        let State { full, batch, .. } = &mut *state;
        let all = full.iter_mut().chain([batch]);
        all.flat_map(|batch| std::mem::take(&mut batch.waiting))
            .collect()
    }

    pub(crate) fn set_unreachable(&self, unreachable: bool) {
        self.unreachable.store(unreachable, Ordering::Release);
    }

    pub(crate) fn is_unreachable(&self) -> bool {
        self.unreachable.load(Ordering::Acquire)
    }

    /// Refuses further appends; what is queued stays for the log's thread. The first reason wins,
    /// but a failure wins over a close.
    pub(crate) fn stop(&self, why: AppendRefusal) {
        let mut state = self.state.lock();
        if state.stopped.is_none() || matches!(why, AppendRefusal::Poisoned | AppendRefusal::Fenced)
        {
            state.stopped = Some(why);
        }
        drop(state);
        self.wake.notify_all();
    }

    pub(crate) fn stopped(&self) -> Option<AppendRefusal> {
        self.state.lock().stopped
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn last(&self) -> u64 {
        self.state.lock().last
    }
}
