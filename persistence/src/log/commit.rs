//! Group commit: one thread takes whatever is queued, makes frames of it and starts to write them; once the
//! oldest group under way is durable, it lets every append in it be answered. It never answers first, and
//! never tries a failed write again.

use std::{sync::Arc, thread, time::Instant};

use super::{
    idle_threads::IdleThreads,
    pacing::Pacing,
    progress::UnfoldedFrame,
    project_events,
    queue::Batch,
    shared::{Disk, Shared},
};
use crate::{
    error::{Error, Outcome},
    frames::{Group, Window},
    sled_error::caught,
};

/// The typical size of an event in the log.
const EVENT_BYTES: usize = 128;

/// Runs the log's thread until the queue is stopped and empty.
pub(crate) fn run(shared: &Shared, disk: &Arc<Disk>) -> Result<(), Error> {
    let _answers = PanicGuard(shared, disk);
    let _idle = shared
        .options
        .occupy_idle_threads
        .then(|| IdleThreads::occupy(&disk.database.sled));
    // Far enough from the limit for all that may be in flight meanwhile.
    let enough = shared.options.backlog_limit.most();
    let mut commit = Commit {
        shared,
        disk,
        window: Window::new(disk.frames.depth(), shared.progress.head()),
        frame: Vec::new(),
        spare: Batch::default(),
        pacing: Pacing::default(),
        ended: Instant::now(),
    };
    loop {
        // With a group under way, only for more that is there already.
        while commit.window.has_room() && (commit.window.is_empty() || shared.queue.bytes() > 0) {
            let Some(batch) = shared.queue.take(std::mem::take(&mut commit.spare)) else {
                return Ok(());
            };
            shared.progress.make_room(enough);
            commit.start(batch);
        }
        commit.finish();
    }
}

/// About how many events there are in so many bytes of appends.
fn events_in(bytes: usize) -> u32 {
    u32::try_from(bytes / EVENT_BYTES).unwrap_or(u32::MAX)
}

/// What is queued becomes a group.
struct Taken {
    batch: Batch,
    started: Instant,
}

struct Commit<'a> {
    shared: &'a Shared,
    disk: &'a Arc<Disk>,
    /// Groups under way, with the batches that they were made from.
    window: Window<Taken>,
    /// The buffer that frames are built in.
    frame: Vec<u8>,
    /// A batch that was answered, for its buffers.
    spare: Batch,
    pacing: Pacing,
    /// When the last group was answered.
    ended: Instant,
}

impl Commit<'_> {
    /// Makes a group of a batch and starts to write it.
    fn start(&mut self, batch: Batch) {
        let taken = Taken {
            batch,
            started: Instant::now(),
        };
        let behind = self.window.head();
        // sled panics on some errors: those who wait must hear of that too.
        let started = caught(|| {
            let group = Group::of(&taken.batch.bytes, behind, &mut self.frame)?;
            if !self.shared.failed() {
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
        self.window.push(group, taken);
        if let Some(error) = failed {
            self.fail(&error, None);
        }
    }

    /// Waits for the oldest group and answers its callers.
    fn finish(&mut self) {
        let Some((group, Taken { batch, started })) = self.window.pop() else {
            return;
        };
        if self.shared.failed() {
            return self.answer(batch, Outcome::Unknown);
        }
        let written = caught(|| {
            // A batch of waiting readers alone: all before it is durable already.
            if !group.frames.is_empty() {
                self.disk.frames.finish()?;
            }
            self.publish(&group, &batch)
        });
        match written {
            // Another thread's failure may mean that this one did not reach the disk either.
            Ok(()) if self.shared.failed() => self.answer(batch, Outcome::Unknown),
            Ok(()) => self.made_durable(&group, batch, started),
            Err(error) => self.fail(&error, Some(batch)),
        }
    }

    /// Shows project events to their readers, before a fold can reach them and find them missing.
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

    fn made_durable(&mut self, group: &Group, batch: Batch, started: Instant) {
        let shared = self.shared;
        let events = events_in(batch.bytes.len());
        let took = started.elapsed();
        let committed = !group.frames.is_empty();
        if committed {
            shared.latency.count(took);
        }
        let frames = self.unfolded(group, batch.before);
        let enough = shared.options.checkpoint;
        shared.progress.made_durable(frames, group.last(), enough);
        self.answer(batch, Outcome::Durable);
        if committed {
            let queued = events_in(shared.queue.bytes());
            self.pacing
                .count(events, took, self.ended.elapsed(), queued);
            self.ended = Instant::now();
            thread::sleep(self.pacing.rest(queued));
        }
    }

    /// What there is to fold of a group, whose first ticket is behind this one.
    fn unfolded(&self, group: &Group, mut ticket: u64) -> Vec<UnfoldedFrame> {
        let shared = self.shared;
        let keep = shared.progress.waiting_bytes() < shared.options.frame_bytes;
        let mut before = group.behind;
        let mut unfolded = Vec::with_capacity(group.frames.len());
        for frame in &group.frames {
            ticket = ticket.saturating_add(frame.appends.into());
            unfolded.push(UnfoldedFrame {
                place: frame.place,
                before: std::mem::replace(&mut before, frame.place),
                events: frame.events,
                length: frame.payload_bytes,
                ticket,
                frame: keep.then(|| Arc::clone(&frame.bytes)),
            });
        }
        unfolded
    }

    /// Stops the log for good: the oldest batch, if it is not under way any more, and all that are have an unknown
    /// outcome.
    fn fail(&mut self, error: &Error, oldest: Option<Batch>) {
        // Refuse first, so that nobody who hears "unknown" can append again.
        self.shared.fail(self.disk, error);
        if let Some(batch) = oldest {
            self.answer(batch, Outcome::Unknown);
        }
        while let Some((_, taken)) = self.window.pop() {
            self.answer(taken.batch, Outcome::Unknown);
        }
    }

    fn answer(&mut self, mut batch: Batch, outcome: Outcome) {
        answer(self.shared, &mut batch, outcome);
        self.spare = batch;
    }
}

fn answer(shared: &Shared, batch: &mut Batch, outcome: Outcome) {
    let mut waiting = std::mem::take(&mut batch.waiting);
    if waiting.is_empty() {
        return;
    }
    // They wait as "unknown": only success has to be noted.
    if outcome == Outcome::Durable {
        for (_, noted) in &mut waiting {
            *noted = Outcome::Durable;
        }
    }
    (shared.options.completions)(waiting);
}

/// However this thread ends, nobody is left waiting in the queue.
struct PanicGuard<'a>(&'a Shared, &'a Arc<Disk>);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0
                .fail(self.1, &Error::Io("the log's thread panicked".into()));
            if let Some(mut batch) = self.0.queue.take(Batch::default()) {
                answer(self.0, &mut batch, Outcome::Unknown);
            }
        }
        self.0.all_answered();
    }
}
