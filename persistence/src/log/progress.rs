//! How far the log has come: what is durable, what is applied, and the frames in between. Appends,
//! the log's thread and the checkpointer meet here; nothing here touches the disk.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use crate::{contract::Backlog, frames::FramePosition};

/// Frames without events are applied with the next that has some, or once there are so many.
const EMPTY_FRAMES: usize = 1024;

/// A durable frame that is not applied yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingFrame {
    pub place: FramePosition,
    /// The frame before it.
    pub before: FramePosition,
    pub events: u64,
    /// The frame's length in bytes; 0 without events.
    pub length: u64,
    /// The last ticket in it; 0 when it was recovered.
    pub ticket: u64,
    /// The frame itself, unless too much is in memory already.
    pub frame: Option<Arc<[u8]>>,
}

#[derive(Default)]
struct State {
    frames: VecDeque<PendingFrame>,
    /// Events and bytes of `frames`.
    waiting: Backlog,
    /// Since when something waits to be applied.
    since: Option<Instant>,
    /// A ticket that a caller waits for, to be applied after all that was recovered.
    awaited: Option<u64>,
    head: FramePosition,
    stopped: bool,
    /// The checkpointer has something else to do.
    nudged: bool,
}

impl State {
    /// Now, if there is a reason to apply.
    fn reason(&self) -> Option<Instant> {
        let frames = &self.frames;
        let enough = || frames.len() >= EMPTY_FRAMES || frames.iter().any(|frame| frame.events > 0);
        let reason = !frames.is_empty() && (self.awaited.is_some() || enough());
        reason.then(Instant::now)
    }
}

#[derive(Default)]
pub(crate) struct LogProgress {
    events: AtomicU64,
    bytes: AtomicU64,
    durable: AtomicU64,
    applied: AtomicU64,
    state: Mutex<State>,
    work: Condvar,
    applied_more: Condvar,
}

impl LogProgress {
    /// The progress after opening: the last frame, and those that are not applied.
    pub(crate) fn recovered(head: FramePosition, frames: Vec<PendingFrame>) -> Self {
        let waiting = frames
            .iter()
            .fold(Backlog::default(), |sum, frame| sum.plus(frame));
        let mut state = State {
            frames: frames.into(),
            waiting,
            head,
            ..State::default()
        };
        state.since = state.reason();
        Self {
            events: waiting.events.into(),
            bytes: waiting.bytes.into(),
            state: Mutex::new(state),
            ..Self::default()
        }
    }

    pub(crate) fn count_append(&self, events: u32, bytes: usize) {
        self.events.fetch_add(events.into(), Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn backlog(&self) -> Backlog {
        Backlog {
            events: self.events.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.state.lock().waiting.bytes
    }

    pub(crate) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    pub(crate) fn applied(&self) -> u64 {
        self.applied.load(Ordering::Acquire)
    }

    pub(crate) fn head(&self) -> FramePosition {
        self.state.lock().head
    }

    /// Adds frames that are durable now, the last of them at `head`.
    pub(crate) fn made_durable(
        &self,
        frames: Vec<PendingFrame>,
        head: FramePosition,
        enough: Backlog,
    ) {
        let Some(ticket) = frames.last().map(|frame| frame.ticket) else {
            return;
        };
        let mut state = self.state.lock();
        let slept = state.since.is_none() || state.awaited.is_some();
        state.head = head;
        let before = state.waiting;
        for frame in frames {
            state.waiting = state.waiting.plus(&frame);
            state.frames.push_back(frame);
        }
        state.since = state.since.or_else(|| state.reason());
        self.durable.fetch_max(ticket, Ordering::AcqRel);
        let now_enough = !before.reaches(enough) && state.waiting.reaches(enough);
        drop(state);
        if slept || now_enough {
            self.work.notify_one();
        }
    }

    /// Adds term starts of this process: those of the places that are behind the last durable frame.
    pub(crate) fn opened(&self, found: &[FramePosition], enough: Backlog) {
        let head = self.head();
        let mut before = head;
        let starts = found.iter().filter(|place| place.lsn > head.lsn);
        let starts: Vec<_> = starts
            .map(|place| PendingFrame {
                place: *place,
                before: std::mem::replace(&mut before, *place),
                events: 0,
                length: 0,
                ticket: self.durable(),
                frame: None,
            })
            .collect();
        self.made_durable(starts, before, enough);
    }

    /// Waits, if it is to `wait`, until there is a reason to apply: `enough` of it, the oldest waiting for `interval`,
    /// or someone asking. Returns the oldest frames, about `enough`, or none; `None` when stopped.
    pub(crate) fn next(
        &self,
        enough: Backlog,
        interval: Duration,
        wait: bool,
    ) -> Option<Vec<PendingFrame>> {
        let mut state = self.state.lock();
        loop {
            if state.stopped {
                return None;
            }
            let wait = wait && !std::mem::take(&mut state.nudged);
            match state.since {
                None if !wait => return Some(Vec::new()),
                None => self.work.wait(&mut state),
                Some(since) => {
                    let due = state.awaited.is_some()
                        || state.waiting.reaches(enough)
                        || since.elapsed() >= interval;
                    if due {
                        return Some(oldest(&state.frames, enough));
                    }
                    if !wait {
                        return Some(Vec::new());
                    }
                    self.work
                        .wait_for(&mut state, interval.saturating_sub(since.elapsed()));
                }
            }
        }
    }

    pub(crate) fn made_applied(&self, frames: &[PendingFrame]) {
        let mut state = self.state.lock();
        for frame in frames {
            state.frames.pop_front();
            state.waiting.events = state.waiting.events.saturating_sub(frame.events);
            state.waiting.bytes = state.waiting.bytes.saturating_sub(frame.length);
            self.events.fetch_sub(frame.events, Ordering::Relaxed);
            self.bytes.fetch_sub(frame.length, Ordering::Relaxed);
        }
        let ticket = frames.last().map_or(0, |frame| frame.ticket);
        self.applied.fetch_max(ticket, Ordering::AcqRel);
        if state
            .awaited
            .is_some_and(|ticket| self.is_applied(&state, ticket))
        {
            state.awaited = None;
        }
        state.since = state.reason();
        drop(state);
        self.applied_more.notify_all();
    }

    /// Wakes the checkpointer for something other than a checkpoint.
    pub(crate) fn nudge(&self) {
        self.state.lock().nudged = true;
        self.work.notify_one();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.state.lock().stopped
    }

    /// Asks for all up to `ticket`, and all that was recovered, to be applied soon.
    pub(crate) fn ask(&self, ticket: u64) {
        let mut state = self.state.lock();
        if !self.is_applied(&state, ticket) {
            state.awaited = state.awaited.max(Some(ticket));
            state.since = state.since.or_else(|| state.reason());
            drop(state);
            self.work.notify_one();
        }
    }

    /// Asks as [`Self::ask`] does, and waits. `false` if the log stopped first.
    pub(crate) fn wait_for(&self, ticket: u64) -> bool {
        self.ask(ticket);
        let mut state = self.state.lock();
        while !self.is_applied(&state, ticket) {
            if state.stopped {
                return false;
            }
            self.applied_more.wait(&mut state);
        }
        true
    }

    /// Waits while more than `limit` of what is durable waits to be applied: under a load that checkpoints
    /// cannot follow, callers are slowed down before any has to be refused.
    pub(crate) fn make_room(&self, limit: Backlog) {
        let mut state = self.state.lock();
        while state.waiting.reaches(limit) && !state.stopped {
            self.applied_more.wait(&mut state);
        }
    }

    /// Ends checkpoints: the journal closed or failed.
    pub(crate) fn stop(&self) {
        self.state.lock().stopped = true;
        self.work.notify_all();
        self.applied_more.notify_all();
    }

    fn is_applied(&self, state: &State, ticket: u64) -> bool {
        let recovered_applied = state.frames.front().is_none_or(|frame| frame.ticket > 0);
        recovered_applied && self.applied() >= ticket
    }
}

impl Backlog {
    fn plus(self, frame: &PendingFrame) -> Self {
        Self {
            events: self.events.saturating_add(frame.events),
            bytes: self.bytes.saturating_add(frame.length),
        }
    }
}

fn oldest(frames: &VecDeque<PendingFrame>, enough: Backlog) -> Vec<PendingFrame> {
    let mut sum = Backlog::default();
    let few = frames.iter().take_while(|frame| {
        let more = !sum.reaches(enough);
        sum = sum.plus(frame);
        more
    });
    few.cloned().collect()
}
