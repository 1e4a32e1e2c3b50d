//! What is on the disk, apart from what the domain's types look like today. Each version is a file
//! that converts to and from them; what an old version wrote stays readable for good, and golden
//! files prove it. A new version gets a file beside the old ones, never a change of one.

pub(crate) mod entry;
pub(crate) mod item;
mod v1;

use domain::{catalog::Document, history::Record, wallet::Wallet};

use crate::{
    codec::{FORMAT, checked, encode_value},
    contract::Error,
};

/// A wallet's snapshot.
pub(crate) fn encode_wallet(wallet: &Wallet) -> Result<Vec<u8>, Error> {
    encode_value(wallet)
}

/// A snapshot read back.
pub(crate) fn decode_wallet(bytes: &[u8]) -> Result<Wallet, Error> {
    crate::codec::decode_value(bytes)
}

/// How large a record is by itself, once and with nothing around it: what disk use is held against.
///
/// # Errors
/// Where it does not encode, which is a defect.
pub fn record_bytes(record: &Record) -> Result<u64, Error> {
    Ok(encode_value(record)?.len() as u64)
}

/// A catalog document.
pub(crate) fn encode_document(document: &Document) -> Result<Vec<u8>, Error> {
    encode_value(document)
}

/// A document read back.
pub(crate) fn decode_document(bytes: &[u8]) -> Result<Document, Error> {
    crate::codec::decode_value(bytes)
}

/// A note's body behind the version of its frame; what it says is the layers' above.
pub(crate) fn encode_note(body: &[u8]) -> Vec<u8> {
    [[FORMAT].as_slice(), body].concat()
}

/// What a stored note says.
pub(crate) fn decode_note(value: &[u8]) -> Result<&[u8], Error> {
    checked(value, "a note")
}
