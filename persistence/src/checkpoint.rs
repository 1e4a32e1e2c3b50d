//! Folding in the background: takes durable frames, has them folded into stored state, makes that
//! durable, and only then drops them. A crash between any two steps is repaired by folding again.

use std::sync::Arc;

use crate::{
    contract::{Awake, Error, Ticket},
    database::failed,
    fold::{FoldReport, NoAwakeWallets, events::Events},
    frame,
    options::{Options, Step},
    progress::UnfoldedFrame,
    recovery::{read_meta, write_meta},
    retention::{Forgettable, Mark, OldFrame},
    shared::{Disk, Shared},
};

/// Runs the checkpoint thread until the journal stops.
pub(crate) fn run(shared: &Arc<Shared>, disk: &Arc<Disk>) -> Result<(), Error> {
    let options = &shared.options;
    let mut events = Events::default();
    let durable = || Ticket(shared.progress.durable());
    loop {
        // With something to merge, there is always something to do between folds.
        let wait = disk.folded.is_idle() && shared.retention.is_idle();
        let interval = options.checkpoint_interval;
        let Some(frames) = shared.progress.next(options.checkpoint, interval, wait) else {
            return Ok(());
        };
        if !shared.failed() {
            merge_some(shared, disk)?;
            serve_backups(shared, disk)?;
        }
        let mut rest = frames.as_slice();
        while !rest.is_empty() && !shared.failed() {
            let awake = shared.awake();
            let awake: &dyn Awake = match &awake {
                Some(awake) => &**awake,
                None => &NoAwakeWallets,
            };
            let (folded, report) = fold(options, disk, rest, &mut events, awake, &durable)?;
            let old = rest.iter().take(folded).map(old_frame);
            if let Some(report) = shared.retention.take_over(report, old.clone()) {
                forget(options, disk, report)?;
                drop_frames(options, disk, old)?;
            }
            if shared.failed() {
                // A log that failed meanwhile must not report these frames as folded.
                break;
            }
            let (now, later) = rest.split_at_checked(folded).unwrap_or((rest, &[]));
            let ticket = now.last().map_or(0, |frame| frame.ticket);
            shared.progress.made_folded(now);
            shared.fresh.folded(ticket);
            let lsn = now.last().map_or(0, |frame| frame.place.lsn);
            shared.project_events.folded(lsn);
            rest = later;
        }
    }
}

/// Merges a slice between folds. What the merge replaced is removed once it is durable.
fn merge_some(shared: &Shared, disk: &Disk) -> Result<(), Error> {
    if let Some(report) = disk.folded.merge_some()? {
        flush(&shared.options, disk)?;
        if let Some(report) = shared.retention.take_over(report, std::iter::empty()) {
            forget(&shared.options, disk, report)?;
        }
    }
    Ok(())
}

/// Looks after backups between two folds: begins or ends a copy, and removes some of what the last
/// one held back.
fn serve_backups(shared: &Shared, disk: &Disk) -> Result<(), Error> {
    shared.retention.end_overdue(shared.space.low());
    if let Some(Forgettable { reports, frames }) = shared.retention.forgettable() {
        for report in reports {
            forget(&shared.options, disk, report)?;
        }
        drop_frames(&shared.options, disk, frames.into_iter())?;
    }
    if shared.retention.is_asked() {
        shared.retention.begin(Mark {
            folded: read_meta(&disk.database.sled)?,
            fold: disk.folded.last_number()?,
        });
    }
    Ok(())
}

fn old_frame(frame: &UnfoldedFrame) -> OldFrame {
    (frame.place.lsn, frame.length)
}

/// Removes what a fold replaced. Only after it is durable.
fn forget(options: &Options, disk: &Disk, report: FoldReport) -> Result<(), Error> {
    options.before(Step::Forget)?;
    disk.folded.forget(report)
}

/// Drops folded frames. Only after the fold is durable.
fn drop_frames(
    options: &Options,
    disk: &Disk,
    frames: impl Iterator<Item = OldFrame>,
) -> Result<(), Error> {
    for (lsn, _) in frames {
        options.before(Step::DropFrame)?;
        disk.journal
            .remove(lsn.to_be_bytes())
            .map_err(|error| failed(&format!("dropping frame {lsn}"), &error))?;
    }
    Ok(())
}

/// Makes what was written to the books durable.
fn flush(options: &Options, disk: &Disk) -> Result<(), Error> {
    options.before(Step::FlushFold)?;
    disk.database
        .sled
        .flush()
        .map_err(|error| failed("making a checkpoint durable", &error))?;
    options.before(Step::SyncFold)?;
    // Reports write errors that sled's own threads swallowed.
    disk.database
        .file
        .sync_data()
        .map_err(|error| Error::Io(format!("syncing a checkpoint: {error}")))
}

/// Folds all recovered frames, before anything is served.
pub(crate) fn recovered(
    options: &Options,
    disk: &Disk,
    frames: &[UnfoldedFrame],
) -> Result<(), Error> {
    let mut events = Events::default();
    let mut rest = frames;
    while !rest.is_empty() {
        let (folded, report) = fold(
            options,
            disk,
            rest,
            &mut events,
            &NoAwakeWallets,
            &Ticket::default,
        )?;
        forget(options, disk, report)?;
        drop_frames(options, disk, rest.iter().take(folded).map(old_frame))?;
        rest = rest.get(folded..).unwrap_or_default();
    }
    Ok(())
}

/// Folds these frames, or as many as are read into memory at a time. Returns how many, and what the
/// fold replaced.
fn fold(
    options: &Options,
    disk: &Disk,
    frames: &[UnfoldedFrame],
    events: &mut Events,
    awake: &dyn Awake,
    durable: &dyn Fn() -> Ticket,
) -> Result<(usize, FoldReport), Error> {
    events.clear();
    let count = read(options, disk, frames, events)?;
    let frames = frames.get(..count).unwrap_or(frames);
    options.before(Step::Fold)?;
    let report = disk.folded.fold(events, awake, durable)?;
    if let Some(last) = frames.last() {
        options.before(Step::WriteMeta)?;
        write_meta(&disk.database.sled, &last.place)?;
        flush(options, disk)?;
    }
    Ok((count, report))
}

/// Reads the events of these frames, up to [`Options::checkpoint`] in bytes; returns how many
/// frames. Frames that are not in memory any more are read from the log and verified.
fn read(
    options: &Options,
    disk: &Disk,
    frames: &[UnfoldedFrame],
    events: &mut Events,
) -> Result<usize, Error> {
    let mut count = 0_usize;
    let enough = usize::try_from(options.checkpoint.bytes).unwrap_or(usize::MAX);
    for unfolded in frames {
        if count > 0 && events.bytes() >= enough {
            break;
        }
        count = count.saturating_add(1);
        if let Some(frame) = &unfolded.frame {
            events.push(Arc::clone(frame))?;
            continue;
        }
        let lsn = unfolded.place.lsn;
        let damaged = |what: &str| Error::Damaged(format!("the log at frame {lsn}: {what}"));
        let bytes = frame::read(&disk.journal, lsn)?.ok_or_else(|| damaged("it is missing"))?;
        let read = frame::decode(&bytes)?;
        if read.lsn != lsn || read.before != unfolded.before {
            return Err(damaged("it does not follow the frame before it"));
        }
        events.push((*bytes).into())?;
    }
    Ok(count)
}
