//! Small things that are kept in the journal beside wallets and catalog, each declared here: its
//! kind, what names it, its version and its body. Nobody else turns one into bytes or back.
//!
//! A key is the kind's number, the project, and what names the note within both. A body is the
//! kind's version and what it says. Numbers and meanings are never used again for something else; a
//! body that changes gets the next version, and the former one stays readable.
//!
//! A note that cannot be read is an error that names it: it is never skipped and never replaced by
//! a default, since each stands for something that was promised (an acknowledged webhook, say). All
//! are read at the start.

mod key;
#[cfg(test)]
mod tests;

use actors::Handle;
use data_encoding::HEXLOWER;
use domain::{Timestamp, id::ProjectId};
use serde::{Serialize, de::DeserializeOwned};

use self::key::Kind;
pub use self::key::{EventKey, FIRST_FOREIGN_KIND, Key};
use crate::{proof::Proof, unfulfilled::UnfulfilledPayment};
use port::Told;

/// Of bodies that are written and read.
const VERSION: u8 = 1;

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

/// A note with what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// What a provider told, was acknowledged and has to be worked off.
    Event(StoredEvent),
    /// Until when a provider's list of events was read and worked off.
    Read {
        /// Whose.
        project: ProjectId,
        /// By the provider's clock.
        until: Timestamp,
        /// Whether a webhook had ever come by then.
        heard: bool,
    },
    /// The provider's name for something that was made there once, by the hash of what it is.
    Made {
        /// Whose.
        project: ProjectId,
        /// Of what.
        what: [u8; 16],
        /// The provider's name for it.
        id: String,
    },
    /// An object of a project's sandbox, as it writes them.
    Sandbox {
        /// Whose.
        project: ProjectId,
        /// The object's name.
        id: String,
        /// As it is written there.
        json: String,
    },
    /// A payment that leads to no order.
    Unfulfilled {
        /// Whose.
        project: ProjectId,
        /// What is known of it.
        payment: Box<UnfulfilledPayment>,
    },
    /// What the last proof of a project's books came to.
    Proof {
        /// Whose.
        project: ProjectId,
        /// What.
        proof: Box<Proof>,
    },
    /// A page of what was changed by administrators.
    Audit(AuditPage),
}

/// A page of what was changed by administrators, as whoever keeps it writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// Which.
    pub number: u64,
    /// What it says.
    pub text: String,
}

/// What a provider told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// What names it.
    pub key: EventKey,
    /// What it says.
    pub told: Told,
}

impl Note {
    /// What it is stored under.
    pub fn key(&self) -> Key {
        match self {
            Self::Event(stored) => Key::event(stored.key),
            Self::Read { project, .. } => Key::read(*project),
            Self::Made { project, what, .. } => Key::made(*project, what),
            Self::Sandbox { project, id, .. } => Key::sandbox(*project, id),
            Self::Unfulfilled { project, payment } => Key::unfulfilled(*project, &payment.payment),
            Self::Proof { project, .. } => Key::proof(*project),
            Self::Audit(page) => Key::audit(Some(page.number)),
        }
    }

    /// As the journal takes it.
    pub fn put(&self) -> persistence::Note {
        let body = match self {
            Self::Event(stored) => json(&stored.told),
            Self::Read { until, heard, .. } => json(&(until, heard)),
            Self::Made { id: text, .. } | Self::Sandbox { json: text, .. } => {
                text.as_bytes().to_vec()
            }
            Self::Unfulfilled { payment, .. } => json(payment),
            Self::Proof { proof, .. } => json(proof),
            Self::Audit(page) => page.text.as_bytes().to_vec(),
        };
        persistence::Note {
            key: self.key().encode(),
            body: Some([&[VERSION], &body[..]].concat().into()),
        }
    }

    /// Reads a note as the journal keeps it.
    fn read(key: &[u8], body: &[u8]) -> Result<Self, Unreadable> {
        let Some(named) = Key::decode(key) else {
            let why = "this release knows no such kind; a later one may have written it";
            return Err(unreadable(key, "unknown", why));
        };
        let note = match body.split_first() {
            None => Err("it is empty".into()),
            Some((&VERSION, body)) => Self::of(&named, body),
            Some((version, _)) => Err(format!(
                "its version is {version}, and this release reads {VERSION}"
            )),
        };
        let note = note.and_then(|note| match note.key() == named {
            true => Ok(note),
            false => Err(format!("its body is another {}", named.kind.words())),
        });
        note.map_err(|why| unreadable(key, &named.to_string(), &why))
    }

    /// Or why the body is none of this kind.
    fn of(
        Key {
            kind,
            project,
            name,
        }: &Key,
        body: &[u8],
    ) -> Result<Self, String> {
        let project = *project;
        let text = || text(body).map(ToOwned::to_owned);
        Ok(match kind {
            Kind::Event => Self::Event(StoredEvent::new(project, parsed(body)?)),
            Kind::Read => {
                let (until, heard) = parsed(body)?;
                Self::Read {
                    project,
                    until,
                    heard,
                }
            }
            Kind::Made => {
                let what = name.as_slice().try_into();
                Self::Made {
                    project,
                    what: what.map_err(|_| "its name is no hash")?,
                    id: text()?,
                }
            }
            Kind::Sandbox => Self::Sandbox {
                project,
                id: self::text(name)?.to_owned(),
                json: text()?,
            },
            Kind::Unfulfilled => Self::Unfulfilled {
                project,
                payment: parsed(body)?,
            },
            Kind::Proof => Self::Proof {
                project,
                proof: parsed(body)?,
            },
            Kind::Audit => {
                let number = name.as_slice().try_into();
                Self::Audit(AuditPage {
                    number: u64::from_be_bytes(number.map_err(|_| "its name is no number")?),
                    text: text()?,
                })
            }
        })
    }
}

/// Texts and numbers: nothing in them can fail to be JSON.
fn json<T: Serialize>(body: &T) -> Vec<u8> {
    serde_json::to_vec(body).unwrap_or_default()
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).ok();
    let text = text.filter(|text| !text.is_empty());
    text.ok_or_else(|| "it is no text".into())
}

fn unreadable(key: &[u8], what: &str, why: &str) -> Unreadable {
    Unreadable {
        key: HEXLOWER.encode(key),
        what: what.into(),
        why: why.into(),
    }
}

impl StoredEvent {
    /// What was told to a project.
    #[must_use]
    pub fn new(project: ProjectId, told: Told) -> Self {
        let key = EventKey::new(project, &told.id);
        Self { key, told }
    }
}

/// Whether a key is that of something that a provider told and that is not worked off.
#[must_use]
pub fn is_untold(key: &[u8]) -> bool {
    Key::decode(key).is_some_and(|key| key.kind == Kind::Event)
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
            let known = object(id, json);
            known.map_err(|why| unreadable(key, &note.key().to_string(), &why))?;
        }
        Ok::<_, Unreadable>(note)
    });
    read.filter_map(|read| read.err().map(|unreadable| unreadable.to_string()))
        .collect()
}

/// Logs any number of notes, some at a time: all of them together might not fit one append. Those before
/// one that fails are logged.
///
/// # Errors
///
/// Those of [`Handle::put_notes`].
pub async fn put_all(
    handle: &Handle,
    notes: impl IntoIterator<Item = persistence::Note>,
) -> Result<(), actors::Error> {
    /// Of small ones; an append takes 56 KiB.
    const AT_ONCE: usize = 256;
    let mut notes = notes.into_iter();
    loop {
        let some: Vec<_> = notes.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return Ok(());
        }
        handle.put_notes(some).await?;
    }
}

/// All notes that were stored, but for the sandboxes' objects and the audit log: those are looked
/// through, and read again when they are used. Called once, at the start.
///
/// # Errors
///
/// [`Error::Unreadable`] for the first note that cannot be read, [`Error::Store`] where the journal
/// cannot be.
pub(crate) fn stored(handle: &Handle) -> Result<Vec<Note>, Error> {
    let mut notes = Vec::new();
    for kind in 0..FIRST_FOREIGN_KIND {
        for (key, body) in handle.notes(&[kind])? {
            match Note::read(&key, &body)? {
                Note::Sandbox { .. } | Note::Audit(_) => {}
                note => notes.push(note),
            }
        }
    }
    Ok(notes)
}

/// The objects of a project's sandbox: identifiers and JSON.
///
/// # Errors
///
/// As [`stored`].
pub fn of_sandbox(handle: &Handle, project: ProjectId) -> Result<Vec<(String, String)>, Error> {
    let mut objects = Vec::new();
    for (key, body) in handle.notes(&Key::sandbox(project, "").encode())? {
        if let Note::Sandbox { id, json, .. } = Note::read(&key, &body)? {
            objects.push((id, json));
        }
    }
    Ok(objects)
}

/// Pages of what administrators changed, oldest first: all, or this one.
///
/// # Errors
///
/// As [`stored`].
pub fn audit_pages(handle: &Handle, number: Option<u64>) -> Result<Vec<AuditPage>, Error> {
    let prefix = Key::audit(number).encode();
    let mut pages = Vec::new();
    for (key, body) in handle.notes(&prefix)? {
        if let Note::Audit(page) = Note::read(&key, &body)? {
            pages.push(page);
        }
    }
    Ok(pages)
}
