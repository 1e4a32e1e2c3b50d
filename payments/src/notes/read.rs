//! Reading notes back. What cannot be read is named, with its key.

use data_encoding::HEXLOWER;
use domain::{Timestamp, id::ProjectId};

use crate::unfulfilled::UnfulfilledPayment;

use super::{AuditPage, FIRST_FOREIGN_KIND, Key, Note, Reached, StoredEvent, event, key::EventKey};

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
#[error("the note {key} ({what}) cannot be read: {why}")]
pub struct Unreadable {
    /// In hexadecimal digits.
    key: String,
    /// As far as the key says it.
    what: String,
    why: String,
}

/// Whether a key is that of something that a provider told and that is not worked off.
#[must_use]
pub fn is_untold(key: &[u8]) -> bool {
    matches!(Key::decode(key), Some(Key::Event(_)))
}

/// Whether notes can all be read: a sentence for each that cannot. `object` says what is wrong with an
/// object of the sandbox, by its name and its JSON.
///
/// For `scrip verify`; takes keys and bodies as the journal keeps them.
pub fn verify<'a>(
    notes: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    object: impl Fn(&str, &str) -> Result<(), String>,
) -> Vec<String> {
    let ours = notes.into_iter();
    let ours = ours.filter(|(key, _)| key.first().is_none_or(|kind| *kind < FIRST_FOREIGN_KIND));
    let read = ours.map(|(key, body)| {
        let note = Note::read(key, body)?;
        if let Note::Sandbox { id, json, .. } = &note {
            object(id, json).map_err(|why| unreadable(key, note.key().to_string(), why))?;
        }
        Ok::<_, Unreadable>(note)
    });
    read.filter_map(|read| read.err().map(|unreadable| unreadable.to_string()))
        .collect()
}

fn unreadable(key: &[u8], what: String, why: String) -> Unreadable {
    Unreadable {
        key: HEXLOWER.encode(key),
        what,
        why,
    }
}

impl Note {
    /// Reads a note as the journal keeps it.
    ///
    /// # Errors
    ///
    /// [`Unreadable`]: a kind, a version or a body that this release does not know.
    pub(super) fn read(key: &[u8], body: &[u8]) -> Result<Self, Unreadable> {
        let unreadable = |what, why| unreadable(key, what, why);
        let Some(named) = Key::decode(key) else {
            let why = "this release knows no such kind; a later one may have written it";
            return Err(unreadable("unknown".into(), why.into()));
        };
        let what = named.to_string();
        let Some((version, body)) = body.split_first() else {
            return Err(unreadable(what, "it is empty".into()));
        };
        let known = named.version();
        if !(1..=known).contains(version) {
            let why = format!("its version is {version}, and this release reads {known}");
            return Err(unreadable(what, why));
        }
        let note = named.with_body(*version, body);
        note.map_err(|why| unreadable(what, why))
    }
}

impl Key {
    /// Or why the body does not fit.
    fn with_body(self, version: u8, body: &[u8]) -> Result<Note, String> {
        match self {
            Self::Event(key) => StoredEvent::read(key, body).map(Note::Event),
            Self::Reached(project) => reached(project, body),
            Self::Awaited(project, order) => {
                let until = <[u8; 8]>::try_from(body).map_err(|_| "its body is no instant")?;
                let until = Timestamp(i64::from_be_bytes(until));
                Ok(Note::Awaited {
                    project,
                    order,
                    until,
                })
            }
            Self::Read(project) => {
                let (until, rest) = body.split_first_chunk().ok_or("its body is no instant")?;
                let heard = match (version, rest) {
                    // The first version did not say.
                    (1, []) | (2, [0]) => false,
                    (2, [1]) => true,
                    _ => return Err("its body is no instant and a flag".into()),
                };
                let until = Timestamp(i64::from_be_bytes(*until));
                Ok(Note::Read {
                    project,
                    until,
                    heard,
                })
            }
            Self::Made(project, what) => {
                let id = text(body)?.to_owned();
                if id.is_empty() {
                    return Err("its body is empty".into());
                }
                Ok(Note::Made { project, what, id })
            }
            Self::Sandbox(project, id) => {
                let json = text(body)?.to_owned();
                Ok(Note::Sandbox { project, id, json })
            }
            Self::Unfulfilled(project, name) => {
                let payment: Box<UnfulfilledPayment> = json(body)?;
                if payment.payment != name {
                    return Err("its body is another payment".into());
                }
                Ok(Note::Unfulfilled { project, payment })
            }
            Self::Proof(project) => {
                let proof = json(body)?;
                Ok(Note::Proof { project, proof })
            }
            Self::Audit(number) => {
                let text = text(body)?.to_owned();
                Ok(Note::Audit(AuditPage { number, text }))
            }
        }
    }
}

fn json<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

impl StoredEvent {
    fn read(key: EventKey, body: &[u8]) -> Result<Self, String> {
        let told = event::read(body)?;
        if EventKey::new(key.project, &told.id) != key {
            return Err("its body is another event".into());
        }
        Ok(Self { key, told })
    }
}

fn reached(project: ProjectId, body: &[u8]) -> Result<Note, String> {
    let (instants, rest) = body.as_chunks::<8>();
    let instants = instants.iter().map(|at| Timestamp(i64::from_be_bytes(*at)));
    let to = Reached::try_from(instants.collect::<Vec<_>>());
    match to {
        Ok(to) if rest.is_empty() => Ok(Note::Reached { project, to }),
        _ => Err("its body is not three instants".into()),
    }
}

fn text(body: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(body).map_err(|_| "its body is no text".into())
}
