//! Small records in the journal beside wallets and catalog: acknowledged webhooks, deliveries to customers' servers,
//! pages of the audit log. The code that keeps a kind declares it ([`NoteKind`]); only this module writes and reads
//! them.
//!
//! A key is the kind's number and the note's key within it. A body is a version and JSON. Numbers and meanings are
//! never reused.
//!
//! An unreadable note is an error that names it: it is never skipped or replaced by a default, since each means a
//! promise.

mod key;
#[cfg(test)]
mod tests;

use crate::Handle;
use data_encoding::HEXLOWER;
use persistence::Note;
use serde::{Serialize, de::DeserializeOwned};

pub use self::key::{NoteKey, NoteOwner};

/// The first byte of every body.
const VERSION: u8 = 1;

/// A kind of notes, declared by the code that keeps them.
pub trait NoteKind {
    /// The first byte of every key, never reused for another kind.
    const NUMBER: u8;
    /// The name of this kind in errors.
    const NAME: &'static str;
    /// The key of a note within its kind.
    type Key: NoteKey;
    /// The content of a note, stored as JSON.
    type Body: Serialize + DeserializeOwned;

    /// Checks whether a body belongs under its key.
    /// # Errors
    /// The fault as a sentence.
    fn check(_: &Self::Key, _: &Self::Body) -> Result<(), String> {
        Ok(())
    }
}

/// Declares kinds of notes: the number and the name of each, its key and its body, and by what a body belongs under its
/// key.
#[macro_export]
macro_rules! note_kinds {
    ($($(#[$meta:meta])* $vis:vis struct $kind:ident: $number:literal, $name:literal, $key:ty => $body:ty
        $(, |$at:pat_param, $content:pat_param| $belongs:expr)?;)*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        $vis struct $kind;

        impl $crate::notes::NoteKind for $kind {
            const NUMBER: u8 = $number;
            const NAME: &'static str = $name;
            type Key = $key;
            type Body = $body;
            $(
                fn check($at: &$key, $content: &$body) -> Result<(), String> {
                    let belongs = $belongs;
                    belongs.then_some(()).ok_or_else(|| "its body is of another key".into())
                }
            )?
        }
    )*};
}

/// Notes of a kind: the key and the body of each.
pub type Notes<K> = Vec<(<K as NoteKind>::Key, <K as NoteKind>::Body)>;

/// Why notes cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// One of them cannot be decoded.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The journal cannot be read.
    #[error(transparent)]
    Store(#[from] persistence::Error),
}

/// One note cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the note {key} ({name}) cannot be read: {reason}")]
pub struct Unreadable {
    /// The journal's key, in hexadecimal digits.
    key: String,
    /// [`NoteKind::NAME`], or "unknown".
    name: &'static str,
    reason: String,
}

/// A note to write, in the journal's form.
#[must_use]
pub fn put<K: NoteKind>(key: &K::Key, body: &K::Body) -> Note {
    let mut bytes = vec![VERSION];
    // Bodies are texts and numbers, which always become JSON.
    bytes.extend(serde_json::to_vec(body).unwrap_or_default());
    Note {
        key: encoded::<K>(&key.encode()),
        body: Some(bytes.into()),
    }
}

/// A note to delete, in the journal's form.
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

/// Decodes a note from the journal's key and body.
/// # Errors
/// [`Unreadable`] when it is damaged, of another version or of another kind.
pub fn read<K: NoteKind>(key: &[u8], body: &[u8]) -> Result<(K::Key, K::Body), Unreadable> {
    parsed::<K>(key, body).map_err(|reason| Unreadable {
        key: HEXLOWER.encode(key),
        name: K::NAME,
        reason,
    })
}

fn parsed<K: NoteKind>(key: &[u8], body: &[u8]) -> Result<(K::Key, K::Body), String> {
    let key = key.strip_prefix(&[K::NUMBER]).and_then(NoteKey::decode);
    let key = key.ok_or("its key does not have the form of its kind's keys")?;
    let (version, json) = body.split_first().ok_or("its body is empty")?;
    if *version != VERSION {
        let reason = format!("its version is {version}, and this release reads {VERSION}");
        return Err(reason);
    }
    let body = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    K::check(&key, &body)?;
    Ok((key, body))
}

/// All folded notes of a kind, in the order of their keys.
/// # Errors
/// [`Error::Unreadable`] for the first that cannot be decoded, [`Error::Store`] when the journal cannot be read.
pub fn all<K: NoteKind>(handle: &Handle) -> Result<Notes<K>, Error> {
    with_prefix::<K>(handle, &[])
}

/// All folded notes of a kind that belong to one project or endpoint.
/// # Errors
/// As [`all`].
pub fn of<K: NoteKind<Key = (O, N)>, O: NoteOwner, N>(
    handle: &Handle,
    owner: &O,
) -> Result<Notes<K>, Error>
where
    K::Key: NoteKey,
{
    with_prefix::<K>(handle, &owner.encode())
}

/// All folded notes of a kind whose keys begin with an owner's and with this number: the upper half of theirs.
/// # Errors
/// As [`all`].
pub fn within<K: NoteKind<Key = (O, u64)>, O: NoteOwner>(
    handle: &Handle,
    (owner, upper): &(O, u32),
) -> Result<Notes<K>, Error> {
    with_prefix::<K>(
        handle,
        &[owner.encode(), upper.to_be_bytes().into()].concat(),
    )
}

/// The body of one folded note, if it exists.
/// # Errors
/// As [`all`].
pub fn one<K: NoteKind>(handle: &Handle, key: &K::Key) -> Result<Option<K::Body>, Error> {
    let key = key.encode();
    let stored = with_prefix::<K>(handle, &key)?;
    let same = stored
        .into_iter()
        .find(|(stored, _)| stored.encode() == key);
    Ok(same.map(|(_, body)| body))
}

fn with_prefix<K: NoteKind>(handle: &Handle, prefix: &[u8]) -> Result<Notes<K>, Error> {
    let stored = handle.notes(&encoded::<K>(prefix))?;
    let read = stored.iter().map(|(key, body)| read::<K>(key, body));
    Ok(read.collect::<Result<_, _>>()?)
}

/// Logs any number of notes, in several appends if needed. When an append fails, those before it stay logged.
/// # Errors
/// As for [`Handle::put_notes`].
pub async fn put_all(
    handle: &Handle,
    notes: impl IntoIterator<Item = Note>,
) -> Result<(), crate::Error> {
    /// Limits of one append of 56 KiB.
    const MAX_NOTES: usize = 256;
    const MAX_BYTES: usize = 24_000;
    let (mut some, mut bytes) = (Vec::new(), 0_usize);
    for note in notes {
        let body = note.body.as_ref().map_or(0, |body| body.len());
        let size = note.key.len() + body;
        if some.len() >= MAX_NOTES || bytes.saturating_add(size) > MAX_BYTES {
            handle.put_notes(std::mem::take(&mut some)).await?;
            bytes = 0;
        }
        bytes += size;
        some.push(note);
    }
    match some.is_empty() {
        true => Ok(()),
        false => handle.put_notes(some).await,
    }
}

/// A [`NoteKind`] as a value, for [`verify`] and [`refuse_unknown`].
#[derive(Debug, Clone, Copy)]
pub struct ErasedKind {
    number: u8,
    read: fn(&[u8], &[u8]) -> Result<(), Unreadable>,
}

impl ErasedKind {
    /// The kind `K` as a value.
    pub const fn of<K: NoteKind>() -> Self {
        Self {
            number: K::NUMBER,
            read: |key, body| read::<K>(key, body).map(drop),
        }
    }
}

/// Checks that all notes, as keys and bodies of the journal, can be read: returns an error for each that cannot, or
/// that is of none of these kinds.
pub fn verify<'a>(
    kinds: &[ErasedKind],
    notes: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
) -> Vec<Unreadable> {
    let read = notes.into_iter().map(|(key, body)| {
        let kind = kinds.iter().find(|kind| key.first() == Some(&kind.number));
        kind.map_or_else(|| Err(of_no_kind(key)), |kind| (kind.read)(key, body))
    });
    read.filter_map(Result::err).collect()
}

/// Fails if a note is of none of these kinds, because a later release may have written it.
/// # Errors
/// [`Error::Unreadable`] for the first such note, [`Error::Store`] when the journal cannot be read.
pub fn refuse_unknown(handle: &Handle, kinds: &[ErasedKind]) -> Result<(), Error> {
    let is_known = |number: &u8| kinds.iter().any(|kind| kind.number == *number);
    for number in (0..=u8::MAX).filter(|number| !is_known(number)) {
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
        reason: "this release does not know its kind; a later one may have written it".into(),
    }
}
