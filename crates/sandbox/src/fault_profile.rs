//! Stripe's behaviour beyond correct answers: long responses, short lists, missing permissions, rate limits, failures;
//! for tests also late events and another product's objects in the same account. It works on requests and responses
//! alone, by method, path, key and time; it never sees how objects are stored, and changes none.

mod exchange;
mod pace;
mod permissions;
mod refusal;
mod settings;
#[cfg(any(test, feature = "test-util"))]
#[path = "tests/shared_account/mod.rs"]
mod shared_account;
mod size;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

pub use crate::core::refusal::Answer;
pub use exchange::{Outcome, Parameters, Request};
use pace::Pace;
use refusal::broken;
pub use settings::FaultProfile;

/// The most remembered events, failed idempotency keys and bank debits, of each.
const MAX_REMEMBERED: usize = 100_000;

/// One account's fault profile, and what has to be remembered for it.
#[derive(Debug, Default)]
pub struct FaultInjector {
    settings: FaultProfile,
    #[cfg(any(test, feature = "test-util"))]
    shared: shared_account::SharedAccount,
    endpoints: HashMap<String, Pace>,
    account: Pace,
    /// Idempotency keys with a stored failure.
    failed: HashSet<String>,
    /// Bank debits to fail: the instant in seconds since the Unix epoch, and the payment.
    debits: BTreeSet<(i64, String)>,
}

impl FaultInjector {
    /// Applies settings, at the account's time in seconds since the Unix epoch.
    pub fn switch(&mut self, settings: FaultProfile, _now: i64) {
        #[cfg(any(test, feature = "test-util"))]
        self.shared.switch(&self.settings, &settings, _now);
        if settings.failed_posts != self.settings.failed_posts {
            self.failed.clear();
        }
        self.settings = settings;
    }

    /// The settings that are in force.
    pub const fn settings(&self) -> &FaultProfile {
        &self.settings
    }

    /// Answers a request. `ask` is the provider without fault profile, which is called never, once, or for several pages.
    /// # Errors
    /// Those of `ask`.
    pub fn answer<E>(
        &mut self,
        request: &Request<'_>,
        mut ask: impl FnMut(&str, &str, &Parameters) -> Result<Answer, E>,
    ) -> Result<Outcome, E> {
        if let Some(outcome) = self.refuse(request) {
            return Ok(outcome);
        }
        #[cfg(any(test, feature = "test-util"))]
        let rewritten = self
            .shared
            .rewrite_read(&self.settings, request, &mut ask)?;
        #[cfg(not(any(test, feature = "test-util")))]
        let rewritten = None;
        let mut answer = match rewritten {
            Some(answer) => answer,
            None => ask(request.method, request.path, request.form)?,
        };
        if answer.status < 300 {
            self.finish(&mut answer.body);
        }
        Ok(answer.into())
    }

    /// An event as a webhook delivers it.
    pub fn event(&mut self, mut event: Value) -> Value {
        self.finish(&mut event);
        event
    }

    /// Whether a new payment is a bank debit, which fails later.
    pub fn begin_debit(&mut self, payment: &str, now: i64) -> bool {
        let after = i64::from(self.settings.debits_fail_after_seconds);
        if after == 0 || self.debits.len() >= MAX_REMEMBERED {
            return false;
        }
        self.debits
            .insert((now.saturating_add(after), payment.to_owned()));
        true
    }

    /// When the next bank debit fails, in seconds since the Unix epoch.
    pub fn next_debit(&self) -> Option<i64> {
        self.debits.first().map(|(at, _)| *at)
    }

    /// Takes a payment whose bank debit has failed by now.
    pub fn take_debit(&mut self, now: i64) -> Option<String> {
        self.next_debit().filter(|at| *at <= now)?;
        self.debits.pop_first().map(|(_, payment)| payment)
    }

    /// A body as it is sent.
    pub fn print(&self, body: &Value) -> String {
        match self.settings.indented {
            // All keys of a JSON value are texts, so neither can fail.
            true => serde_json::to_string_pretty(body).unwrap_or_default(),
            false => body.to_string(),
        }
    }

    /// The response without the account, checked in Stripe's order.
    fn refuse(&mut self, request: &Request<'_>) -> Option<Outcome> {
        let status = self.settings.away;
        let outcome = (status > 0)
            .then(|| broken(status).into())
            .or_else(|| self.too_many(request))
            .or_else(|| permissions::refuse(&self.settings.denied, request).map(Into::into))
            .or_else(|| self.failed_before(request));
        if outcome.is_some() {
            return outcome;
        }
        match self.settings.broken_object(request) {
            Some(0) => return Some(Outcome::Silence),
            Some(status) => return Some(broken(status).into()),
            None => {}
        }
        #[cfg(any(test, feature = "test-util"))]
        let outcome = self.shared.unread(request).map(Into::into);
        outcome
    }

    fn too_many(&mut self, request: &Request<'_>) -> Option<Outcome> {
        let most = self.settings.requests_per_endpoint;
        if most > 0 {
            let endpoint = permissions::endpoint(request.method, request.path);
            let pace = self.endpoints.entry(endpoint).or_default();
            if !pace.takes(request.millis, most) {
                return Some(Outcome::rate_limit("endpoint-rate"));
            }
        }
        let most = self.settings.requests_per_account;
        if most > 0 && !self.account.takes(request.millis, most) {
            return Some(Outcome::rate_limit("global-rate"));
        }
        None
    }

    /// The failure of a POST, replayed under its idempotency key.
    fn failed_before(&mut self, request: &Request<'_>) -> Option<Outcome> {
        let operation = request.operation.filter(|_| request.method == "POST")?;
        if self.failed.contains(operation) {
            let again = Outcome::from(broken(500));
            return Some(again.with("idempotent-replayed", "true"));
        }
        let most = usize::try_from(self.settings.failed_posts).unwrap_or(usize::MAX);
        if self.failed.len() >= most.min(MAX_REMEMBERED) {
            return None;
        }
        self.failed.insert(operation.to_owned());
        Some(broken(500).into())
    }

    /// Pads objects to Stripe's size.
    fn finish(&mut self, body: &mut Value) {
        self.pad(body);
        #[cfg(any(test, feature = "test-util"))]
        self.shared.note_events(&self.settings, body);
    }

    fn pad(&self, body: &mut Value) {
        if self.settings.real_sizes {
            size::pad(body);
        }
    }
}
