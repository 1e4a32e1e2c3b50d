//! The permission of a restricted key that each endpoint needs, by the names in Stripe's refusals and prefilled
//! links. Prices have their old name there, plans.

use std::collections::BTreeSet;

use super::{exchange::Request, refusal};
use crate::core::refusal::Refusal;

/// Paths below `/v1/`, and the name of each in permissions.
const SCOPES: [(&str, &str); 20] = [
    ("account", "accounts_kyc_basic"),
    ("billing_portal", "customer_portal"),
    ("charges", "charge"),
    ("checkout/sessions", "checkout_session"),
    ("coupons", "coupon"),
    ("customers", "customer"),
    ("disputes", "dispute"),
    ("events", "event"),
    ("invoice_payments", "invoice_payment"),
    ("invoiceitems", "invoice_item"),
    ("invoices", "invoice"),
    ("payment_intents", "payment_intent"),
    ("prices", "plan"),
    ("products", "product"),
    ("promotion_codes", "promotion_code"),
    ("refunds", "charge"),
    ("subscription_schedules", "subscription_schedule"),
    ("subscriptions", "subscription"),
    ("webhook_endpoints", "webhook"),
    ("balance_transactions", "balance_transaction"),
];

/// The permission that a request needs, for example `rak_dispute_read`, if known.
#[must_use]
pub fn permission(method: &str, path: &str) -> Option<String> {
    let path = path.strip_prefix("/v1/")?;
    let mut scopes = SCOPES.iter();
    let (_, name) = scopes.find(|(prefix, _)| {
        let rest = path.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })?;
    let verb = if method == "GET" { "read" } else { "write" };
    Some(format!("rak_{name}_{verb}"))
}

/// The request's endpoint, with `{id}` in place of ids: `GET /v1/invoices/{id}/lines`.
pub(super) fn endpoint(method: &str, path: &str) -> String {
    let is_id = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit()) && part != "v1";
    let parts = path.split('/').map(|part| match is_id(part) {
        true => "{id}",
        false => part,
    });
    let path: Vec<&str> = parts.collect();
    format!("{method} {}", path.join("/"))
}

pub(super) fn refuse(denied: &BTreeSet<String>, request: &Request<'_>) -> Option<Refusal> {
    if denied.is_empty() {
        return None;
    }
    let wanted = permission(request.method, request.path)?;
    let reading = wanted.strip_suffix("_write");
    let reading = reading.map(|scope| format!("{scope}_read"));
    let lacks = denied.contains(&wanted) || reading.is_some_and(|read| denied.contains(&read));
    lacks.then(|| refusal::denied(request.key, &wanted))
}
