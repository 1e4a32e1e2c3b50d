//! Group commit: one thread takes all that is queued, makes frames of it and starts to write them; once the
//! oldest group under way is durable, it lets every append in it be answered. It never answers first, and
//! never tries a failed write again. Where an answer was lost, it asks what became of the groups under way, and writes
//! those again that are not in the log.

use std::{
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{
    answer::{PanicGuard, answer},
    idle_threads::IdleThreads,
    pacing::Pacing,
    progress::PendingFrame,
    project_events,
    queue::{Batch, Taken},
    shared::{Disk, Shared},
};
use crate::{
    error::{Error, Outcome},
    frames::{Group, Resolved, SharedFrames, Window, Written, lease::HEARTBEAT_INTERVAL},
    sled_error::caught,
};

/// The typical size of an event in the log.
const EVENT_BYTES: usize = 128;
/// Callers who waited for so long hear that the outcome is unknown.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause between two attempts to reopen the log.
const REOPEN_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) fn run(shared: &Shared, disk: &Arc<Disk>) -> Result<(), Error> {
    let _answers = PanicGuard(shared, disk);
    let _idle = shared
        .options
        .occupy_idle_threads
        .then(|| IdleThreads::occupy(&disk.database.sled));
    // Far enough from the limit for all that may be in flight by then.
    let enough = shared.options.backlog_limit.most();
    let mut commit = Commit {
        shared,
        disk,
        window: Window::new(disk.frames.depth(), shared.progress.head()),
        frame: Vec::new(),
        spare: Batch::default(),
        pacing: match disk.frames.shared() {
            Some(_) => Pacing::shared(disk.frames.depth()),
            None => Pacing::alone(),
        },
        not_before: Instant::now(),
        started: Instant::now(),
        ended: Instant::now(),
    };
    if let Some(others) = commit.shared_frames() {
        let queue = Arc::clone(&shared.queue);
        others.on_answer(Arc::new(move || queue.wake()));
    }
    loop {
        while !commit.window.is_empty() && (!commit.window.has_room() || commit.is_answered()) {
            commit.finish();
        }
        let until = commit.beat_at();
        let spare = std::mem::take(&mut commit.spare);
        match shared.queue.take(spare, commit.not_before, until) {
            Taken::Batch(batch) => {
                shared.progress.make_room(enough);
                commit.start(Source::new(batch));
            }
            Taken::Nothing(spare) => {
                commit.spare = spare;
                if until.is_some_and(|until| Instant::now() >= until) {
                    commit.start_beat();
                }
            }
            Taken::Stopped if commit.window.is_empty() => {
                commit.close();
                return Ok(());
            }
            Taken::Stopped => commit.finish(),
        }
    }
}

fn events_in(bytes: usize) -> u32 {
    u32::try_from(bytes / EVENT_BYTES).unwrap_or(u32::MAX)
}

struct Source {
    batch: Batch,
    started: Instant,
}

impl Source {
    fn new(batch: Batch) -> Self {
        Self {
            batch,
            started: Instant::now(),
        }
    }
}

struct Commit<'a> {
    shared: &'a Shared,
    disk: &'a Arc<Disk>,
    /// Groups under way, with the batches that they were made from.
    window: Window<Source>,
    frame: Vec<u8>,
    spare: Batch,
    pacing: Pacing,
    not_before: Instant,
    started: Instant,
    ended: Instant,
}

impl Commit<'_> {
    /// The further operations of a log that several processes may write; `None` for a local one.
    fn shared_frames(&self) -> Option<&dyn SharedFrames> {
        self.disk.frames.shared()
    }

    fn is_answered(&self) -> bool {
        self.shared_frames().is_none_or(SharedFrames::is_answered)
    }

    /// When a heartbeat is due, unless something else is started before.
    fn beat_at(&self) -> Option<Instant> {
        let is_due =
            self.window.has_room() && self.shared_frames().is_some() && !self.shared.failed();
        is_due
            .then(|| self.started.checked_add(HEARTBEAT_INTERVAL))
            .flatten()
    }

    fn start(&mut self, source: Source) {
        let behind = self.window.head();
        // sled panics on some errors: those who wait must hear of that too.
        let started = caught(|| {
            let mut group = Group::of(&source.batch.bytes, behind, &mut self.frame)?;
            // Readers alone. Without a right to answer from memory they wait for a frame that shows who leads.
            if group.frames.is_empty()
                && let Some(others) = self.disk.frames.shared()
            {
                group = others.heartbeat(behind)?;
            }
            if !self.shared.failed() && !group.frames.is_empty() {
                self.disk.frames.start(&group)?;
            }
            Ok(group)
        });
        let (group, failed) = match started {
            Ok(group) => (group, None),
            Err(error) => (Group::empty(behind), Some(error)),
        };
        for frame in &group.frames {
            self.shared.space.wrote(frame.bytes.len());
        }
        self.started = Instant::now();
        if self.shared_frames().is_some() {
            self.rest(0);
        }
        self.window.push(group, source);
        if let Some(error) = failed {
            self.fail(&error, None);
        }
    }

    fn start_beat(&mut self) {
        self.start(Source::new(Batch {
            before: self.shared.progress.durable(),
            ..Batch::default()
        }));
    }

    /// Waits for the oldest group and answers its callers.
    fn finish(&mut self) {
        let Some(oldest) = self.window.oldest() else {
            return;
        };
        // A batch of waiting readers alone may have nothing to write: all before it is durable already.
        let has_frames = !oldest.frames.is_empty();
        if self.shared.failed() {
            return self.answer_all();
        }
        let written = match has_frames {
            true => caught(|| self.disk.frames.finish()),
            false => Ok(Written::Durable),
        };
        match written {
            // Another thread's failure may mean that this one did not reach the disk either.
            Ok(_) if self.shared.failed() => self.answer_all(),
            Ok(Written::Durable) => {
                if let Some((group, source)) = self.window.pop() {
                    self.made_durable(&group, source);
                }
            }
            Ok(Written::Unknown) => self.reopen(),
            Err(error) => self.fail(&error, None),
        }
    }

    /// Asks what became of the groups under way until it is known, and starts those again that are not in the log.
    fn reopen(&mut self) {
        self.shared.queue.set_unreachable(true);
        let since = Instant::now();
        let found = loop {
            match self.shared_frames().map_or(Ok(None), SharedFrames::reopen) {
                Ok(Some(found)) => break found,
                Ok(None) => {}
                Err(error) => return self.fail(&error, None),
            }
            if self.shared.failed() {
                return self.answer_all();
            }
            self.answer_overdue(since);
            let stopping = self.shared.queue.stopped().is_some();
            if stopping && since.elapsed() >= COMMIT_TIMEOUT {
                let why = Error::Io("the log cannot be reached, and is to be closed".into());
                return self.fail(&why, None);
            }
            thread::sleep(REOPEN_INTERVAL);
        };
        let Resolved { durable, again } = self.window.resolve(&found);
        for (group, source) in durable {
            self.made_durable(&group, source);
        }
        let enough = self.shared.options.checkpoint;
        self.shared.progress.opened(&found, enough);
        self.shared.queue.set_unreachable(false);
        for source in again {
            self.start(source);
        }
    }

    /// Tells those who have waited for too long that the outcome is unknown; what they wait for stays.
    fn answer_overdue(&mut self, since: Instant) {
        let shared = self.shared;
        for source in self.window.sources() {
            if source.started.elapsed() >= COMMIT_TIMEOUT {
                answer(shared, &mut source.batch.waiting, Outcome::Unknown);
            }
        }
        if since.elapsed() >= COMMIT_TIMEOUT {
            answer(shared, &mut shared.queue.take_waiting(), Outcome::Unknown);
        }
    }

    /// Shows project events to their readers, before a checkpoint can reach them and find them missing.
    fn publish(&self, group: &Group, batch: &Batch) -> Result<(), Error> {
        let mut all = Vec::new();
        if batch.project_events > 0 {
            for frame in &group.frames {
                all.append(&mut project_events::of_frame(&frame.bytes)?);
            }
        }
        self.shared.project_events.publish(all);
        Ok(())
    }

    fn made_durable(&mut self, group: &Group, Source { batch, started }: Source) {
        let shared = self.shared;
        if let Err(error) = caught(|| self.publish(group, &batch)) {
            return self.fail(&error, Some(batch));
        }
        let events = events_in(batch.bytes.len());
        let took = started.elapsed();
        let committed = !group.frames.is_empty();
        if committed {
            shared.latency.count(took);
        }
        let frames = self.pending(group, &batch);
        let enough = shared.options.checkpoint;
        shared.progress.made_durable(frames, group.last(), enough);
        self.answer(batch, Outcome::Durable);
        if committed {
            let queued = events_in(shared.queue.bytes());
            self.pacing
                .count(events, took, self.ended.elapsed(), queued);
            self.ended = Instant::now();
            if self.shared_frames().is_none() {
                self.rest(queued);
            }
        }
    }

    /// Lets the next group wait for callers, of whom so many events have come.
    fn rest(&mut self, queued: u32) {
        let now = Instant::now();
        let until = now.checked_add(self.pacing.rest(queued));
        self.not_before = until.unwrap_or(now);
    }

    fn pending(&self, group: &Group, batch: &Batch) -> Vec<PendingFrame> {
        let shared = self.shared;
        let keep = shared.progress.waiting_bytes() < shared.options.frame_bytes;
        let mut before = group.behind;
        let mut ticket = batch.before;
        let mut pending = Vec::with_capacity(group.frames.len());
        for frame in &group.frames {
            // A frame without events has no appends of callers.
            let (appends, length) = match frame.events {
                0 => (0, 0),
                _ => (frame.appends, frame.payload_bytes),
            };
            ticket += u64::from(appends);
            pending.push(PendingFrame {
                place: frame.place,
                before: std::mem::replace(&mut before, frame.place),
                events: frame.events,
                length,
                ticket,
                frame: keep.then(|| Arc::clone(&frame.bytes)),
            });
        }
        pending
    }

    /// Says that this process leads no more, where others may take its place.
    fn close(&mut self) {
        let Some(others) = self.shared_frames() else {
            return;
        };
        // Nothing is answered from memory behind a resignation.
        others.lease().give_up();
        if self.shared.failed() {
            return;
        }
        let takes = self.shared.leaving.load(Ordering::Acquire);
        let closed = caught(|| {
            let group = others.resignation(self.window.head(), takes)?;
            self.disk.frames.start(&group)?;
            Ok((self.disk.frames.finish()?, group))
        });
        match closed {
            Ok((Written::Durable, group)) => {
                let frames = self.pending(&group, &Batch::default());
                let enough = self.shared.options.checkpoint;
                self.shared
                    .progress
                    .made_durable(frames, group.last(), enough);
            }
            Ok((Written::Unknown, _)) if takes => {
                let why = "whether the log lets itself be taken along is not known";
                self.fail(&Error::Io(why.into()), None);
            }
            Ok((Written::Unknown, _)) => {
                tracing::warn!("Whether the log says that this process has stopped is not known");
            }
            Err(error) => self.fail(&error, None),
        }
    }

    /// Stops the log for good. `oldest`, which is no longer in the window, and every group in it get the answer "unknown".
    fn fail(&mut self, error: &Error, oldest: Option<Batch>) {
        // Refuse first, so that no caller who is answered "unknown" can append again.
        self.shared.fail(self.disk, error);
        if let Some(batch) = oldest {
            self.answer(batch, Outcome::Unknown);
        }
        self.answer_all();
    }

    fn answer_all(&mut self) {
        while let Some((_, source)) = self.window.pop() {
            self.answer(source.batch, Outcome::Unknown);
        }
    }

    fn answer(&mut self, mut batch: Batch, outcome: Outcome) {
        answer(self.shared, &mut batch.waiting, outcome);
        self.spare = batch;
    }
}
