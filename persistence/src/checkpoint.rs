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
        fold(shared, disk, &frames, &mut events)?;
        events.clear();
    }
    Ok(())
}

fn fold(
    shared: &Shared,
    disk: &Disk,
    frames: &[Unfolded],
    events: &mut Events,
) -> Result<(), Error> {
    let options = &shared.options;
    let place = read(disk, frames, events)?;
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
        return Ok(());
    }
    disk.tail.folded(place.lsn);
    shared.progress.made_folded(frames);
    Ok(())
}

/// Adds all events of these frames; the place of the last.
fn read(disk: &Disk, frames: &[Unfolded], events: &mut Events) -> Result<Place, Error> {
    let mut place = Place::default();
    for Unfolded { lsn, .. } in frames {
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
    Ok(place)
}
