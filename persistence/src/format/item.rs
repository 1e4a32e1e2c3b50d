//! Items: what appends, and so frames, are made of. Each says its length, so that a log is split into wallets'
//! entries, documents and notes without decoding them.
//!
//! ```text
//! 1  [u8;16] wallet  u16 length  entry     something happened to a wallet: see `entry`
//! 2  u16 length  document                  a catalog document was put
//! 3  u8 length  key  u16 length  body      a note was put
//! 4  u8 length  key                        a note was forgotten
//! 5  [u8;16] project  u16 length  project event   something to tell a project's own servers
//! 6  u16 length  term start                who leads from here on: see `leadership`
//! 7  u16 length  heartbeat                 the leader still leads
//! 8  u16 length  resignation               the leader leads no more
//! 9  u16 length  split                     another cell's log goes on from here, by itself
//! ```
//! All numbers big-endian.

use domain::id::{ProjectId, WalletKey};

use crate::error::Error;

const WALLET: u8 = 1;
const DOCUMENT: u8 = 2;
const NOTE: u8 = 3;
const FORGOTTEN: u8 = 4;
const PROJECT_EVENT: u8 = 5;
const TERM_START: u8 = 6;
const HEARTBEAT: u8 = 7;
const RESIGNATION: u8 = 8;
const SPLIT: u8 = 9;

/// An item of an append, still encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    Wallet(WalletKey, &'a [u8]),
    Document(&'a [u8]),
    /// Key and body; without a body the note is forgotten.
    Note(&'a [u8], Option<&'a [u8]>),
    ProjectEvent(ProjectId, &'a [u8]),
    TermStart(&'a [u8]),
    Heartbeat(&'a [u8]),
    Resignation(&'a [u8]),
    Split(&'a [u8]),
}

impl Item<'_> {
    /// Whether it says something that is applied, not who leads or where the log divides.
    pub(crate) const fn is_event(&self) -> bool {
        !matches!(
            self,
            Self::TermStart(_) | Self::Heartbeat(_) | Self::Resignation(_) | Self::Split(_)
        )
    }
}

/// Begins a wallet's item; returns the start to pass to [`end`].
pub(crate) fn begin_wallet(bytes: &mut Vec<u8>, wallet: &WalletKey) -> usize {
    bytes.push(WALLET);
    bytes.extend_from_slice(&wallet.0);
    begin(bytes)
}

pub(crate) fn begin_document(bytes: &mut Vec<u8>) -> usize {
    bytes.push(DOCUMENT);
    begin(bytes)
}

pub(crate) fn begin_term_start(bytes: &mut Vec<u8>) -> usize {
    bytes.push(TERM_START);
    begin(bytes)
}

pub(crate) fn begin_heartbeat(bytes: &mut Vec<u8>) -> usize {
    bytes.push(HEARTBEAT);
    begin(bytes)
}

pub(crate) fn begin_resignation(bytes: &mut Vec<u8>) -> usize {
    bytes.push(RESIGNATION);
    begin(bytes)
}

pub(crate) fn begin_split(bytes: &mut Vec<u8>) -> usize {
    bytes.push(SPLIT);
    begin(bytes)
}

pub(crate) fn begin_project_event(bytes: &mut Vec<u8>, project: ProjectId) -> usize {
    bytes.push(PROJECT_EVENT);
    bytes.extend_from_slice(&project.0.to_be_bytes());
    begin(bytes)
}

fn begin(bytes: &mut Vec<u8>) -> usize {
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
        let start = begin(bytes);
        bytes.extend_from_slice(body);
        end(bytes, start)?;
    }
    Ok(())
}

fn too_long() -> Error {
    Error::Damaged("an event is longer than an append may be".into())
}

pub(crate) fn split(bytes: &[u8]) -> Result<(Item<'_>, &[u8]), Error> {
    let short = || Error::Damaged("an event of the log is cut short".into());
    let (kind, rest) = bytes.split_first().ok_or_else(short)?;
    match *kind {
        WALLET => {
            let (wallet, rest) = rest.split_first_chunk::<16>().ok_or_else(short)?;
            let (entry, rest) = long(rest).ok_or_else(short)?;
            Ok((Item::Wallet(WalletKey(*wallet), entry), rest))
        }
        DOCUMENT | TERM_START | HEARTBEAT | RESIGNATION | SPLIT => {
            let (value, rest) = long(rest).ok_or_else(short)?;
            let item = match *kind {
                TERM_START => Item::TermStart(value),
                HEARTBEAT => Item::Heartbeat(value),
                RESIGNATION => Item::Resignation(value),
                SPLIT => Item::Split(value),
                _ => Item::Document(value),
            };
            Ok((item, rest))
        }
        NOTE => {
            let (key, rest) = brief(rest).ok_or_else(short)?;
            let (body, rest) = long(rest).ok_or_else(short)?;
            Ok((Item::Note(key, Some(body)), rest))
        }
        FORGOTTEN => {
            let (key, rest) = brief(rest).ok_or_else(short)?;
            Ok((Item::Note(key, None), rest))
        }
        PROJECT_EVENT => {
            let (project, rest) = rest.split_first_chunk::<16>().ok_or_else(short)?;
            let (project_event, rest) = long(rest).ok_or_else(short)?;
            let project = ProjectId(u128::from_be_bytes(*project));
            Ok((Item::ProjectEvent(project, project_event), rest))
        }
        other => Err(Error::Unusable(format!(
            "an event of the log is of kind {other}, which this version of Scrip does not know: \
             use a newer one"
        ))),
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
