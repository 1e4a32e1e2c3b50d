//! How values become bytes: bincode (serde form, variable-length integers) behind a format version.
//! The only file that names bincode.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The version of every value that is stored by itself.
pub(crate) const FORMAT: u8 = 1;

/// Larger than any value: a damaged length beyond it is refused at once.
const MAX_BYTES: usize = 256 << 20;

const CONFIG: Config = bincode::config::standard().with_limit::<MAX_BYTES>();

type Config = bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Varint,
    bincode::config::Limit<MAX_BYTES>,
>;

/// Appends a value without a version, which the caller writes.
pub(crate) fn encode_into<T: Serialize>(bytes: &mut Vec<u8>, value: &T) -> Result<(), Error> {
    bincode::serde::encode_into_std_write(value, bytes, CONFIG)
        .map(drop)
        .map_err(|error| Error::Damaged(format!("a value does not encode: {error}")))
}

/// Decodes what [`encode_into`] wrote, borrowing texts; no bytes may be left over.
pub(crate) fn decode_all<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Error> {
    let (value, used) = bincode::serde::borrow_decode_from_slice(bytes, CONFIG)
        .map_err(|error| Error::Damaged(format!("a value does not decode: {error}")))?;
    if used == bytes.len() {
        Ok(value)
    } else {
        Err(Error::Damaged("bytes are left over after a value".into()))
    }
}

/// A stored value: the format version, then the value.
pub(crate) fn encode_value<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(512);
    bytes.push(FORMAT);
    encode_into(&mut bytes, value)?;
    Ok(bytes)
}

pub(crate) fn decode_value<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Error> {
    decode_named(bytes, "a stored value")
}

/// Decodes a stored value; `what` names it in an error.
pub(crate) fn decode_named<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    what: &str,
) -> Result<T, Error> {
    decode_all(checked(bytes, what)?)
}

/// Checks the version of a stored value, and returns what follows it.
pub(crate) fn checked<'a>(bytes: &'a [u8], what: &str) -> Result<&'a [u8], Error> {
    let split = bytes.split_first();
    let (format, rest) = split.ok_or_else(|| Error::Damaged(format!("{what} is empty")))?;
    known(*format, what).map(|()| rest)
}

/// Refuses a format that only a later version of Scrip reads.
pub(crate) fn known(format: u8, what: &str) -> Result<(), Error> {
    if format == FORMAT {
        return Ok(());
    }
    Err(Error::Unusable(format!(
        "{what} has format {format}, this version of Scrip reads {FORMAT}: use a newer one"
    )))
}

/// Many values may not be compressed together: reading one of them takes memory for all.
const MAX_UNPACKED_BYTES: usize = 1 << 20;

/// A stored value of these bytes, packed with LZ4: sorted keys share much with their neighbours.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![FORMAT];
    packed.extend_from_slice(&lz4_flex::compress_prepend_size(bytes));
    packed
}

/// The bytes that were packed; `what` names them in an error.
pub(crate) fn unpack(stored: &[u8], what: &str) -> Result<Vec<u8>, Error> {
    let packed = checked(stored, what)?;
    let damaged = |why: &dyn std::fmt::Display| Error::Damaged(format!("{what}: {why}"));
    let (length, packed) = lz4_flex::block::uncompressed_size(packed).map_err(|it| damaged(&it))?;
    if length > MAX_UNPACKED_BYTES {
        return Err(damaged(&"it is too large"));
    }
    lz4_flex::decompress(packed, length).map_err(|error| damaged(&error))
}
