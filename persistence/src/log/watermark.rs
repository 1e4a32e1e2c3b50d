//! The last position of the log that is known to be durable, in a file of its own. The chain of frames cannot show that
//! its end is missing; this file can: a log that ends before it has lost frames.
//!
//! Two slots, written in turn, each in a block of its own: a write that is cut short damages one and leaves the other.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::FileExt,
    path::Path,
};

use crate::{error::Error, frames::FramePosition};

pub(crate) const FILE: &str = "watermark";
const MAGIC: [u8; 8] = *b"scripwm1";
/// Magic, sequence number, hash, CRC-32C.
const SLOT_BYTES: usize = 8 + 8 + 32 + 4;
const SLOT_OFFSETS: [u64; 2] = [0, 4096];

pub(crate) struct Watermark {
    file: File,
    written: FramePosition,
    /// Slots written so far; the next goes where the older one is.
    writes: usize,
}

impl Watermark {
    /// Creates the file of a new log. The caller syncs the directory.
    pub(crate) fn create(path: &Path) -> Result<(), Error> {
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path);
        let mut watermark = Self {
            file: file.map_err(|error| io(&error))?,
            written: FramePosition::default(),
            writes: 0,
        };
        watermark.write(FramePosition::default())?;
        watermark.write(FramePosition::default())
    }

    /// Opens the file of an existing log.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|error| {
                Error::Unusable(format!(
                    "{} cannot be read ({error}): without it it is unknown whether the end of the \
                 log was lost. Restore the data directory as a whole",
                    path.display()
                ))
            })?;
        let slots = SLOT_OFFSETS.map(|offset| read(&file, offset));
        let (written, writes) = match slots {
            [Some(first), Some(second)] if second.lsn >= first.lsn => (second, 0),
            [Some(first), _] => (first, 1),
            [None, Some(second)] => (second, 0),
            [None, None] => {
                return Err(Error::Damaged(format!(
                    "{}: neither of its two slots is readable",
                    path.display()
                )));
            }
        };
        Ok(Self {
            file,
            written,
            writes,
        })
    }

    pub(crate) const fn place(&self) -> FramePosition {
        self.written
    }

    /// Notes that the log is durable up to here. Must be called only after that is so.
    pub(crate) fn write(&mut self, place: FramePosition) -> Result<(), Error> {
        let offset = if self.writes.is_multiple_of(2) {
            SLOT_OFFSETS[0]
        } else {
            SLOT_OFFSETS[1]
        };
        self.file
            .write_all_at(&encode(&place), offset)
            .map_err(|error| io(&error))?;
        self.file.sync_data().map_err(|error| io(&error))?;
        self.writes = self.writes.wrapping_add(1);
        self.written = place;
        Ok(())
    }
}

pub(crate) fn encode(place: &FramePosition) -> Vec<u8> {
    let mut slot = Vec::with_capacity(SLOT_BYTES);
    slot.extend_from_slice(&MAGIC);
    slot.extend_from_slice(&place.lsn.to_be_bytes());
    slot.extend_from_slice(&place.hash);
    let crc = crc32c::crc32c(&slot);
    slot.extend_from_slice(&crc.to_be_bytes());
    slot
}

fn read(file: &File, offset: u64) -> Option<FramePosition> {
    let mut slot = [0; SLOT_BYTES];
    file.read_exact_at(&mut slot, offset).ok()?;
    let (magic, rest) = slot.split_first_chunk::<8>()?;
    let (lsn, rest) = rest.split_first_chunk::<8>()?;
    let (hash, _) = rest.split_first_chunk::<32>()?;
    let place = FramePosition {
        lsn: u64::from_be_bytes(*lsn),
        hash: *hash,
    };
    (*magic == MAGIC && encode(&place) == slot).then_some(place)
}

fn io(error: &std::io::Error) -> Error {
    Error::Io(format!("the watermark: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(lsn: u64) -> FramePosition {
        FramePosition {
            lsn,
            hash: [lsn.to_be_bytes()[7]; 32],
        }
    }

    #[test]
    fn the_last_place_is_read_back_and_a_torn_write_leaves_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        Watermark::create(&path).unwrap();
        assert_eq!(
            Watermark::open(&path).unwrap().place(),
            FramePosition::default()
        );
        for last in 1..=5 {
            let mut watermark = Watermark::open(&path).unwrap();
            watermark.write(place(last)).unwrap();
            assert_eq!(Watermark::open(&path).unwrap().place(), place(last));
            // A later write may tear either slot: the other is still read.
            let mut damaged = std::fs::read(&path).unwrap();
            let newest = SLOT_OFFSETS.map(|at| read(&watermark.file, at).unwrap().lsn == last);
            damaged[if newest[0] { 20 } else { 4096 + 20 }] ^= 1;
            let other = dir.path().join("damaged");
            std::fs::write(&other, damaged).unwrap();
            assert_eq!(Watermark::open(&other).unwrap().place().lsn, last - 1);
        }
    }

    #[test]
    fn a_missing_or_unreadable_one_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        assert!(matches!(Watermark::open(&path), Err(Error::Unusable(_))));
        std::fs::write(&path, [0; 5000]).unwrap();
        assert!(matches!(Watermark::open(&path), Err(Error::Damaged(_))));
    }
}
