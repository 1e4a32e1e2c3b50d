//! Items: what appends, and so frames, are made of. Each says its length, so that a log is split into wallets'
//! entries, documents and notes without decoding them.
//!
//! ```text
//! 1  [u8;16] wallet  u16 length  entry     something happened to a wallet: see `entry`
//! 2  u16 length  document                  a catalog document was put
//! 3  u8 length  key  u16 length  body      a note was put
//! 4  u8 length  key                        a note was forgotten
//! 5  [u8;16] project  u16 length  project event   something to tell a project's own servers
//! 6  u16 length  leadership item           who leads, or that the log divides here: see `leadership`
//! ```
//! All numbers big-endian.

use domain::id::{ProjectId, WalletKey};

use crate::error::Error;

pub(super) const WALLET: u8 = 1;
pub(super) const DOCUMENT: u8 = 2;
const NOTE: u8 = 3;
const FORGOTTEN: u8 = 4;
pub(super) const PROJECT_EVENT: u8 = 5;
pub(super) const LEADERSHIP: u8 = 6;

/// An item of an append, still encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    Wallet(WalletKey, &'a [u8]),
    Document(&'a [u8]),
    /// Key and body; without a body the note is forgotten.
    Note(&'a [u8], Option<&'a [u8]>),
    ProjectEvent(ProjectId, &'a [u8]),
    /// Nothing is applied from it.
    Leadership(&'a [u8]),
}

/// Begins an item of a kind, of something; returns the start to pass to [`end`].
pub(super) fn begin(bytes: &mut Vec<u8>, kind: u8, of: &[u8]) -> usize {
    bytes.push(kind);
    bytes.extend_from_slice(of);
    begin_value(bytes)
}

fn begin_value(bytes: &mut Vec<u8>) -> usize {
    bytes.extend_from_slice(&[0; 2]);
    bytes.len()
}

/// Ends the item that began at `start`, writing its length. `Err` if it is too long.
pub(crate) fn end(bytes: &mut [u8], start: usize) -> Result<(), Error> {
    let length = bytes.len().saturating_sub(start);
    let length = u16::try_from(length).map_err(|_| too_long())?;
    let place = start.saturating_sub(2)..start;
    if let Some(place) = bytes.get_mut(place) {
        place.copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

pub(crate) fn push_note(bytes: &mut Vec<u8>, key: &[u8], body: Option<&[u8]>) -> Result<(), Error> {
    bytes.push(if body.is_some() { NOTE } else { FORGOTTEN });
    bytes.push(u8::try_from(key.len()).map_err(|_| too_long())?);
    bytes.extend_from_slice(key);
    if let Some(body) = body {
        let start = begin_value(bytes);
        bytes.extend_from_slice(body);
        end(bytes, start)?;
    }
    Ok(())
}

fn too_long() -> Error {
    Error::Damaged("an event is longer than an append may be".into())
}

/// The items of an append, in order.
pub(crate) fn items(mut bytes: &[u8]) -> impl Iterator<Item = Result<Item<'_>, Error>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let split = split(bytes);
        bytes = split.as_ref().map_or(&[], |(_, rest)| *rest);
        Some(split.map(|(item, _)| item))
    })
}

fn split(bytes: &[u8]) -> Result<(Item<'_>, &[u8]), Error> {
    let kind = bytes.first().copied().unwrap_or_default();
    if !(WALLET..=LEADERSHIP).contains(&kind) {
        return Err(Error::Unusable(format!(
            "an event of the log is of kind {kind}, which this version of Scrip does not know: \
             use a newer one"
        )));
    }
    split_known(bytes).ok_or_else(|| Error::Damaged("an event of the log is cut short".into()))
}

fn split_known(bytes: &[u8]) -> Option<(Item<'_>, &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    match *kind {
        WALLET => {
            let (wallet, rest) = rest.split_first_chunk::<16>()?;
            let (entry, rest) = long(rest)?;
            Some((Item::Wallet(WalletKey(*wallet), entry), rest))
        }
        DOCUMENT => long(rest).map(|(document, rest)| (Item::Document(document), rest)),
        LEADERSHIP => long(rest).map(|(item, rest)| (Item::Leadership(item), rest)),
        NOTE => {
            let (key, rest) = brief(rest)?;
            let (body, rest) = long(rest)?;
            Some((Item::Note(key, Some(body)), rest))
        }
        FORGOTTEN => brief(rest).map(|(key, rest)| (Item::Note(key, None), rest)),
        _ => {
            let (project, rest) = rest.split_first_chunk::<16>()?;
            let (project_event, rest) = long(rest)?;
            let project = ProjectId(u128::from_be_bytes(*project));
            Some((Item::ProjectEvent(project, project_event), rest))
        }
    }
}

/// The bytes after a two-byte length, and the rest.
pub(crate) fn long(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(u16::from_be_bytes(*length).into())
}

fn brief(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first()?;
    rest.split_at_checked((*length).into())
}
