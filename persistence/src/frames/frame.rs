//! Frames: what the log is made of. A frame holds complete appends, one after the other, behind a
//! header that says its length, its place in the order, a checksum over everything, and the hash of
//! the frame before it, so that no bit, no frame and no order can change unnoticed.
//!
//! ```text
//!  0  u8       version
//!  1  u32      length of the whole frame
//!  5  u32      CRC-32C over bytes 0..5 and 9..length
//!  9  u64      log sequence number, 1 for the first frame
//! 17  [u8;32]  SHA-256 of the whole frame before, zeros before the first
//! 49  u32      appends
//! 53  for each append: u16 length, u16 events, then the encoded events
//! ```
//! All numbers big-endian.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    contract::event_number::PLACE_BITS,
    error::Error,
    format::{
        append::Append,
        item::{self, Item},
    },
};

pub(crate) const VERSION: u8 = 1;
/// A larger value would pass a quarter of a sled segment in a full leaf and become an unsynced
/// file of its own; 64 KiB is the bound, this leaves room.
pub const MAX_BYTES: usize = 60_000;
const CHECKED_FROM: usize = 9;
const HEADER_BYTES: usize = 53;
const APPEND_HEADER_BYTES: usize = 4;
const MAX_PAYLOAD_BYTES: usize = MAX_BYTES - HEADER_BYTES;

// The largest append fits a frame of its own, and its length fits sixteen bits.
const _: () = assert!(Append::MAX_BYTES + APPEND_HEADER_BYTES <= MAX_PAYLOAD_BYTES);
const _: () = assert!(Append::MAX_BYTES <= u16::MAX as usize);
// A project event's number has room for any offset in a frame.
const _: () = assert!(MAX_BYTES < 1 << PLACE_BITS);

/// A frame's place in the log: its sequence number and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FramePosition {
    /// 0: before the first frame.
    pub lsn: u64,
    /// SHA-256 of the whole frame.
    pub hash: [u8; 32],
}

impl FramePosition {
    /// The greatest number of a frame: those of its project events have room for no greater one.
    const MAX_LSN: u64 = u64::MAX >> PLACE_BITS;

    /// The number of the next frame.
    pub(crate) fn next_lsn(&self) -> Result<u64, Error> {
        let next = self.lsn.checked_add(1).filter(|lsn| *lsn <= Self::MAX_LSN);
        next.ok_or_else(|| Error::Damaged("the log's numbers of frames are used up".into()))
    }

    /// The place of the next frame, which has these bytes.
    pub(crate) fn next(&self, frame: &[u8]) -> Result<Self, Error> {
        let (lsn, hash) = (self.next_lsn()?, hash(frame));
        Ok(Self { lsn, hash })
    }
}

/// How many complete appends at the start of queued bytes fill one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FrameSize {
    pub bytes: usize,
    pub appends: u32,
    pub events: u64,
}

impl FrameSize {
    /// Bytes of the events themselves.
    pub(crate) const fn payload_bytes(&self) -> u64 {
        let heads = (self.appends as usize).saturating_mul(APPEND_HEADER_BYTES);
        self.bytes.saturating_sub(heads) as u64
    }
}

/// A frame as read, its checksum verified.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub lsn: u64,
    /// Hash of the frame before.
    pub before: [u8; 32],
    pub appends: u32,
    payload: &'a [u8],
}

/// Adds an append to queued bytes, in the form that frames carry.
pub fn push(bytes: &mut Vec<u8>, append: &Append) {
    // An append is at most 56 KiB and an event more than one byte: both fit sixteen bits.
    let length = u16::try_from(append.bytes().len()).unwrap_or(u16::MAX);
    let events = u16::try_from(append.events()).unwrap_or(u16::MAX);
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(&events.to_be_bytes());
    bytes.extend_from_slice(append.bytes());
}

/// Where the next frame ends. Frames are split only between appends.
pub(crate) fn cut(queued: &[u8]) -> Result<FrameSize, Error> {
    let mut cut = FrameSize::default();
    let mut rest = queued;
    while !rest.is_empty() {
        let (events, bytes, after) = split_append(rest)?;
        let end = cut
            .bytes
            .saturating_add(APPEND_HEADER_BYTES)
            .saturating_add(bytes.len());
        if end > MAX_PAYLOAD_BYTES {
            break;
        }
        cut.bytes = end;
        cut.appends += 1;
        cut.events += u64::from(events);
        rest = after;
    }
    Ok(cut)
}

/// Writes the frame after `before` into `frame`; returns its place.
pub(crate) fn encode(
    frame: &mut Vec<u8>,
    before: &FramePosition,
    payload: &[u8],
    appends: u32,
) -> Result<FramePosition, Error> {
    let lsn = before.next_lsn()?;
    let length = HEADER_BYTES + payload.len();
    frame.clear();
    frame.push(VERSION);
    frame.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(&lsn.to_be_bytes());
    frame.extend_from_slice(&before.hash);
    frame.extend_from_slice(&appends.to_be_bytes());
    frame.extend_from_slice(payload);
    let crc = checksum(frame).unwrap_or_default();
    if let Some(place) = frame.get_mut(5..CHECKED_FROM) {
        place.copy_from_slice(&crc.to_be_bytes());
    }
    before.next(frame)
}

/// Where a part of a frame begins in it.
pub(crate) fn offset(frame: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr().wrapping_sub(frame.as_ptr().addr())
}

pub(crate) fn hash(frame: &[u8]) -> [u8; 32] {
    Sha256::digest(frame).into()
}

/// Reads a frame and verifies its checksum. `Err`: why these bytes are not a frame.
pub(crate) fn decode(bytes: &[u8]) -> Result<Frame<'_>, Error> {
    read_head(bytes, true)
}

/// Reads a frame whose checksum was made or verified in this process.
pub(crate) fn decode_checked(bytes: &[u8]) -> Result<Frame<'_>, Error> {
    read_head(bytes, false)
}

fn read_head(bytes: &[u8], check: bool) -> Result<Frame<'_>, Error> {
    let mut reader = Reader(bytes);
    let (Some([version]), Some(length), Some(crc)) =
        (reader.take::<1>(), reader.take::<4>(), reader.take::<4>())
    else {
        return Err(damaged("shorter than a frame's header"));
    };
    if u32::from_be_bytes(length) as usize != bytes.len() {
        return Err(damaged("its length is not the one in its header"));
    }
    if check && checksum(bytes) != Some(u32::from_be_bytes(crc)) {
        return Err(damaged("its checksum does not match"));
    }
    // Only after the checksum: a sound frame of another version is not damaged.
    if version != VERSION {
        return Err(Error::Unusable(format!(
            "a frame of the log has format {version}, this version of Scrip reads {VERSION}: use \
             a newer one"
        )));
    }
    match (reader.take::<8>(), reader.take::<32>(), reader.take::<4>()) {
        (Some(lsn), Some(before), Some(appends)) => Ok(Frame {
            lsn: u64::from_be_bytes(lsn),
            before,
            appends: u32::from_be_bytes(appends),
            payload: reader.0,
        }),
        _ => Err(damaged("shorter than a frame's header")),
    }
}

impl Frame<'_> {
    /// All events, in log order.
    #[cfg(test)]
    pub(crate) fn events(&self) -> Result<Vec<crate::format::append::LogEvent>, Error> {
        let mut events = Vec::new();
        self.each_append(|bytes, _| {
            let mut some = crate::format::append::decode_events(bytes)?;
            events.append(&mut some);
            Ok(())
        })?;
        self.count()?;
        Ok(events)
    }

    /// Counts the events, and checks that each of them is complete.
    pub(crate) fn count(&self) -> Result<u64, Error> {
        let mut events = 0_u64;
        self.each_append(|append, count| {
            let mut some = 0_u16;
            for item in item::items(append) {
                some += u16::from(!matches!(item?, Item::Leadership(_)));
            }
            events += u64::from(some);
            match some == count {
                true => Ok(()),
                false => Err(damaged(
                    "an append has another number of events than its header says",
                )),
            }
        })?;
        Ok(events)
    }

    /// Calls `each` with every item in log order.
    pub(crate) fn each_item<'a>(
        &'a self,
        mut each: impl FnMut(Item<'a>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.each_append(|append, _| item::items(append).try_for_each(|item| each(item?)))
    }

    /// Calls `each` with every append in log order: its encoded events, and how many there are.
    pub(crate) fn each_append<'a>(
        &'a self,
        mut each: impl FnMut(&'a [u8], u16) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut rest = self.payload;
        for _ in 0..self.appends {
            let (count, bytes, after) = split_append(rest)?;
            each(bytes, count)?;
            rest = after;
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(damaged("bytes follow its last append"))
        }
    }
}

/// The first append's number of events and their bytes, and what follows it.
fn split_append(bytes: &[u8]) -> Result<(u16, &[u8], &[u8]), Error> {
    let mut reader = Reader(bytes);
    if let (Some(length), Some(events)) = (reader.take::<2>(), reader.take::<2>())
        && let Some((append, rest)) = reader.0.split_at_checked(u16::from_be_bytes(length).into())
    {
        return Ok((u16::from_be_bytes(events), append, rest));
    }
    Err(damaged("an append in it is cut short"))
}

fn checksum(frame: &[u8]) -> Option<u32> {
    let crc = crc32c::crc32c(frame.get(..5)?);
    Some(crc32c::crc32c_append(crc, frame.get(CHECKED_FROM..)?))
}

fn damaged(why: &str) -> Error {
    Error::Damaged(format!("a frame of the log: {why}"))
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }
}

#[cfg(test)]
#[path = "tests/frame.rs"]
mod tests;
