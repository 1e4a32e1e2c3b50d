//! Reads the log when it is opened and checks that it is consistent: every frame after the applied ones
//! is there, sound, and follows the one before. An incomplete last frame was never acknowledged and is
//! removed; anything else refuses to start and names the place. Nothing is guessed around.

use super::progress::PendingFrame;
use crate::{
    error::Error,
    format::codec::{decode_value, encode_value},
    frames::{FramePosition, Frames, frame},
    sled_error::failed,
};

/// The key in sled's default tree that says how far the log is applied.
const META: &str = "folded";

pub(crate) struct Scan {
    /// The last applied frame.
    pub applied: FramePosition,
    /// The last frame.
    pub head: FramePosition,
    /// Sound frames that are not applied.
    pub frames: Vec<PendingFrame>,
    /// Frames that are applied and were about to be dropped.
    pub leftover: Vec<u64>,
    /// A last frame that was only half written, and what is wrong with it.
    pub incomplete: Option<(u64, Error)>,
}

pub(crate) fn encode_meta(place: &FramePosition) -> Result<Vec<u8>, Error> {
    encode_value(place)
}

pub(crate) fn write_meta(db: &sled::Db, place: &FramePosition) -> Result<(), Error> {
    db.insert(META, encode_meta(place)?)
        .map_err(|error| failed("writing how far the log is applied", &error))?;
    Ok(())
}

pub(crate) fn read_meta(db: &sled::Db) -> Result<FramePosition, Error> {
    match db
        .get(META)
        .map_err(|error| failed("reading how far the log is applied", &error))?
    {
        Some(bytes) => decode_value(&bytes),
        None => Ok(FramePosition::default()),
    }
}

/// Reads the whole log behind what is applied, and changes nothing.
pub(crate) fn scan(
    frames: &dyn Frames,
    applied: FramePosition,
    mark: FramePosition,
) -> Result<Scan, Error> {
    let mut scan = Scan::nothing_behind(applied);
    let mut marked = mark.lsn <= applied.lsn;
    frames.walk(applied, &mut |lsn, bytes| {
        scan.see(lsn, bytes, mark)?;
        marked |= scan.head == mark;
        Ok(())
    })?;
    if scan.head.lsn < mark.lsn {
        return Err(Error::Damaged(format!(
            "the log ends at frame {}, but it was durable up to frame {}: its end was lost",
            scan.head.lsn, mark.lsn
        )));
    }
    if !marked || (mark.lsn == applied.lsn && mark != applied) {
        return Err(at(mark.lsn, "it is not the one that the watermark names"));
    }
    Ok(scan)
}

impl Scan {
    /// A log that ends with what is applied.
    pub(crate) const fn nothing_behind(applied: FramePosition) -> Self {
        Self {
            applied,
            head: applied,
            frames: Vec::new(),
            leftover: Vec::new(),
            incomplete: None,
        }
    }

    fn see(&mut self, lsn: u64, bytes: &[u8], mark: FramePosition) -> Result<(), Error> {
        if lsn <= self.applied.lsn {
            self.leftover.push(lsn);
            return Ok(());
        }
        if let Some((incomplete, why)) = &self.incomplete {
            return Err(at(*incomplete, &format!("{why}, and frames follow it")));
        }
        let next = self.head.next_lsn()?;
        if lsn != next {
            return Err(at(next, &format!("it is missing, the next one is {lsn}")));
        }
        let frame = match frame::decode(bytes) {
            Ok(frame) => frame,
            // Frames up to the watermark were durable and acknowledged: none of them is "incomplete".
            Err(why @ Error::Damaged(_)) if lsn > mark.lsn => {
                self.incomplete = Some((lsn, why));
                return Ok(());
            }
            Err(why) => return Err(in_frame(lsn, why)),
        };
        if frame.lsn != lsn {
            return Err(at(lsn, &format!("frame {} is in its place", frame.lsn)));
        }
        if frame.before != self.head.hash {
            return Err(at(lsn, "it does not follow the frame before it"));
        }
        let events = frame.count().map_err(|why| in_frame(lsn, why))?;
        let before = self.head;
        self.head = FramePosition {
            lsn,
            hash: frame::hash(bytes),
        };
        self.frames.push(PendingFrame {
            place: self.head,
            before,
            events,
            length: bytes.len() as u64,
            ticket: 0,
            frame: None,
        });
        Ok(())
    }
}

/// Removes what a crash left over, durably.
pub(crate) fn repair(db: &sled::Db, frames: &dyn Frames, scan: &Scan) -> Result<(), Error> {
    if let Some((lsn, why)) = &scan.incomplete {
        tracing::warn!(
            log.lsn = lsn,
            error = %why,
            "Removing the last frame of the log: a crash tore it before it was acknowledged"
        );
    }
    let incomplete = scan.incomplete.iter().map(|(lsn, _)| lsn);
    let mut removed = 0_usize;
    for lsn in scan.leftover.iter().chain(incomplete) {
        frames.forget(*lsn)?;
        removed += 1;
    }
    if removed > 0 {
        db.flush()
            .map_err(|error| failed("removing frames", &error))?;
    }
    Ok(())
}

fn at(lsn: u64, why: &str) -> Error {
    Error::Damaged(format!("the log at frame {lsn}: {why}"))
}

/// Adds the frame to an error. A sound frame of a later version is not damaged.
fn in_frame(lsn: u64, why: Error) -> Error {
    match why {
        Error::Unusable(why) => Error::Unusable(format!("the log at frame {lsn}: {why}")),
        other => at(lsn, &other.to_string()),
    }
}

#[cfg(test)]
#[path = "tests/recovery.rs"]
#[allow(clippy::cast_possible_truncation, reason = "small numbers in a test")]
mod tests;
