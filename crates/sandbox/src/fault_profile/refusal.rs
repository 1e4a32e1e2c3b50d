//! Refusals that do not depend on the account's objects, in Stripe's words.

use super::exchange::Outcome;
use crate::core::prelude::*;

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        Answer::from(refusal).into()
    }
}

impl Outcome {
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }

    /// Too many requests; the header names the limit.
    pub(super) fn rate_limit(reason: &str) -> Self {
        Self::from(Refusal::rate_limit()).with("stripe-rate-limited-reason", reason)
    }
}

/// The key lacks a permission; it is shown masked, as Stripe does.
pub(super) fn denied(key: &str, permission: &str) -> Refusal {
    let (start, end) = (key.get(..8), key.len().checked_sub(6));
    let end = end.filter(|end| *end > 8).and_then(|end| key.get(end..));
    let shown = format!(
        "{}*********************{}",
        start.unwrap_or_default(),
        end.unwrap_or_default()
    );
    Refusal {
        status: 403,
        ..Refusal::invalid(format!(
            "The provided key '{shown}' does not have the required permissions for this endpoint on \
             account 'acct_1Faulty'. Having the '{permission}' permission would allow this request to \
             continue."
        ))
    }
}

pub(super) fn broken(status: u16) -> Refusal {
    let message = "Sorry! There was an error while talking to Stripe. Our engineers have been \
                   notified and we'll fix the problem as soon as possible. In the meantime, you can \
                   email support@stripe.com for help.";
    Refusal {
        status,
        kind: "api_error",
        ..Refusal::invalid(message)
    }
}
