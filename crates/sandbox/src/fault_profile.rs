//! Stripe's behaviour beyond correct answers: long responses, short lists, missing permissions, rate limits, late
//! events, and another product's objects in the same account. It works on requests and responses alone, by method,
//! path, key and time; it never sees how objects are stored, and changes none.

mod exchange;
mod foreign;
mod lists;
mod pace;
mod permissions;
mod refusal;
mod settings;
mod size;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

pub use crate::core::refusal::Answer;
use crate::core::refusal::Refusal;

pub use exchange::{Outcome, Parameters, Request};
use foreign::ForeignSales;
use lists::Listing;
use pace::Pace;
pub use permissions::permission;
use refusal::broken;
pub use settings::FaultProfile;

/// The most remembered events, failed idempotency keys and bank debits, of each.
const MAX_REMEMBERED: usize = 100_000;

/// One account's fault profile, and what has to be remembered for it.
#[derive(Debug, Default)]
pub struct FaultInjector {
    settings: FaultProfile,
    foreign: ForeignSales,
    endpoints: HashMap<String, Pace>,
    account: Pace,
    /// Objects that an event named, with how many more reads find nothing.
    unread: HashMap<String, u32>,
    /// Events whose objects were added to `unread`.
    seen_events: HashSet<String>,
    /// Idempotency keys with a stored failure.
    failed: HashSet<String>,
    /// Bank debits to fail: the instant in seconds since the Unix epoch, and the payment.
    debits: BTreeSet<(i64, String)>,
}

impl FaultInjector {
    /// Applies settings, at the account's time in seconds since the Unix epoch. Background sales keep their times
    /// unless their number or days change.
    pub fn switch(&mut self, settings: FaultProfile, now: i64) {
        let sales = |of: &FaultProfile| (of.foreign_sales, of.foreign_days);
        if sales(&settings) != sales(&self.settings) {
            self.foreign = ForeignSales::new(&settings, now);
        }
        if settings.failed_posts != self.settings.failed_posts {
            self.failed.clear();
        }
        self.settings = settings;
    }

    /// The settings that are in force.
    #[must_use]
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
        let mut answer = match self.rewrite_read(request, &mut ask)? {
            Some(answer) => answer,
            None => ask(request.method, request.path, request.form)?,
        };
        if answer.status < 300 {
            self.finish(&mut answer.body);
        }
        Ok(answer.into())
    }

    /// An event as a webhook delivers it. With `missing_reads` its object cannot be read for a while.
    #[must_use]
    pub fn event(&mut self, mut event: Value) -> Value {
        self.finish(&mut event);
        event
    }

    /// The other product's `number`th event, as a webhook delivers it.
    #[must_use]
    pub fn foreign_event(&self, number: u32) -> Option<Value> {
        let mut event = self.foreign.object("events", number)?;
        self.pad(&mut event);
        Some(event)
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
    #[must_use]
    pub fn next_debit(&self) -> Option<i64> {
        self.debits.first().map(|(at, _)| *at)
    }

    /// Takes a payment whose bank debit has failed by now.
    pub fn take_debit(&mut self, now: i64) -> Option<String> {
        self.next_debit().filter(|at| *at <= now)?;
        self.debits.pop_first().map(|(_, payment)| payment)
    }

    /// A body as it is sent.
    #[must_use]
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
        if let Some(status) = self.settings.broken_object(request) {
            return Some(match status {
                0 => Outcome::Silence,
                status => broken(status).into(),
            });
        }
        let (kind, id) = named(request)?;
        let left = self.unread.get_mut(id)?;
        *left = left.checked_sub(1)?;
        Some(Refusal::no_such(&kind, id).into())
    }

    /// The answer to a request above a rate limit.
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

    /// Reads that are rewritten: of the other product's objects, and of lists that contain them or are late.
    fn rewrite_read<E>(
        &self,
        request: &Request<'_>,
        ask: &mut impl FnMut(&str, &str, &Parameters) -> Result<Answer, E>,
    ) -> Result<Option<Answer>, E> {
        if request.method != "GET" {
            return Ok(None);
        }
        let answer = self.foreign.read(request.path, request.form);
        if answer.is_some() {
            return Ok(answer);
        }
        let Some(listing) = Listing::of(&self.settings, &self.foreign, request) else {
            return Ok(None);
        };
        listing.page(ask).map(Some)
    }

    /// Pads objects to Stripe's size, and remembers which objects new events named.
    fn finish(&mut self, body: &mut Value) {
        self.pad(body);
        if self.settings.missing_reads == 0 {
            return;
        }
        let listed = body.get("data").and_then(Value::as_array);
        let events = listed.map_or(std::slice::from_ref(&*body), Vec::as_slice);
        for event in events {
            let object = event.get("data").and_then(|data| data.get("object"));
            let (Some(id), Some(object)) = (event.get("id").and_then(Value::as_str), object) else {
                continue;
            };
            let is_full = self.seen_events.len() >= MAX_REMEMBERED;
            if is_full || self.seen_events.contains(id) || foreign::number(id).is_some() {
                continue;
            }
            self.seen_events.insert(id.to_owned());
            for field in ["id", "payment_intent"] {
                if let Some(id) = object.get(field).and_then(Value::as_str) {
                    let reads = self.settings.missing_reads;
                    self.unread.insert(id.to_owned(), reads);
                }
            }
        }
    }

    fn pad(&self, body: &mut Value) {
        if self.settings.real_sizes {
            size::pad(body);
        }
    }
}

/// The kind and id of the object that is read: `/v1/checkout/sessions/cs_1`.
fn named<'a>(request: &Request<'a>) -> Option<(String, &'a str)> {
    let (path, id) = request.path.strip_prefix("/v1/")?.rsplit_once('/')?;
    let kind = path.trim_end_matches('s').replace('/', ".");
    (request.method == "GET").then_some((kind, id))
}
