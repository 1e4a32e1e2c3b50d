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

mod event;
mod key;
mod read;
#[cfg(test)]
mod tests;

use actors::Handle;
use domain::{
    Timestamp,
    id::{OrderId, ProjectId},
};

pub use self::key::{EventKey, FIRST_FOREIGN_KIND, Key};
pub use self::read::{Error, Unreadable, is_untold, verify};
use crate::{proof::Proof, unfulfilled::UnfulfilledPayment};
use port::Told;

/// How far asking about pending orders has come, for each of the ages at which it is done.
pub type Reached = [Timestamp; 3];

/// A note with what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// What a provider told, was acknowledged and has to be worked off.
    Event(StoredEvent),
    /// How far asking about a project's pending orders has come.
    Reached {
        /// Whose.
        project: ProjectId,
        /// To which instants.
        to: Reached,
    },
    /// An order whose buyer is done and whose money is asked about until then.
    Awaited {
        /// Whose.
        project: ProjectId,
        /// Which.
        order: OrderId,
        /// Until when.
        until: Timestamp,
    },
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
            Self::Event(stored) => Key::Event(stored.key),
            Self::Reached { project, .. } => Key::Reached(*project),
            Self::Awaited { project, order, .. } => Key::Awaited(*project, *order),
            Self::Read { project, .. } => Key::Read(*project),
            Self::Made { project, what, .. } => Key::Made(*project, *what),
            Self::Sandbox { project, id, .. } => Key::Sandbox(*project, id.clone()),
            Self::Unfulfilled { project, payment } => {
                Key::Unfulfilled(*project, payment.payment.clone())
            }
            Self::Proof { project, .. } => Key::Proof(*project),
            Self::Audit(page) => Key::Audit(page.number),
        }
    }

    /// As the journal takes it.
    pub fn put(&self) -> persistence::Note {
        let key = self.key();
        match self {
            Self::Event(stored) => stored.put(),
            Self::Reached { to, .. } => key.put(to.map(|to| to.0.to_be_bytes()).as_flattened()),
            Self::Awaited { until, .. } => key.put(&until.0.to_be_bytes()),
            Self::Read { until, heard, .. } => {
                let until = until.0.to_be_bytes();
                key.put(&[&until[..], &[u8::from(*heard)]].concat())
            }
            Self::Made { id, .. } => key.put(id.as_bytes()),
            Self::Sandbox { json, .. } => key.put(json.as_bytes()),
            // Texts and numbers: nothing in them can fail to be JSON.
            Self::Unfulfilled { payment, .. } => {
                key.put(&serde_json::to_vec(payment).unwrap_or_default())
            }
            Self::Proof { proof, .. } => key.put(&serde_json::to_vec(proof).unwrap_or_default()),
            Self::Audit(page) => page.put(),
        }
    }
}

impl AuditPage {
    /// As the journal takes it.
    #[must_use]
    pub fn put(&self) -> persistence::Note {
        Key::Audit(self.number).put(self.text.as_bytes())
    }

    /// What the journal is asked to forget a page by.
    #[must_use]
    pub fn forget(number: u64) -> persistence::Note {
        Key::Audit(number).forget()
    }
}

impl StoredEvent {
    /// As the journal takes it.
    pub fn put(&self) -> persistence::Note {
        Key::Event(self.key).put(&event::write(&self.told))
    }
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
    for (key, body) in handle.notes(&Key::sandbox_prefix(project))? {
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
    let prefix = match number {
        Some(number) => Key::Audit(number).encode().into_vec(),
        None => Key::audit_prefix(),
    };
    let mut pages = Vec::new();
    for (key, body) in handle.notes(&prefix)? {
        if let Note::Audit(page) = Note::read(&key, &body)? {
            pages.push(page);
        }
    }
    Ok(pages)
}
