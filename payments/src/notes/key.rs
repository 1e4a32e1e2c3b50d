//! What names a note.

use std::fmt;

use data_encoding::HEXLOWER;
use domain::{
    id::{OrderId, OrderSerial, ProjectId, WalletKey},
    text::PaymentId,
};
use sha2::{Digest as _, Sha256};

const EVENT: u8 = 1;
const REACHED: u8 = 2;
const AWAITED: u8 = 3;
const MADE: u8 = 4;
const SANDBOX: u8 = 5;
const READ: u8 = 6;
const UNFULFILLED: u8 = 7;
const PROOF: u8 = 8;
const AUDIT: u8 = 16;
/// From here on numbers are those of others: deliveries of webhooks.
pub const FIRST_FOREIGN_KIND: u8 = 64;

/// Names a note: its kind, its project, and which of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// By project and event.
    Event(EventKey),
    /// One for each project.
    Reached(ProjectId),
    /// By order.
    Awaited(ProjectId, OrderId),
    /// One for each project.
    Read(ProjectId),
    /// By the hash of what was made.
    Made(ProjectId, [u8; 16]),
    /// By the object's identifier.
    Sandbox(ProjectId, String),
    /// By the provider's payment.
    Unfulfilled(ProjectId, PaymentId),
    /// One for each project.
    Proof(ProjectId),
    /// A page of what was changed, of no project, by number.
    Audit(u64),
}

/// Names an event within all projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    /// Whose.
    pub project: ProjectId,
    /// Half of a SHA-256 of project and event: nothing collides by chance.
    pub(super) hash: [u8; 16],
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
    /// Of bodies that are written now.
    pub(super) const fn version(&self) -> u8 {
        match self {
            Self::Event(_)
            | Self::Reached(_)
            | Self::Awaited(..)
            | Self::Made(..)
            | Self::Sandbox(..)
            | Self::Unfulfilled(..)
            | Self::Proof(_)
            | Self::Audit(_) => 1,
            Self::Read(_) => 2,
        }
    }

    /// The note with this body, as the journal takes it.
    pub(super) fn put(&self, body: &[u8]) -> persistence::Note {
        persistence::Note {
            key: self.encode(),
            body: Some([&[self.version()], body].concat().into()),
        }
    }

    /// What the journal is asked to forget it by.
    #[must_use]
    pub fn forget(&self) -> persistence::Note {
        persistence::Note {
            key: self.encode(),
            body: None,
        }
    }

    /// What the keys of all objects of a project's sandbox begin with.
    pub(super) fn sandbox_prefix(project: ProjectId) -> Vec<u8> {
        begin(SANDBOX, project)
    }

    /// What the keys of all pages of what was changed begin with.
    pub(super) fn audit_prefix() -> Vec<u8> {
        begin(AUDIT, ProjectId(0))
    }

    pub(super) fn encode(&self) -> Box<[u8]> {
        let key = match self {
            Self::Event(key) => [begin(EVENT, key.project), key.hash.to_vec()].concat(),
            Self::Reached(project) => begin(REACHED, *project),
            Self::Awaited(project, order) => [
                begin(AWAITED, *project),
                order.serial.0.to_be_bytes().to_vec(),
                order.wallet.0.to_vec(),
            ]
            .concat(),
            Self::Read(project) => begin(READ, *project),
            Self::Made(project, what) => [begin(MADE, *project), what.to_vec()].concat(),
            Self::Sandbox(project, id) => {
                [begin(SANDBOX, *project), id.as_bytes().to_vec()].concat()
            }
            Self::Unfulfilled(project, payment) => [
                begin(UNFULFILLED, *project),
                payment.as_str().as_bytes().to_vec(),
            ]
            .concat(),
            Self::Proof(project) => begin(PROOF, *project),
            Self::Audit(page) => [Self::audit_prefix(), page.to_be_bytes().to_vec()].concat(),
        };
        key.into()
    }

    /// `None`: a key of no kind, or not formed as its kind's are.
    pub(super) fn decode(key: &[u8]) -> Option<Self> {
        let (kind, rest) = key.split_first()?;
        let (project, rest) = rest.split_first_chunk()?;
        let project = ProjectId(u128::from_be_bytes(*project));
        match *kind {
            EVENT => Some(Self::Event(EventKey {
                project,
                hash: rest.try_into().ok()?,
            })),
            REACHED if rest.is_empty() => Some(Self::Reached(project)),
            AWAITED => {
                let (serial, wallet) = rest.split_first_chunk()?;
                let order = OrderId {
                    serial: OrderSerial(u128::from_be_bytes(*serial)),
                    wallet: WalletKey(wallet.try_into().ok()?),
                };
                Some(Self::Awaited(project, order))
            }
            MADE => Some(Self::Made(project, rest.try_into().ok()?)),
            READ if rest.is_empty() => Some(Self::Read(project)),
            SANDBOX => {
                let id = std::str::from_utf8(rest).ok().filter(|id| !id.is_empty());
                Some(Self::Sandbox(project, id?.to_owned()))
            }
            UNFULFILLED => {
                let payment = PaymentId::new(std::str::from_utf8(rest).ok()?).ok()?;
                Some(Self::Unfulfilled(project, payment))
            }
            PROOF if rest.is_empty() => Some(Self::Proof(project)),
            AUDIT if project.0 == 0 => Some(Self::Audit(u64::from_be_bytes(rest.try_into().ok()?))),
            _ => None,
        }
    }
}

fn begin(kind: u8, project: ProjectId) -> Vec<u8> {
    let mut key = vec![kind];
    key.extend_from_slice(&project.0.to_be_bytes());
    key
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(EventKey { project, hash }) => {
                write!(f, "event {} of {project}", HEXLOWER.encode(hash))
            }
            Self::Reached(project) => write!(f, "how far orders of {project} were asked about"),
            Self::Awaited(project, order) => write!(f, "awaited payment of {order} of {project}"),
            Self::Read(project) => write!(f, "how far events of {project} were read"),
            Self::Made(project, what) => {
                write!(
                    f,
                    "what was made for {project} as {}",
                    HEXLOWER.encode(what)
                )
            }
            Self::Sandbox(project, id) => write!(f, "sandbox object {id:?} of {project}"),
            Self::Unfulfilled(project, payment) => {
                write!(f, "unfulfilled payment {payment} of {project}")
            }
            Self::Proof(project) => write!(f, "the last proof of {project}"),
            Self::Audit(page) => write!(f, "page {page} of the audit log"),
        }
    }
}
