//! What names a note: its kind's number, its project, and what names it within both.

use std::fmt;

use data_encoding::HEXLOWER;
use domain::{id::ProjectId, text::PaymentId};
use sha2::{Digest as _, Sha256};

/// From here on numbers are those of others: deliveries of webhooks.
pub const FIRST_FOREIGN_KIND: u8 = 64;

/// What kinds there are, by their numbers. A number is never used again for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Event = 1,
    Made = 4,
    Sandbox = 5,
    Read = 6,
    Unfulfilled = 7,
    Proof = 8,
    /// Of no project.
    Audit = 16,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Event,
        Self::Made,
        Self::Sandbox,
        Self::Read,
        Self::Unfulfilled,
        Self::Proof,
        Self::Audit,
    ];

    const fn number(self) -> u8 {
        self as u8
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Made => "object made at the provider",
            Self::Sandbox => "sandbox object",
            Self::Read => "place in the list of events",
            Self::Unfulfilled => "unfulfilled payment",
            Self::Proof => "proof",
            Self::Audit => "page of the audit log",
        }
    }
}

/// Names a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(super) kind: Kind,
    pub(super) project: ProjectId,
    pub(super) name: Vec<u8>,
}

/// Names an event within all projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    /// Whose.
    pub project: ProjectId,
    /// Half of a SHA-256 of project and event: nothing collides by chance.
    hash: [u8; 16],
}

impl EventKey {
    /// Of an event that was told to a project, by the provider's name for it.
    #[must_use]
    pub fn new(project: ProjectId, event: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(project.0.to_be_bytes());
        digest.update(event.as_bytes());
        let mut hash = [0; 16];
        hash.copy_from_slice(digest.finalize().split_at(16).0);
        Self { project, hash }
    }
}

impl Key {
    fn new(kind: Kind, project: ProjectId, name: &[u8]) -> Self {
        let name = name.to_vec();
        Self {
            kind,
            project,
            name,
        }
    }

    /// Of what a provider told.
    #[must_use]
    pub fn event(key: EventKey) -> Self {
        Self::new(Kind::Event, key.project, &key.hash)
    }

    /// Of what was made at a provider once, by the hash of what it is.
    #[must_use]
    pub fn made(project: ProjectId, what: &[u8; 16]) -> Self {
        Self::new(Kind::Made, project, what)
    }

    /// Of an object of a project's sandbox, by its identifier; all of them begin with that of none.
    #[must_use]
    pub fn sandbox(project: ProjectId, id: &str) -> Self {
        Self::new(Kind::Sandbox, project, id.as_bytes())
    }

    /// Of how far a project's list of events was read.
    #[must_use]
    pub fn read(project: ProjectId) -> Self {
        Self::new(Kind::Read, project, &[])
    }

    /// Of a payment that leads to no order.
    #[must_use]
    pub fn unfulfilled(project: ProjectId, payment: &PaymentId) -> Self {
        Self::new(Kind::Unfulfilled, project, payment.as_str().as_bytes())
    }

    /// Of a project's last proof.
    #[must_use]
    pub fn proof(project: ProjectId) -> Self {
        Self::new(Kind::Proof, project, &[])
    }

    /// Of a page of what administrators changed, by number; without one, what all of them begin with.
    #[must_use]
    pub fn audit(page: Option<u64>) -> Self {
        let name = page.map(u64::to_be_bytes);
        let name = name.as_ref().map_or(&[][..], |name| name);
        Self::new(Kind::Audit, ProjectId(0), name)
    }

    /// What the journal is asked to forget it by.
    #[must_use]
    pub fn forget(&self) -> persistence::Note {
        persistence::Note {
            key: self.encode(),
            body: None,
        }
    }

    pub(super) fn encode(&self) -> Box<[u8]> {
        let project = self.project.0.to_be_bytes();
        let key = [&[self.kind.number()], &project[..], &self.name];
        key.concat().into()
    }

    /// `None`: a key of no kind.
    pub(super) fn decode(key: &[u8]) -> Option<Self> {
        let (number, rest) = key.split_first()?;
        let (project, name) = rest.split_first_chunk()?;
        let kind = Kind::ALL.into_iter().find(|it| it.number() == *number)?;
        Some(Self::new(
            kind,
            ProjectId(u128::from_be_bytes(*project)),
            name,
        ))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = std::str::from_utf8(&self.name).ok();
        let text = text.filter(|text| !text.chars().any(char::is_control));
        let name = text.map_or_else(|| HEXLOWER.encode(&self.name), ToOwned::to_owned);
        write!(f, "{} {name} of {}", self.kind.words(), self.project)
    }
}
