//! The switches, each with the source for Stripe's behaviour.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::exchange::{Parameters, Request};
use crate::core::objects::Listing;

/// How a provider misbehaves. All of it is off by default; [`FaultProfile::as_stripe`] is what Stripe does every day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FaultProfile {
    /// Answers and webhooks are indented, by two spaces. Known from use; captured events of 2025 have
    /// `"metadata": {\n }`.
    pub indented: bool,
    /// Objects have the fields that Stripe's have, so that an event has 8 KB, and a subscription's 11 KB:
    /// measured from the fixtures of stripe/openapi.
    pub real_sizes: bool,
    /// The most lines that an invoice embeds; the rest is at `/v1/invoices/{id}/lines`. 0 for ten:
    /// laravel/cashier-stripe#476, PostHog#34742, stripe-php#1400.
    pub lines_embedded: u32,
    /// The customer's pending invoice items that come before the subscription's lines on each renewal, with an
    /// amount of zero each: "`lines` is sorted as follows: (1) pending invoice items (including prorations) in
    /// reverse chronological order, (2) subscription items" (reference of the invoice object).
    pub items_in_front: u32,
    /// Permissions that the key lacks, for example `rak_dispute_read`. Each endpoint needs one, in finer terms
    /// than the dashboard's: stripe-node#2246, st-paywall#45, PostHog#57185. Write includes read, so lacking
    /// `_read` is lacking `_write`, too.
    pub denied: BTreeSet<String>,
    /// Requests a second that one endpoint takes; 0 for any number. 25: docs.stripe.com/rate-limits.
    pub requests_per_endpoint: u32,
    /// Requests a second that the account takes; 0 for any number. 100, and 25 in test mode:
    /// docs.stripe.com/rate-limits.
    pub requests_per_account: u32,
    /// Seconds until an event of `late_types` is listed; without types a different delay up to this for each, so that
    /// older events appear after newer ones. Minutes under load: singer-io/tap-stripe#45, estuary/connectors#2731.
    #[cfg(any(test, feature = "test-util"))]
    pub events_late_seconds: u32,
    /// Types of events that are late by exactly `events_late_seconds`.
    #[cfg(any(test, feature = "test-util"))]
    pub late_types: BTreeSet<String>,
    /// Events of one second are listed in any order; Stripe promises none.
    #[cfg(any(test, feature = "test-util"))]
    pub events_shuffled: bool,
    /// Reads of an object that find nothing (404 `resource_missing`) right after an event named it. How often
    /// that happens is not documented; that it may is: docs.stripe.com/webhooks on eventual consistency.
    #[cfg(any(test, feature = "test-util"))]
    pub missing_reads: u32,
    /// Sales of another product on the same account, each with its objects and one event: sessions, renewals, invoices
    /// and refunds in turn, and one dispute in a thousand.
    #[cfg(any(test, feature = "test-util"))]
    pub foreign_sales: u32,
    /// Days before now over which they are spread; 0 for one.
    #[cfg(any(test, feature = "test-util"))]
    pub foreign_days: u32,
    /// Number of POSTs that fail with a 500, which is kept under their idempotency keys: "we save the resulting
    /// status code and body of the first request made for any given idempotency key, regardless of whether it
    /// succeeds or fails" (reference, idempotent requests).
    pub failed_posts: u32,
    /// Seconds after which payments, as bank debits, fail; 0 for cards. At Stripe it is days, with
    /// `checkout.session.async_payment_failed`: docs.stripe.com/payments/bank-debits.
    pub debits_fail_after_seconds: u32,
    /// The status of every response, 500 to 599, during an outage; 0 for none.
    pub away: u16,
    /// Status, 500 to 599, of every request about an object, by id; 0 for no answer.
    pub broken: BTreeMap<String, u16>,
}

impl FaultProfile {
    /// Stripe's usual behaviour.
    #[must_use]
    pub fn as_stripe() -> Self {
        Self {
            indented: true,
            real_sizes: true,
            lines_embedded: 10,
            requests_per_endpoint: 25,
            requests_per_account: 100,
            ..Self::default()
        }
    }

    /// These settings with the changes of a form: `indented=true`, `denied[0]=rak_dispute_read`, `broken[in_1]=500`. A
    /// named list or map is replaced; an empty one becomes empty.
    /// # Errors
    /// The switch's name and what is wrong with it, in words.
    pub fn with(&self, form: &Parameters) -> Result<Self, (String, String)> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else {
            return Err((String::new(), "the settings cannot be written".into()));
        };
        let mut begun = BTreeSet::new();
        for (name, text) in form {
            let (field, below) = name.split_once('[').unwrap_or((name, ""));
            let below = below.trim_end_matches(']');
            let wrong = |message: &str| (name.clone(), message.to_owned());
            let Some(value) = fields.get_mut(field) else {
                return Err(wrong("there is no such switch"));
            };
            match value {
                Value::Bool(_) | Value::Number(_) => {
                    let read = serde_json::from_str(text);
                    *value = read.map_err(|_| wrong("a number, true or false is needed"))?;
                }
                Value::Array(values) => {
                    if begun.insert(field) {
                        values.clear();
                    }
                    if !text.is_empty() {
                        values.push(text.as_str().into());
                    }
                }
                Value::Object(values) => {
                    if begun.insert(field) {
                        *values = Map::new();
                    }
                    if !text.is_empty() {
                        let read = serde_json::from_str(text);
                        let read: Value = read.map_err(|_| wrong("a status is needed"))?;
                        values.insert(below.to_owned(), read);
                    }
                }
                Value::Null | Value::String(_) => return Err(wrong("it cannot be set")),
            }
        }
        let read = serde_json::from_value(Value::Object(fields));
        let settings: Self = read.map_err(|error| (String::new(), error.to_string()))?;
        match settings.fault() {
            Some((name, message)) => Err((name.into(), message)),
            None => Ok(settings),
        }
    }

    /// The first invalid switch, and what is wrong with it.
    pub fn fault(&self) -> Option<(&'static str, String)> {
        let is_scope = |name: &String| {
            let named = name.strip_prefix("rak_");
            named.is_some_and(|name| name.ends_with("_read") || name.ends_with("_write"))
        };
        if let Some(name) = self.denied.iter().find(|name| !is_scope(name)) {
            return Some(("denied", format!("there is no permission {name}")));
        }
        let is_status = |status: &u16| *status == 0 || (500..600).contains(status);
        if !is_status(&self.away) {
            return Some(("away", format!("{} is neither 0 nor 500 to 599", self.away)));
        }
        if let Some(status) = self.broken.values().find(|status| !is_status(status)) {
            return Some(("broken", format!("{status} is neither 0 nor 500 to 599")));
        }
        None
    }

    /// How invoices show their lines.
    pub(crate) fn listing(&self) -> Listing {
        let usual = Listing::default();
        let embedded = match self.lines_embedded {
            0 => usual.embedded,
            most => usize::try_from(most).unwrap_or(usize::MAX),
        };
        Listing {
            embedded,
            in_front: self.items_in_front,
        }
    }

    /// The status of a request about a broken object; 0: no answer.
    pub(super) fn broken_object(&self, request: &Request<'_>) -> Option<u16> {
        let named = |id: &str| {
            request.path.split('/').any(|part| part == id)
                || request.form.values().any(|value| value == id)
        };
        let mut broken = self.broken.iter();
        let (_, status) = broken.find(|(id, _)| named(id))?;
        Some(*status)
    }
}
