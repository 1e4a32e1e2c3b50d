//! How often somebody may ask for codes by mail, and how often one mailbox gets some. Addresses are
//! strangers' and are not kept: only a hash, under a key that ends with the process.

use std::fmt;

use domain::{Timestamp, catalog::CreationLimit, id::ProjectId, text::Email};
use sha2::{Digest as _, Sha256};

use super::{Client, Limits, Refusal, found_or_new};

/// From a client, with a project's keys.
const REQUESTS: CreationLimit = CreationLimit {
    max: 10,
    window_seconds: 3600,
};
/// To an address, of a project.
const MAILS: CreationLimit = CreationLimit {
    max: 3,
    window_seconds: 3600,
};

/// A project's mailbox, not to be recognised.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Addressee([u8; 16]);

impl fmt::Debug for Addressee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Addressee(..)")
    }
}

/// A key for this process.
pub(super) fn new_key() -> [u8; 32] {
    let mut key = [0; 32];
    // Without random bytes addresses are hashed still, only under a key that can be guessed.
    let _: Result<(), getrandom::Error> = getrandom::fill(&mut key);
    key
}

impl Addressee {
    /// One mailbox, however it is written: providers that tell `Ann@` from `ann@` are not around.
    fn new(key: &[u8; 32], project: ProjectId, email: &Email) -> Self {
        let mut hash = Sha256::new();
        hash.update(key);
        hash.update(project.0.to_be_bytes());
        hash.update(email.as_str().to_lowercase());
        let hash: [u8; 32] = hash.finalize().into();
        let mut half = [0; 16];
        half.iter_mut()
            .zip(hash)
            .for_each(|(slot, byte)| *slot = byte);
        Self(half)
    }
}

impl Limits {
    /// Counts a request for codes by mail: so many an hour from a client of a project.
    ///
    /// # Errors
    ///
    /// The client asked too often; this request is not counted.
    pub fn recover(
        &self,
        project: ProjectId,
        client: Client,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let window = found_or_new(&self.recoveries, (project, client));
        window.lock().take(REQUESTS, now)
    }

    /// Counts a mail to an address of a project, unless it had its share of the hour: then there is
    /// to be none, and nobody is told.
    #[must_use]
    pub fn may_mail(&self, project: ProjectId, email: &Email, now: Timestamp) -> bool {
        let addressee = Addressee::new(&self.addressees, project, email);
        let window = found_or_new(&self.recovery_mails, addressee);
        window.lock().take(MAILS, now).is_ok()
    }
}
