//! The content of a chunk: records, one after the other.
//!
//! ```text
//! u8   version
//! for each record: u16 length of the key, u32 length of the value, key, value
//! ```
//! All numbers big-endian.

use crate::{books::copied::RawRecord, error::Error};

const VERSION: u8 = 1;

/// A chunk being filled. Its records' keys decide where it ends (content-defined chunking): a record that is added or
/// removed elsewhere moves no end, so that a later backup meets the same chunks.
pub(super) struct ChunkBuilder {
    bytes: Vec<u8>,
    records: u64,
    target: usize,
}

impl ChunkBuilder {
    pub(super) fn new(target: usize) -> Self {
        Self {
            bytes: vec![VERSION],
            records: 0,
            target,
        }
    }

    /// Adds a record; `true` where the chunk ends with it.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        let too_long = || Error::Damaged("a record is too long for a backup".into());
        let length = u16::try_from(key.len()).map_err(|_| too_long())?;
        self.bytes.extend_from_slice(&length.to_be_bytes());
        let length = u32::try_from(value.len()).map_err(|_| too_long())?;
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.records += 1;
        let size = key.len().saturating_add(value.len()).saturating_add(6);
        Ok(self.bytes.len() >= self.target.saturating_mul(4) || ends(key, size, self.target))
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Takes the content and the number of its records, and begins an empty chunk.
    pub(super) fn take(&mut self) -> (Vec<u8>, u64) {
        let bytes = std::mem::replace(&mut self.bytes, vec![VERSION]);
        (bytes, std::mem::take(&mut self.records))
    }
}

/// Whether a chunk ends with this record: drawn from its key, with a chance of `size` in `target`.
fn ends(key: &[u8], size: usize, target: usize) -> bool {
    let drawn = u64::from(crc32c::crc32c(key)).saturating_mul(target as u64);
    drawn >> 32 < size as u64
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<RawRecord<'_>>, Error> {
    let mut rest = match bytes.split_first() {
        Some((&VERSION, rest)) => rest,
        Some((other, _)) => {
            return Err(Error::Unusable(format!(
                "a chunk of the backup has format {other}, this version of Scrip reads {VERSION}: \
                 use a newer one"
            )));
        }
        None => return Err(short()),
    };
    let mut records = Vec::new();
    while !rest.is_empty() {
        let (key, after) = rest.split_first_chunk::<2>().ok_or_else(short)?;
        let (value, after) = after.split_first_chunk::<4>().ok_or_else(short)?;
        let key_length = usize::from(u16::from_be_bytes(*key));
        let value_length = usize::try_from(u32::from_be_bytes(*value)).map_err(|_| short())?;
        let (key, after) = after.split_at_checked(key_length).ok_or_else(short)?;
        let (value, after) = after.split_at_checked(value_length).ok_or_else(short)?;
        records.push((key, value));
        rest = after;
    }
    Ok(records)
}

fn short() -> Error {
    Error::Damaged("a chunk of the backup is cut short".into())
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "small numbers in a test"
)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn chunks(records: &[(Vec<u8>, Vec<u8>)]) -> BTreeSet<Vec<u8>> {
        let mut filling = ChunkBuilder::new(4096);
        let mut chunks = BTreeSet::new();
        for (key, value) in records {
            if filling.push(key, value).unwrap() {
                chunks.insert(filling.take().0);
            }
        }
        chunks.insert(filling.take().0);
        chunks
    }

    #[test]
    fn what_changes_in_one_place_changes_the_chunks_there_alone() {
        let record = |number: u32| (number.to_be_bytes().to_vec(), vec![7; 100]);
        let before: Vec<_> = (0..10_000).map(record).collect();
        let mut after = before.clone();
        after[5000].1 = vec![8; 90];
        after.remove(2000);
        after.insert(7000, (vec![0, 0, 27, 89, 1], vec![1; 50]));
        let (before, after) = (chunks(&before), chunks(&after));
        assert!(before.len() > 150, "{}", before.len());
        let new = after.difference(&before).count();
        assert!((1..=6).contains(&new), "{new} of {}", after.len());
    }

    #[test]
    fn records_are_read_back_and_what_is_cut_short_is_not() {
        let mut filling = ChunkBuilder::new(1 << 20);
        filling.push(b"a", b"one").unwrap();
        filling.push(b"", b"").unwrap();
        let (bytes, records) = filling.take();
        assert_eq!(records, 2);
        assert_eq!(
            read(&bytes).unwrap(),
            [(&b"a"[..], &b"one"[..]), (b"", b"")]
        );
        assert!(read(&bytes[..bytes.len() - 1]).is_err());
        assert!(matches!(read(&[9]), Err(Error::Unusable(_))));
    }
}
