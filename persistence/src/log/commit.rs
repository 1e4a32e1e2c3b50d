//! Group commit: one thread takes whatever is queued, writes it as frames, makes them durable with
//! one flush, and only then lets every append in them be answered. It never answers first, and
//! never tries a failed flush again.
//!
//! sled's word for a flush is not enough. Linux reports a write-back error once to each descriptor,
//! and all of sled's threads sync on one: its periodic flusher, which logs the error and goes on,
//! the cutting off of free space at the end of the file, and writers of other buffers, which report
//! it too late. When one of them hears of the error in our frame first, the sync that our flush
//! waits for succeeds. So a descriptor that only this thread syncs is asked before any answer.
//! Nothing is left to write by then: a lone caller waits a tenth or two longer, many at once do
//! not. (Without the flusher the files grow by a half; and of all calls only `sync_file_range`,
//! which cannot be called safely, asks without emptying the disk's cache once more.)

use std::{sync::Arc, thread, time::Instant};

use super::{
    frame::{self, FramePosition},
    idle_threads::IdleThreads,
    pacing::Pacing,
    progress::UnfoldedFrame,
    project_events,
    queue::Batch,
    shared::{Disk, Shared},
    sled_error::{caught, failed},
};
use crate::{
    error::{Error, Outcome},
    options::Step,
};

/// The typical size of an event in the log.
const EVENT_BYTES: usize = 128;

/// Runs the log's thread until the queue is stopped and empty.
pub(crate) fn run(shared: &Shared, disk: &Arc<Disk>) -> Result<(), Error> {
    let _answers = PanicGuard(shared, disk);
    let mut commit = Commit {
        shared,
        disk,
        head: shared.progress.head(),
        frame: Vec::new(),
    };
    let mut batch = Batch::default();
    let _idle = shared
        .options
        .occupy_idle_threads
        .then(|| IdleThreads::occupy(&disk.database.sled));
    // Far enough from the limit for all that may be in flight meanwhile.
    let enough = shared.options.backlog_limit.most();
    let mut pacing = Pacing::default();
    let mut ended = Instant::now();
    loop {
        let Some(taken) = shared.queue.take(batch) else {
            return Ok(());
        };
        shared.progress.make_room(enough);
        batch = taken;
        if shared.failed() {
            commit.answer(&mut batch, Outcome::Unknown);
            continue;
        }
        // sled panics on some errors: those who wait must hear of that too.
        let started = Instant::now();
        let written = caught(|| commit.write(&batch));
        match written {
            // Another thread's failure may mean that this flush did not reach the disk either.
            Ok(_) if shared.failed() => commit.answer(&mut batch, Outcome::Unknown),
            Ok(frames) => {
                let committed = !frames.is_empty();
                let took = started.elapsed();
                if committed {
                    shared.latency.count(took);
                }
                let events = events_in(batch.bytes.len());
                let enough = shared.options.checkpoint;
                shared.progress.made_durable(frames, commit.head, enough);
                commit.answer(&mut batch, Outcome::Durable);
                if committed {
                    let queued = events_in(shared.queue.bytes());
                    pacing.count(events, took, ended.elapsed(), queued);
                    ended = Instant::now();
                    thread::sleep(pacing.rest(queued));
                }
            }
            Err(error) => {
                // Refuse first, so that nobody who hears "unknown" can append again.
                shared.fail(disk, &error);
                commit.answer(&mut batch, Outcome::Unknown);
            }
        }
    }
}

/// About how many events there are in so many bytes of appends.
fn events_in(bytes: usize) -> u32 {
    u32::try_from(bytes / EVENT_BYTES).unwrap_or(u32::MAX)
}

struct Commit<'a> {
    shared: &'a Shared,
    disk: &'a Disk,
    /// The last frame written.
    head: FramePosition,
    /// The buffer that frames are built in.
    frame: Vec<u8>,
}

impl Commit<'_> {
    fn write(&mut self, batch: &Batch) -> Result<Vec<UnfoldedFrame>, Error> {
        let mut frames = Vec::new();
        let mut project_events = Vec::new();
        let mut ticket = batch.before;
        let mut rest = batch.bytes.as_slice();
        while !rest.is_empty() {
            let cut = frame::cut(rest)?;
            let (payload, after) = rest
                .split_at_checked(cut.bytes)
                .filter(|(payload, _)| !payload.is_empty())
                .ok_or_else(|| Error::Damaged("a queued append fits no frame".into()))?;
            rest = after;
            let before = self.head.hash;
            self.head = frame::encode(&mut self.frame, &self.head, payload, cut.appends);
            self.insert()?;
            if batch.project_events > 0 {
                project_events.append(&mut project_events::of_frame(&self.frame)?);
            }
            ticket = ticket.saturating_add(cut.appends.into());
            let keep = self.shared.progress.waiting_bytes() < self.shared.options.frame_bytes;
            frames.push(UnfoldedFrame {
                place: self.head,
                before,
                events: cut.events,
                length: cut.payload_bytes(),
                ticket,
                frame: keep.then(|| self.frame.as_slice().into()),
            });
        }
        // A batch of waiting readers alone: all before it is durable already.
        if !frames.is_empty() {
            self.flush()?;
        }
        // Before a fold can reach these project events and find them missing.
        self.shared.project_events.publish(project_events);
        Ok(frames)
    }

    fn insert(&self) -> Result<(), Error> {
        self.shared.options.before(Step::InsertFrame)?;
        let lsn = self.head.lsn;
        let old = self
            .disk
            .journal
            .insert(lsn.to_be_bytes(), self.frame.as_slice())
            .map_err(|error| failed(&format!("writing frame {lsn}"), &error))?;
        if old.is_some() {
            return Err(Error::Damaged(format!(
                "the log at frame {lsn}: it exists already"
            )));
        }
        self.shared.space.wrote(self.frame.len());
        Ok(())
    }

    fn flush(&self) -> Result<(), Error> {
        self.shared.options.before(Step::FlushFrames)?;
        let database = &self.disk.database;
        database.flush("making the log durable")?;
        // Without the seccomp filter sled's flush is no sync: then this is the best that is left.
        database
            .log_file
            .sync_data()
            .map_err(|error| Error::Io(format!("syncing the log: {error}")))
    }

    fn answer(&self, batch: &mut Batch, outcome: Outcome) {
        answer(self.shared, batch, outcome);
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
