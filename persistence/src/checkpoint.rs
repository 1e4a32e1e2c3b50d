//! Folding in the background: takes durable frames, has them folded into stored state, makes that
//! durable, and only then drops them. A crash between any two steps is repaired by folding again.

use std::sync::Arc;

use crate::{
    contract::Error,
    database::failed,
    fold::events::Events,
    frame::{self, Place},
    options::Step,
    progress::Unfolded,
    recovery::write_meta,
    shared::{Disk, Shared},
};

/// The thread's work; ends when the journal stops.
pub(crate) fn run(shared: &Arc<Shared>, disk: &Arc<Disk>) -> Result<(), Error> {
    let options = &shared.options;
    let mut events = Events::default();
    while let Some(frames) = shared
        .progress
        .next(options.checkpoint_events, options.checkpoint_interval)
    {
        let mut rest = frames.as_slice();
        while !rest.is_empty() && !shared.failed() {
            let folded = fold(shared, disk, rest, &mut events)?;
            events.clear();
            rest = rest.get(folded..).unwrap_or_default();
        }
    }
    Ok(())
}

/// Folds these frames, or as many as are in memory at a time; how many.
fn fold(
    shared: &Shared,
    disk: &Disk,
    frames: &[Unfolded],
    events: &mut Events,
) -> Result<usize, Error> {
    let options = &shared.options;
    let (place, count) = read(disk, frames, events, options.checkpoint_bytes)?;
    let frames = frames.get(..count).unwrap_or(frames);
    options.before(Step::Fold)?;
    let report = disk.folded.fold(events)?;
    options.before(Step::WriteMeta)?;
    write_meta(&disk.database.sled, &place)?;
    options.before(Step::FlushFold)?;
    disk.database
        .sled
        .flush()
        .map_err(|error| failed("making a checkpoint durable", &error))?;
    options.before(Step::SyncFold)?;
    // Hears of write errors that sled's own threads swallowed.
    disk.database
        .file
        .sync_data()
        .map_err(|error| Error::Io(format!("a checkpoint: {error}")))?;
    options.before(Step::Forget)?;
    disk.folded.forget(report)?;
    for frame in frames {
        options.before(Step::DropFrame)?;
        disk.journal
            .remove(frame.lsn.to_be_bytes())
            .map_err(|error| failed(&format!("dropping frame {}", frame.lsn), &error))?;
    }
    if shared.failed() {
        // Settled must not be said of a log that failed meanwhile.
        return Ok(count);
    }
    disk.tail.folded(place.lsn);
    shared.progress.made_folded(frames);
    Ok(count)
}

/// Adds the events of these frames until they are large; the place of the last, and how many.
fn read(
    disk: &Disk,
    frames: &[Unfolded],
    events: &mut Events,
    enough_bytes: usize,
) -> Result<(Place, usize), Error> {
    let mut place = Place::default();
    let mut count = 0_usize;
    for Unfolded { lsn, .. } in frames {
        if count > 0 && events.bytes() >= enough_bytes {
            break;
        }
        count = count.saturating_add(1);
        let bytes = frame::read(&disk.journal, *lsn)?
            .ok_or_else(|| Error::Damaged(format!("the log at frame {lsn}: it is gone")))?;
        let frame = frame::decode(&bytes)?;
        if frame.lsn != *lsn || (place.lsn != 0 && frame.before != place.hash) {
            return Err(Error::Damaged(format!(
                "the log at frame {lsn}: it does not follow the frame before it"
            )));
        }
        frame.each_append(|append, count| events.push(append, count))?;
        place = Place {
            lsn: *lsn,
            hash: frame::hash(&bytes),
        };
    }
    Ok((place, count))
}
