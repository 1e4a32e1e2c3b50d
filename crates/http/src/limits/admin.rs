//! Limits of the administration. A token cannot be guessed, but trying must cost something. The right
//! token is let in however many others tried, up to a rate that does not keep everybody else waiting.

use std::time::Duration;

use domain::{Timestamp, catalog::CreationLimit};

use super::{Client, LimitExceeded, Limits, Rate, found_or_new};

/// Wrong tokens of one client with one scope.
const WRONG_TOKENS: CreationLimit = CreationLimit {
    max: 20,
    window_seconds: 900,
};

/// Buckets of people who are signed in: two each.
pub(super) const MAX_SIGNED_IN: usize = 4096;

/// Least time that the answer to a wrong token takes.
const DELAY: Duration = Duration::from_millis(100);
/// Most of these answers that wait at once.
pub(super) const MAX_DELAYED: usize = 256;

/// What a token opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenScope {
    /// The admin API.
    Administration,
    /// The metrics at `/metrics`.
    Figures,
    /// A sign-in that an identity provider is asked about.
    IdentityProvider,
    /// A user's account, from any address.
    Account,
}

/// The rate of a client's requests: more than applying a large catalog needs.
const REQUESTS: Rate = Rate::new(1000, 100);
/// The rate of a person's forms: more than anybody sends by hand, and too few to fill the audit log.
const FORMS: Rate = Rate::new(300, 1);

impl Limits {
    /// Counts a request that carries the right token.
    /// # Errors
    /// The client sent too many requests.
    pub fn count_admin_request(&self, client: Client, now: Timestamp) -> Result<(), LimitExceeded> {
        let bucket = found_or_new(&self.administration, client);
        bucket.take(REQUESTS, now).map(drop)
    }

    /// Counts a request of somebody who is signed in, whose number is given, however many sessions they have; and one
    /// that sends a form once more by itself.
    /// # Errors
    /// They sent too many requests, or forms.
    pub fn count_signed_in(
        &self,
        person: u128,
        is_form: bool,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        let bucket = found_or_new(&self.signed_in, (person, false));
        bucket.take(REQUESTS, now)?;
        if is_form {
            let bucket = found_or_new(&self.signed_in, (person, true));
            bucket.take(FORMS, now)?;
        }
        Ok(())
    }

    /// Whether a client may try another token, or sign in once more.
    /// # Errors
    /// Too many of this client were wrong.
    pub fn wrong_tokens(
        &self,
        scope: TokenScope,
        client: Client,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        match self.wrong_tokens.get(&(scope, client)) {
            Some(window) => window.lock().check(WRONG_TOKENS, now),
            None => Ok(()),
        }
    }

    /// Counts a wrong token, or another attempt to sign in that failed, and delays the answer.
    /// # Errors
    /// There were too many of this client; this one is not counted.
    pub async fn wrong_token(
        &self,
        scope: TokenScope,
        client: Client,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        let window = found_or_new(&self.wrong_tokens, (scope, client));
        let counted = window.lock().take(WRONG_TOKENS, now);
        // Where that many wait already, no more are delayed: strangers would fill the memory.
        if let Ok(_place) = self.slowed.try_acquire() {
            tokio::time::sleep(DELAY).await;
        }
        counted
    }

    /// Counts a wrong password or code, for the client and for the account, which a number names, and delays the
    /// answer.
    /// # Errors
    /// There were too many of this client, or for this account.
    pub async fn wrong_sign_in(
        &self,
        account: u64,
        client: Client,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        let account = (TokenScope::Account, Client::V6(account));
        let window = found_or_new(&self.wrong_tokens, account);
        let by_account = window.lock().take(WRONG_TOKENS, now);
        let scope = TokenScope::Administration;
        self.wrong_token(scope, client, now).await.and(by_account)
    }
}
