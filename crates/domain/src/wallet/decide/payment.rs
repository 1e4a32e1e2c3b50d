//! A payment as the provider reports it, and the subscription cycle that it pays for.

use serde::{Deserialize, Serialize};

use crate::{
    terms::Terms,
    text::{CustomerId, Email, InvoiceId, PaymentId, SubscriptionId},
    time::Timestamp,
    wallet::state::order::Receipt,
};

/// What the provider says about a completed payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// The amount charged, after discounts, in the currency's minor unit.
    pub amount_cents: i64,
    /// The provider's payment; `None` for an amount of 0.
    pub payment: Option<PaymentId>,
    /// The provider's invoice of a one-time purchase; that of a cycle is in its [`PaidCycle`].
    pub invoice: Option<InvoiceId>,
    /// The provider's name for the buyer.
    pub customer: Option<CustomerId>,
    /// The buyer's email address.
    pub email: Option<Email>,
    /// Where it was made, and the provider's pages about it.
    pub receipt: Receipt,
}

/// The subscription that a payment starts, renews or switches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaidCycle {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// The invoice that was paid.
    pub invoice: Option<InvoiceId>,
    /// When the invoice's cycle began; it need not be the running one.
    pub cycle_start: Timestamp,
    /// When that cycle ends.
    pub current_period_end: Timestamp,
    /// Whether that cycle is a trial.
    pub trial: bool,
    /// Whether it was paid after the subscription ended: then its credits last for its own period.
    pub after_end: bool,
    /// Whether the subscription was paused when it was read: then an invoice over 0 brings nothing.
    pub paused: bool,
    /// When the provider reported this: when the invoice was made, or the subscription was read.
    pub reported_at: Timestamp,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CycleGrant {
    /// Credits, before they are limited to the balance's room.
    pub(super) credits: i64,
    /// When they expire if their cycle is over: not before now, and ignored if they roll over.
    pub(super) ends: Option<Timestamp>,
}

pub(super) fn credits(terms: &Terms, payment: &Payment, billing: &PaidCycle) -> i64 {
    if billing.trial {
        terms.trial_credits
    } else if billing.paused && payment.amount_cents <= 0 {
        0
    } else {
        terms.credits
    }
}
