//! Checkpoints in the background: takes durable frames, applies them to the stored books, makes that
//! durable, and only then drops them. A crash between any two steps is repaired by applying again.

use std::{sync::Arc, thread, time::Duration};

use super::{
    AppliedState, NoAwakeWallets,
    copied::Mark,
    disk::DiskBooks,
    events::Events,
    retention::{Forgettable, OldFrame, Retention},
    retire::CheckpointReport,
};
use crate::{
    contract::Awake,
    error::{Error, Ticket},
    faults::Step,
    frames::{FramePosition, Frames, read_behind},
    log::{
        database::Database,
        lock::Directory,
        progress::PendingFrame,
        recovery::{self, read_meta, write_meta},
        shared::{Disk, Shared},
        watermark::Watermark,
    },
    options::Options,
    sled_error::caught,
    usage::pending::{CheckpointEnd, PendingSales},
};

/// Pause after the frames to apply could not be read.
const READ_BACKOFF: Duration = Duration::from_millis(250);

pub(crate) fn run(shared: &Shared, books: &DiskBooks) -> Result<(), Error> {
    let options = &shared.options;
    let mut events = Events::default();
    let durable = || Ticket(shared.progress.durable());
    loop {
        // With something to merge, there is always something to do between checkpoints.
        let wait = books.applied.is_idle() && books.retention.is_idle();
        let interval = options.checkpoint_interval;
        let Some(frames) = shared.progress.next(options.checkpoint, interval, wait) else {
            return Ok(());
        };
        if !shared.failed() {
            merge_some(shared, books)?;
            serve_backups(shared, books)?;
        }
        let mut rest = frames.as_slice();
        while !rest.is_empty() && !shared.failed() {
            let awake = shared.awake();
            let awake: &dyn Awake = match &awake {
                Some(awake) => &**awake,
                None => &NoAwakeWallets,
            };
            let sales = &shared.sales;
            let applied = checkpoint(options, books, rest, &mut events, awake, &durable, sales);
            let (applied, report) = match applied {
                Ok(applied) => applied,
                // Nothing was written: its frames are read before.
                Err(Error::Unreachable(_)) => {
                    thread::sleep(READ_BACKOFF);
                    break;
                }
                Err(error) => return Err(error),
            };
            let old = rest.iter().take(applied).map(old_frame);
            if let Some(report) = books.retention.take_over(report, old.clone()) {
                forget(options, books, report)?;
                drop_frames(options, books, old)?;
            }
            if shared.failed() {
                // A log that has failed must not report these frames as applied.
                break;
            }
            let (now, later) = rest.split_at_checked(applied).unwrap_or((rest, &[]));
            let ticket = now.last().map_or(0, |frame| frame.ticket);
            shared.progress.made_applied(now);
            shared.overlay.applied(ticket);
            shared.sales.applied(ticket);
            let lsn = now.last().map_or(0, |frame| frame.place.lsn);
            shared.project_events.applied(lsn);
            rest = later;
        }
    }
}

/// Merges a slice between checkpoints. What the merge replaced is removed once it is durable.
fn merge_some(shared: &Shared, books: &DiskBooks) -> Result<(), Error> {
    if let Some(report) = books.applied.merge_some()? {
        flush(&shared.options, books)?;
        if let Some(report) = books.retention.take_over(report, std::iter::empty()) {
            forget(&shared.options, books, report)?;
        }
    }
    Ok(())
}

/// Looks after backups between two checkpoints: begins or ends a copy, and removes some of what the last one held back.
fn serve_backups(shared: &Shared, books: &DiskBooks) -> Result<(), Error> {
    books.retention.end_overdue(shared.space.low());
    if let Some(Forgettable { reports, frames }) = books.retention.forgettable() {
        for report in reports {
            forget(&shared.options, books, report)?;
        }
        drop_frames(&shared.options, books, frames.into_iter())?;
    }
    if books.retention.is_asked() {
        books.retention.begin(Mark {
            applied: read_meta(&books.disk.database.sled)?,
            checkpoint: books.applied.last_number()?,
        });
    }
    Ok(())
}

fn old_frame(frame: &PendingFrame) -> OldFrame {
    (frame.place.lsn, frame.length)
}

/// Removes what a checkpoint replaced. Only after it is durable.
fn forget(options: &Options, books: &DiskBooks, report: CheckpointReport) -> Result<(), Error> {
    options.faults.before(Step::Forget)?;
    books.applied.forget(report)
}

/// Drops applied frames. Only after the checkpoint is durable.
fn drop_frames(
    options: &Options,
    books: &DiskBooks,
    frames: impl Iterator<Item = OldFrame>,
) -> Result<(), Error> {
    for (lsn, _) in frames {
        options.faults.before(Step::DropFrame)?;
        books.disk.frames.forget(lsn)?;
    }
    Ok(())
}

fn flush(options: &Options, books: &DiskBooks) -> Result<(), Error> {
    let database = &books.disk.database;
    options.faults.before(Step::FlushCheckpoint)?;
    database.flush("making a checkpoint durable")?;
    options.faults.before(Step::SyncCheckpoint)?;
    database.sync("syncing a checkpoint")
}

/// Checks the log, repairs what a crash left, applies what was not applied, and says how far the log goes.
pub(crate) fn recover(
    options: &Options,
    directory: Directory,
    database: Database,
    watermark: &Watermark,
    frames: Arc<dyn Frames>,
) -> Result<(DiskBooks, FramePosition), Error> {
    let Database { sled, .. } = &database;
    let (applied, scan) = caught(|| {
        let applied = read_meta(sled)?;
        let scan = match frames.shared() {
            None => recovery::scan(&*frames, applied, watermark.place())?,
            // A process that follows a log reads it in pieces, and has compared its watermark with what is there.
            Some(_) => recovery::Scan::nothing_behind(applied),
        };
        recovery::repair(sled, &*frames, &scan)?;
        let applied = AppliedState::open(sled, options.filter_bytes)?;
        Ok((applied, scan))
    })?;
    tracing::info!(
        log.lsn = scan.head.lsn,
        log.applied_lsn = scan.applied.lsn,
        log.pending_frames = scan.frames.len(),
        "The log is consistent"
    );
    let disk = Arc::new(Disk {
        database,
        frames,
        directory,
    });
    let books = DiskBooks {
        applied,
        retention: Retention::default(),
        disk,
    };
    if let Err(error) = caught(|| checkpoint_recovered(options, &books, &scan.frames)) {
        // As with any failed write: sled is not dropped, for that would write once more.
        std::mem::forget(books.disk.database.sled.clone());
        return Err(error);
    }
    Ok((books, scan.head))
}

/// Applies all recovered frames, before anything is served.
fn checkpoint_recovered(
    options: &Options,
    books: &DiskBooks,
    frames: &[PendingFrame],
) -> Result<(), Error> {
    let mut events = Events::default();
    let mut rest = frames;
    while !rest.is_empty() {
        let (applied, report) = checkpoint(
            options,
            books,
            rest,
            &mut events,
            &NoAwakeWallets,
            &Ticket::default,
            &PendingSales::default(),
        )?;
        forget(options, books, report)?;
        drop_frames(options, books, rest.iter().take(applied).map(old_frame))?;
        rest = rest.get(applied..).unwrap_or_default();
    }
    Ok(())
}

/// Applies these frames, or as many as are read into memory at a time. Returns how many, and what the
/// checkpoint replaced.
fn checkpoint(
    options: &Options,
    books: &DiskBooks,
    frames: &[PendingFrame],
    events: &mut Events,
    awake: &dyn Awake,
    durable: &dyn Fn() -> Ticket,
    sales: &PendingSales,
) -> Result<(usize, CheckpointReport), Error> {
    events.clear();
    let count = read(options, books, frames, events)?;
    let frames = frames.get(..count).unwrap_or(frames);
    if let Some(last) = frames.last() {
        sales.begin_checkpoint(CheckpointEnd {
            lsn: last.place.lsn,
            ticket: last.ticket,
        });
    }
    options.faults.before(Step::Checkpoint)?;
    let report = books.applied.checkpoint(events, awake, durable)?;
    if let Some(last) = frames.last() {
        options.faults.before(Step::WriteMeta)?;
        write_meta(&books.disk.database.sled, &last.place)?;
        flush(options, books)?;
    }
    Ok((count, report))
}

/// Reads the events of these frames, up to [`Options::checkpoint`] in bytes; returns how many
/// frames. Frames that are not in memory any more are read from the log and verified.
fn read(
    options: &Options,
    books: &DiskBooks,
    frames: &[PendingFrame],
    events: &mut Events,
) -> Result<usize, Error> {
    let mut count = 0_usize;
    let enough = usize::try_from(options.checkpoint.bytes).unwrap_or(usize::MAX);
    for pending in frames {
        if count > 0 && events.bytes() >= enough {
            break;
        }
        count += 1;
        if let Some(frame) = &pending.frame {
            events.push(Arc::clone(frame))?;
            continue;
        }
        events.push(read_behind(&*books.disk.frames, pending.before)?)?;
    }
    Ok(count)
}
