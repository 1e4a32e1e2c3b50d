//! How often somebody may ask for codes by mail, and how often one mailbox gets some. Addresses are
//! strangers' and are not kept: only a hash, under a key that ends with the process.

use domain::{Timestamp, catalog::CreationLimit, id::ProjectId, text::Email};

use super::{Client, LimitExceeded, Limits, found_or_new, hash::Hash};

/// Requests of one client, with a project's keys.
const REQUESTS: CreationLimit = CreationLimit {
    max: 10,
    window_seconds: 3600,
};
/// Mails to one address, for a project.
const MAILS: CreationLimit = CreationLimit {
    max: 3,
    window_seconds: 3600,
};

impl Limits {
    /// Counts a request for codes by mail: so many an hour from a client of a project.
    /// # Errors
    /// The client asked too often; this request is not counted.
    pub fn recover(
        &self,
        project: ProjectId,
        client: Client,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        let window = found_or_new(&self.recoveries, (project, client));
        window.lock().take(REQUESTS, now)
    }

    /// Counts a mail to an address for a project. False if the address had its share of the hour:
    /// the mail is dropped, silently.
    #[must_use]
    pub fn may_mail(&self, project: ProjectId, email: &Email, now: Timestamp) -> bool {
        // One mailbox, however it is capitalised: no provider in use tells `Ann@` from `ann@`.
        let mailbox = email.as_str().to_lowercase();
        let addressee = Hash::of(&self.hash_key, project, &mailbox);
        let window = found_or_new(&self.recovery_mails, addressee);
        window.lock().take(MAILS, now).is_ok()
    }
}
