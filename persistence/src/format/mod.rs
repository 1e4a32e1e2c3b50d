//! The form of what is on the disk: the domain's own types, field by field in their order and variants by the order of
//! their enums, behind a format version. They are read through the domain's checked constructors, so that damaged bytes
//! are an error and never credits out of bounds. Golden files fail where a change of the domain would change what is on
//! the disk: once a release wrote it, such a change needs a copy of the former types here, and a version of its own.

pub(crate) mod append;
mod body;
pub(crate) mod codec;
pub(crate) mod entry;
pub(crate) mod item;
pub(crate) mod leadership;
#[cfg(test)]
mod tests;

pub(crate) use body::DecodedEntry;

use domain::{
    Timestamp,
    catalog::Document,
    history::Record,
    id::{ProjectId, WalletId, WalletKey},
    project_event::{EventData, ProjectEvent},
    text::ExternalUserId,
    wallet::Wallet,
};

use self::codec::{FORMAT, checked, decode_named, encode_into, encode_value};
use crate::error::Error;

pub(crate) fn encode_wallet(wallet: &Wallet) -> Result<Vec<u8>, Error> {
    encode_value(wallet)
}

pub(crate) fn decode_wallet(bytes: &[u8]) -> Result<Wallet, Error> {
    decode_named(bytes, "a wallet's snapshot")
}

/// The size of a record by itself, without page, index or key: disk use is compared with it.
/// # Errors
/// When it does not encode, which is a defect.
pub fn record_bytes(record: &Record) -> Result<u64, Error> {
    Ok(encode_value(record)?.len() as u64)
}

pub(crate) fn encode_document(document: &Document) -> Result<Vec<u8>, Error> {
    encode_value(document)
}

pub(crate) fn decode_document(bytes: &[u8]) -> Result<Document, Error> {
    decode_named(bytes, "a catalog document")
}

type ProjectEventFields = (
    Timestamp,
    Timestamp,
    WalletKey,
    WalletId,
    Option<ExternalUserId>,
    EventData,
);

pub(crate) fn write_project_event(
    bytes: &mut Vec<u8>,
    project_event: &ProjectEvent,
) -> Result<(), Error> {
    let ProjectEvent {
        project: _,
        at,
        recorded,
        key,
        wallet,
        user,
        data,
    } = project_event;
    bytes.push(FORMAT);
    encode_into(bytes, &(at, recorded, key, wallet, user, data))
}

pub(crate) fn decode_project_event(
    project: ProjectId,
    bytes: &[u8],
) -> Result<ProjectEvent, Error> {
    let fields = decode_named::<ProjectEventFields>(bytes, "a project event")?;
    let (at, recorded, key, wallet, user, data) = fields;
    Ok(ProjectEvent {
        project,
        at,
        recorded,
        key,
        wallet,
        user,
        data,
    })
}

/// A note's body after a format version. The layers above interpret the body.
pub(crate) fn encode_note(body: &[u8]) -> Vec<u8> {
    [[FORMAT].as_slice(), body].concat()
}

pub(crate) fn decode_note(value: &[u8]) -> Result<&[u8], Error> {
    checked(value, "a note")
}
