//! How often somebody may ask for codes by mail, and how often one mailbox gets some. Addresses are
//! strangers' and are not kept: only a hash, under a key that ends with the process.

use domain::{Timestamp, catalog::CreationLimit, id::ProjectId, text::Email};

use super::{Client, Limits, Refusal, found_or_new, hash::Hash};

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
        // One mailbox, however it is written: providers that tell `Ann@` from `ann@` are not around.
        let mailbox = email.as_str().to_lowercase();
        let addressee = Hash::of(&self.hash_key, project, &mailbox);
        let window = found_or_new(&self.recovery_mails, addressee);
        window.lock().take(MAILS, now).is_ok()
    }
}
