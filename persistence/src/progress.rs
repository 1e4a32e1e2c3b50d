//! How far the log has come: what is durable, what is folded, and the frames in between. Appends,
//! the log's thread and the checkpointer meet here; nothing here touches the disk.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use crate::{contract::Refused, frame::Place};

/// A durable frame that is not folded yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unfolded {
    pub lsn: u64,
    pub events: u64,
    /// The last ticket in it; 0 when it was recovered.
    pub ticket: u64,
}

#[derive(Default)]
struct State {
    frames: VecDeque<Unfolded>,
    /// Events in `frames`.
    events: u64,
    /// Since when something waits to be folded.
    since: Option<Instant>,
    /// Someone waits for this ticket, and all that was recovered, to be folded.
    asked: Option<u64>,
    /// The last durable frame.
    head: Place,
    stopped: bool,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Progress {
    backlog: AtomicU64,
    durable: AtomicU64,
    folded: AtomicU64,
    state: Mutex<State>,
    /// For the checkpointer.
    work: Condvar,
    /// For those who settle.
    folded_more: Condvar,
}

impl Progress {
    /// After opening: the last frame, and those that are not folded.
    pub(crate) fn recovered(head: Place, frames: Vec<Unfolded>) -> Self {
        let events = frames
            .iter()
            .fold(0_u64, |sum, frame| sum.saturating_add(frame.events));
        let since = (!frames.is_empty()).then(Instant::now);
        let state = State {
            frames: frames.into(),
            events,
            since,
            head,
            ..State::default()
        };
        Self {
            backlog: AtomicU64::new(events),
            state: Mutex::new(state),
            ..Self::default()
        }
    }

    /// Counts events in, unless too many wait already. Called in one order, by the queue.
    pub(crate) fn admit(&self, events: u32, limit: u64) -> Result<(), Refused> {
        if self.backlog() >= limit {
            return Err(Refused::Backlog);
        }
        self.backlog.fetch_add(events.into(), Ordering::Relaxed);
        Ok(())
    }

    /// Events taken in and not folded.
    pub(crate) fn backlog(&self) -> u64 {
        self.backlog.load(Ordering::Relaxed)
    }

    /// The last durable ticket.
    pub(crate) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// The last folded ticket.
    pub(crate) fn folded(&self) -> u64 {
        self.folded.load(Ordering::Acquire)
    }

    /// The last durable frame.
    pub(crate) fn head(&self) -> Place {
        self.state.lock().head
    }

    /// These frames are durable now, the last of them at `head`.
    pub(crate) fn made_durable(&self, frames: &[Unfolded], head: Place, enough: u64) {
        let Some(Unfolded { ticket, .. }) = frames.last().copied() else {
            return;
        };
        let mut state = self.state.lock();
        let slept = state.frames.is_empty() || state.asked.is_some();
        state.head = head;
        state.since.get_or_insert_with(Instant::now);
        let before = state.events;
        for frame in frames {
            state.events = state.events.saturating_add(frame.events);
            state.frames.push_back(*frame);
        }
        self.durable.fetch_max(ticket, Ordering::AcqRel);
        let now_enough = before < enough && state.events >= enough;
        drop(state);
        if slept || now_enough {
            self.work.notify_one();
        }
    }

    /// Waits until there is a reason to fold: `enough` events, the oldest waiting for `interval`,
    /// or someone asking. The oldest frames, about `enough` events; `None` when stopped.
    pub(crate) fn next(&self, enough: u64, interval: Duration) -> Option<Vec<Unfolded>> {
        let mut state = self.state.lock();
        loop {
            if state.stopped {
                return None;
            }
            match state.since {
                None => self.work.wait(&mut state),
                Some(since) => {
                    let due = state.asked.is_some()
                        || state.events >= enough
                        || since.elapsed() >= interval;
                    if due {
                        return Some(oldest(&state.frames, enough));
                    }
                    self.work
                        .wait_for(&mut state, interval.saturating_sub(since.elapsed()));
                }
            }
        }
    }

    /// These frames, the oldest, are folded and dropped now.
    pub(crate) fn made_folded(&self, frames: &[Unfolded]) {
        let mut state = self.state.lock();
        for frame in frames {
            state.frames.pop_front();
            state.events = state.events.saturating_sub(frame.events);
            self.backlog.fetch_sub(frame.events, Ordering::Relaxed);
        }
        let ticket = frames.last().map_or(0, |frame| frame.ticket);
        self.folded.fetch_max(ticket, Ordering::AcqRel);
        state.since = (!state.frames.is_empty()).then(Instant::now);
        if state.asked.is_some_and(|asked| self.reached(&state, asked)) {
            state.asked = None;
        }
        drop(state);
        self.folded_more.notify_all();
    }

    /// Asks for all up to `ticket`, and all that was recovered, to be folded soon.
    pub(crate) fn ask(&self, ticket: u64) {
        let mut state = self.state.lock();
        if !self.reached(&state, ticket) {
            state.asked = state.asked.max(Some(ticket));
            drop(state);
            self.work.notify_one();
        }
    }

    /// Asks and waits. `false`: the log stopped first.
    pub(crate) fn settle(&self, ticket: u64) -> bool {
        self.ask(ticket);
        let mut state = self.state.lock();
        while !self.reached(&state, ticket) {
            if state.stopped {
                return false;
            }
            self.folded_more.wait(&mut state);
        }
        true
    }

    /// Waits while more than `limit` durable events wait to be folded: under a load that folding
    /// cannot follow, callers are slowed down before anybody has to be turned away.
    pub(crate) fn make_room(&self, limit: u64) {
        let mut state = self.state.lock();
        while state.events > limit && !state.stopped {
            self.folded_more.wait(&mut state);
        }
    }

    /// No more folding: the journal closed or failed.
    pub(crate) fn stop(&self) {
        self.state.lock().stopped = true;
        self.work.notify_all();
        self.folded_more.notify_all();
    }

    fn reached(&self, state: &State, ticket: u64) -> bool {
        let recovered_folded = state.frames.front().is_none_or(|frame| frame.ticket > 0);
        recovered_folded && self.folded() >= ticket
    }
}

fn oldest(frames: &VecDeque<Unfolded>, enough: u64) -> Vec<Unfolded> {
    let mut events = 0_u64;
    let few = frames.iter().take_while(|frame| {
        let more = events < enough;
        events = events.saturating_add(frame.events);
        more
    });
    few.copied().collect()
}
