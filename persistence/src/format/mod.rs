//! The form of what is on the disk, independent of what the domain's types look like today. Each version is a file
//! that converts to and from them; what an old version wrote stays readable for good, and golden files prove it. A
//! new version gets a file beside the old ones, never a change of one.

pub(crate) mod append;
pub(crate) mod codec;
pub(crate) mod entry;
pub(crate) mod item;
pub(crate) mod leadership;
#[cfg(test)]
mod tests;
mod v1;

pub(crate) use v1::DecodedEntry;

use domain::{
    catalog::Document, history::Record, id::ProjectId, project_event::ProjectEvent, wallet::Wallet,
};

use self::codec::{FORMAT, checked};
use crate::error::Error;

pub(crate) fn encode_wallet(wallet: &Wallet) -> Result<Vec<u8>, Error> {
    let mut bytes = versioned_buffer();
    v1::write_wallet(&mut bytes, wallet)?;
    Ok(bytes)
}

pub(crate) fn decode_wallet(bytes: &[u8]) -> Result<Wallet, Error> {
    match versioned(bytes, "a wallet's snapshot")? {
        (v1::VERSION, snapshot) => v1::read_wallet(snapshot),
        (other, _) => Err(v1::newer("a wallet's snapshot", other)),
    }
}

/// The size of a record by itself, without page, index or key: disk use is compared with it.
///
/// # Errors
/// When it does not encode, which is a defect.
pub fn record_bytes(record: &Record) -> Result<u64, Error> {
    let mut bytes = versioned_buffer();
    v1::write_record(&mut bytes, record)?;
    Ok(bytes.len() as u64)
}

pub(crate) fn encode_document(document: &Document) -> Result<Vec<u8>, Error> {
    let mut bytes = versioned_buffer();
    v1::write_document(&mut bytes, document)?;
    Ok(bytes)
}

pub(crate) fn decode_document(bytes: &[u8]) -> Result<Document, Error> {
    match versioned(bytes, "a catalog document")? {
        (v1::VERSION, document) => v1::read_document(document),
        (other, _) => Err(v1::newer("a catalog document", other)),
    }
}

pub(crate) fn write_project_event(
    bytes: &mut Vec<u8>,
    project_event: &ProjectEvent,
) -> Result<(), Error> {
    bytes.push(v1::VERSION);
    v1::write_project_event(bytes, project_event)
}

pub(crate) fn decode_project_event(
    project: ProjectId,
    bytes: &[u8],
) -> Result<ProjectEvent, Error> {
    match versioned(bytes, "a project event")? {
        (v1::VERSION, project_event) => v1::read_project_event(project, project_event),
        (other, _) => Err(v1::newer("a project event", other)),
    }
}

fn versioned_buffer() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    bytes.push(v1::VERSION);
    bytes
}

/// Splits the version off; `what` names the value in an error.
fn versioned<'a>(bytes: &'a [u8], what: &str) -> Result<(u8, &'a [u8]), Error> {
    let split = bytes.split_first().map(|(version, rest)| (*version, rest));
    split.ok_or_else(|| Error::Damaged(format!("{what} is empty")))
}

/// A note's body after a format version. The layers above interpret the body.
pub(crate) fn encode_note(body: &[u8]) -> Vec<u8> {
    [[FORMAT].as_slice(), body].concat()
}

pub(crate) fn decode_note(value: &[u8]) -> Result<&[u8], Error> {
    checked(value, "a note")
}
