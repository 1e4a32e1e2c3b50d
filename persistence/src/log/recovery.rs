//! Reads the log when it is opened and checks that it is whole: every frame after the folded ones
//! is there, sound, and follows the one before. A torn last frame was never acknowledged and is
//! removed; anything else refuses to start and names the place. Nothing is guessed around.

use serde::{Deserialize, Serialize};

use super::{
    frame::{self, FramePosition},
    progress::UnfoldedFrame,
    sled_error::failed,
};
use crate::{
    error::Error,
    format::codec::{decode_value, encode_value},
};

/// The tree of frames, by sequence number.
pub(crate) const JOURNAL: &str = "journal";
/// The key in sled's default tree that says how far the log is folded.
const META: &str = "folded";

/// The last folded frame, as a checkpoint writes it.
#[derive(Debug, Serialize, Deserialize)]
struct Meta {
    lsn: u64,
    hash: [u8; 32],
}

/// The result of reading a log.
pub(crate) struct Scan {
    /// The last folded frame.
    pub folded: FramePosition,
    /// The last frame.
    pub head: FramePosition,
    /// Sound frames that are not folded.
    pub frames: Vec<UnfoldedFrame>,
    /// Frames that are folded and were about to be dropped.
    pub leftover: Vec<u64>,
    /// A last frame that was only half written, and what is wrong with it.
    pub torn: Option<(u64, Error)>,
}

/// The bytes of the record that says how far the log is folded.
pub(crate) fn encode_meta(place: &FramePosition) -> Result<Vec<u8>, Error> {
    encode_value(&Meta {
        lsn: place.lsn,
        hash: place.hash,
    })
}

/// Notes how far the log is folded.
pub(crate) fn write_meta(db: &sled::Db, place: &FramePosition) -> Result<(), Error> {
    db.insert(META, encode_meta(place)?)
        .map_err(|error| failed("writing how far the log is folded", &error))?;
    Ok(())
}

/// How far the log is folded.
pub(crate) fn read_meta(db: &sled::Db) -> Result<FramePosition, Error> {
    match db
        .get(META)
        .map_err(|error| failed("reading how far the log is folded", &error))?
    {
        Some(bytes) => {
            let Meta { lsn, hash } = decode_value(&bytes)?;
            Ok(FramePosition { lsn, hash })
        }
        None => Ok(FramePosition::default()),
    }
}

/// Reads the whole log and changes nothing.
pub(crate) fn scan(
    db: &sled::Db,
    journal: &sled::Tree,
    mark: FramePosition,
) -> Result<Scan, Error> {
    let folded = read_meta(db)?;
    let mut scan = Scan {
        folded,
        head: folded,
        frames: Vec::new(),
        leftover: Vec::new(),
        torn: None,
    };
    let mut marked = mark.lsn <= folded.lsn;
    for entry in journal {
        let (key, bytes) = entry.map_err(|error| failed("the log", &error))?;
        let lsn = number(&key)?;
        if lsn <= folded.lsn {
            scan.leftover.push(lsn);
            continue;
        }
        if let Some((torn, why)) = scan.torn {
            return Err(at(torn, &format!("{why}, and frames follow it")));
        }
        let next = scan.head.lsn.saturating_add(1);
        if lsn != next {
            return Err(at(next, &format!("it is missing, the next one is {lsn}")));
        }
        let frame = match frame::decode(&bytes) {
            Ok(frame) => frame,
            // Frames up to the watermark were durable and acknowledged: none of them is "torn".
            Err(why @ Error::Damaged(_)) if lsn > mark.lsn => {
                scan.torn = Some((lsn, why));
                continue;
            }
            Err(why) => return Err(in_frame(lsn, why)),
        };
        if frame.lsn != lsn {
            return Err(at(lsn, &format!("frame {} is in its place", frame.lsn)));
        }
        if frame.before != scan.head.hash {
            return Err(at(lsn, "it does not follow the frame before it"));
        }
        let events = frame.count().map_err(|why| in_frame(lsn, why))?;
        let before = frame.before;
        scan.head = FramePosition {
            lsn,
            hash: frame::hash(&bytes),
        };
        scan.frames.push(UnfoldedFrame {
            place: scan.head,
            before,
            events,
            length: bytes.len() as u64,
            ticket: 0,
            frame: None,
        });
        marked |= scan.head == mark;
    }
    if scan.head.lsn < mark.lsn {
        return Err(Error::Damaged(format!(
            "the log ends at frame {}, but it was durable up to frame {}: its end was lost",
            scan.head.lsn, mark.lsn
        )));
    }
    if !marked || (mark.lsn == folded.lsn && mark != folded) {
        return Err(at(mark.lsn, "it is not the one that the watermark names"));
    }
    Ok(scan)
}

/// Removes what a crash left over, durably.
pub(crate) fn repair(db: &sled::Db, journal: &sled::Tree, scan: &Scan) -> Result<(), Error> {
    if let Some((lsn, why)) = &scan.torn {
        tracing::warn!(
            log.lsn = lsn,
            error = %why,
            "Removing the last frame of the log: a crash tore it before it was acknowledged"
        );
    }
    let torn = scan.torn.iter().map(|(lsn, _)| lsn);
    let mut removed = 0_usize;
    for lsn in scan.leftover.iter().chain(torn) {
        journal
            .remove(lsn.to_be_bytes())
            .map_err(|error| failed(&format!("removing frame {lsn}"), &error))?;
        removed = removed.saturating_add(1);
    }
    if removed > 0 {
        db.flush()
            .map_err(|error| failed("removing frames", &error))?;
    }
    Ok(())
}

fn number(key: &[u8]) -> Result<u64, Error> {
    let key: [u8; 8] = key
        .try_into()
        .map_err(|_| Error::Damaged("the log has an entry that is not a frame".into()))?;
    Ok(u64::from_be_bytes(key))
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
#[path = "recovery_tests.rs"]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "small numbers in a test"
)]
mod tests;
