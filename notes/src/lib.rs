//! Small records that are kept in the journal beside wallets and catalog: webhooks that were acknowledged, deliveries
//! to customers' servers, pages of the audit log. Each kind is declared by the code that keeps it ([`NoteKind`]), and
//! written and read here alone.
//!
//! A key is the kind's number and what names the note within it. A body is a version and JSON. Numbers and meanings
//! are never used again for something else.
//!
//! A note that cannot be read is an error that names it: it is never skipped and never replaced by a default, since
//! each stands for something that was promised.

pub mod as_text;
mod key;
#[cfg(test)]
mod tests;

use actors::Handle;
use data_encoding::HEXLOWER;
use persistence::Note;
use serde::{Serialize, de::DeserializeOwned};

pub use self::key::{NoteKey, Owner};

/// Of bodies that are written and read.
const VERSION: u8 = 1;

/// A kind of notes.
pub trait NoteKind {
    /// Stands first in every key. Never used again for another kind.
    const NUMBER: u8;
    /// What one of them is, for an error.
    const NAME: &'static str;
    /// What names one of them.
    type Key: NoteKey;
    /// What it says.
    type Body: Serialize + DeserializeOwned;

    /// Whether a body is what its key names.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    fn check(_: &Self::Key, _: &Self::Body) -> Result<(), String> {
        Ok(())
    }
}

/// Notes of a kind: what names each, and what it says.
pub type Notes<K> = Vec<(<K as NoteKind>::Key, <K as NoteKind>::Body)>;

/// Notes cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// One of them.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The journal.
    #[error(transparent)]
    Store(#[from] persistence::Error),
}

/// One note cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the note {key} ({name}) cannot be read: {reason}")]
pub struct Unreadable {
    /// In hexadecimal digits.
    key: String,
    /// What kind of note it is.
    name: &'static str,
    reason: String,
}

/// A note as the journal takes it.
#[must_use]
pub fn put<K: NoteKind>(key: &K::Key, body: &K::Body) -> Note {
    let mut bytes = vec![VERSION];
    // Texts and numbers: nothing in a body can fail to be JSON.
    bytes.extend(serde_json::to_vec(body).unwrap_or_default());
    Note {
        key: encoded::<K>(&key.encode()),
        body: Some(bytes.into()),
    }
}

/// What the journal is asked to forget a note by.
#[must_use]
pub fn forget<K: NoteKind>(key: &K::Key) -> Note {
    Note {
        key: encoded::<K>(&key.encode()),
        body: None,
    }
}

fn encoded<K: NoteKind>(key: &[u8]) -> Box<[u8]> {
    [&[K::NUMBER], key].concat().into()
}

/// Reads a note as the journal keeps it.
///
/// # Errors
///
/// [`Unreadable`], also where it is of another kind.
pub fn read<K: NoteKind>(key: &[u8], body: &[u8]) -> Result<(K::Key, K::Body), Unreadable> {
    parsed::<K>(key, body).map_err(|reason| Unreadable {
        key: HEXLOWER.encode(key),
        name: K::NAME,
        reason,
    })
}

fn parsed<K: NoteKind>(key: &[u8], body: &[u8]) -> Result<(K::Key, K::Body), String> {
    let key = key.strip_prefix(&[K::NUMBER]).and_then(NoteKey::decode);
    let key = key.ok_or("its key is not formed as its kind's are")?;
    let (version, json) = body.split_first().ok_or("it is empty")?;
    if *version != VERSION {
        let reason = format!("its version is {version}, and this release reads {VERSION}");
        return Err(reason);
    }
    let body = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    K::check(&key, &body)?;
    Ok((key, body))
}

/// All notes of a kind, by key, as far as they are folded.
///
/// # Errors
///
/// [`Error::Unreadable`] for the first that cannot be read, [`Error::Store`] where the journal cannot be.
pub fn all<K: NoteKind>(handle: &Handle) -> Result<Notes<K>, Error> {
    with_prefix::<K>(handle, &[])
}

/// Those of one project or endpoint.
///
/// # Errors
///
/// As [`all`].
pub fn of<K: NoteKind<Key = (O, N)>, O: Owner, N>(
    handle: &Handle,
    owner: &O,
) -> Result<Notes<K>, Error>
where
    K::Key: NoteKey,
{
    with_prefix::<K>(handle, &owner.encode())
}

/// One of them, where it is there.
///
/// # Errors
///
/// As [`all`].
pub fn one<K: NoteKind>(handle: &Handle, key: &K::Key) -> Result<Option<K::Body>, Error> {
    let key = key.encode();
    let found = with_prefix::<K>(handle, &key)?;
    let same = found.into_iter().find(|(found, _)| found.encode() == key);
    Ok(same.map(|(_, body)| body))
}

fn with_prefix<K: NoteKind>(handle: &Handle, prefix: &[u8]) -> Result<Notes<K>, Error> {
    let stored = handle.notes(&encoded::<K>(prefix))?;
    let read = stored.iter().map(|(key, body)| read::<K>(key, body));
    Ok(read.collect::<Result<_, _>>()?)
}

/// Logs any number of notes, some at a time: all of them together might not fit one append. Those before
/// one that fails are logged.
///
/// # Errors
///
/// Those of [`Handle::put_notes`].
pub async fn put_all(
    handle: &Handle,
    notes: impl IntoIterator<Item = Note>,
) -> Result<(), actors::Error> {
    /// Of one append, which takes 56 KiB.
    const MOST_NOTES: usize = 256;
    const MOST_BYTES: usize = 24_000;
    let (mut some, mut bytes) = (Vec::new(), 0_usize);
    for note in notes {
        let body = note.body.as_ref().map_or(0, |body| body.len());
        let size = note.key.len().saturating_add(body);
        if some.len() >= MOST_NOTES || bytes.saturating_add(size) > MOST_BYTES {
            handle.put_notes(std::mem::take(&mut some)).await?;
            bytes = 0;
        }
        bytes = bytes.saturating_add(size);
        some.push(note);
    }
    match some.is_empty() {
        true => Ok(()),
        false => handle.put_notes(some).await,
    }
}

/// One of the kinds that there are: see [`verify`].
#[derive(Debug, Clone, Copy)]
pub struct AnyKind {
    number: u8,
    read: fn(&[u8], &[u8]) -> Result<(), Unreadable>,
}

impl AnyKind {
    /// This one.
    #[must_use]
    pub const fn of<K: NoteKind>() -> Self {
        Self {
            number: K::NUMBER,
            read: |key, body| read::<K>(key, body).map(drop),
        }
    }
}

/// Whether notes can all be read: an error for each that cannot, or that is of none of these kinds. Takes keys and
/// bodies as the journal keeps them.
pub fn verify<'a>(
    kinds: &[AnyKind],
    notes: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
) -> Vec<Unreadable> {
    let read = notes.into_iter().map(|(key, body)| {
        let kind = kinds.iter().find(|kind| key.first() == Some(&kind.number));
        kind.map_or_else(|| Err(of_no_kind(key)), |kind| (kind.read)(key, body))
    });
    read.filter_map(Result::err).collect()
}

/// Refuses to go on where a note is of none of these kinds: a later release may have written it.
///
/// # Errors
///
/// As [`all`].
pub fn refuse_unknown(handle: &Handle, kinds: &[AnyKind]) -> Result<(), Error> {
    let known = |number: &u8| kinds.iter().any(|kind| kind.number == *number);
    for number in (0..=u8::MAX).filter(|number| !known(number)) {
        if let Some((key, _)) = handle.notes(&[number])?.first() {
            return Err(of_no_kind(key).into());
        }
    }
    Ok(())
}

fn of_no_kind(key: &[u8]) -> Unreadable {
    Unreadable {
        key: HEXLOWER.encode(key),
        name: "unknown",
        reason: "this release knows no such kind; a later one may have written it".into(),
    }
}
