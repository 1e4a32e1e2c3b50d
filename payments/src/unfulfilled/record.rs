//! A payment that leads to no order, as it is kept.

use std::{fmt::Display, str::FromStr};

use domain::{
    Timestamp,
    id::{OrderId, PriceId},
    text::{CheckoutId, Email, ExternalUserId, PaymentId},
    wallet::{
        ProviderKind,
        pay::{Billing, Payment},
    },
};
use port::{Charge, ObjectRef, Unplaceable, Unplaced};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What was settled is kept so long: longer than any cycle, whose bill is found again as long as that runs.
const KEPT_SECONDS: i64 = 400 * 24 * 3600;

/// Money that was taken for something of a project's, and that leads to no order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnfulfilledPayment {
    /// The provider's payment; it names this, too.
    pub payment: PaymentId,
    /// The page on which it was paid.
    pub checkout: Option<CheckoutId>,
    /// What was taken, as the order hears it that it becomes.
    pub paid: Payment,
    /// The subscription that such an order begins or goes on with, where it is of one.
    pub billing: Option<Billing>,
    /// Of which currency, in capitals.
    pub currency: Box<str>,
    /// When it was taken.
    pub paid_at: Timestamp,
    /// Why it leads nowhere.
    pub reason: Unplaceable,
    /// When that was found.
    pub seen_at: Timestamp,
    /// What a person made of it.
    pub state: State,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decided_at: Option<Timestamp>,
    /// How often what was given back came back, since a bank did not take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) came_back: Option<u32>,
}

/// What a person made of an unfulfilled payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing yet.
    Open,
    /// It is to become this order. Written before the wallet is told, so that whoever comes after a crash
    /// goes on with the same one.
    Assigning(Assignment),
    /// All of it went back.
    Refunded,
    /// It is no matter, and why.
    Dismissed(String),
}

/// An order that a payment is to become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Which.
    #[serde(with = "as_text")]
    pub order: OrderId,
    /// What it buys.
    #[serde(with = "as_text")]
    pub price: PriceId,
    /// Whose wallet it fills, where that is a user's.
    pub user: Option<String>,
}

impl UnfulfilledPayment {
    pub(super) fn new(
        unplaced: Unplaced,
        checkout: Option<CheckoutId>,
        (payment, charge): (PaymentId, Charge),
        seen_at: Timestamp,
    ) -> Self {
        let Unplaced {
            why,
            payment: mut paid,
            mut billing,
        } = unplaced;
        if let Some(billing) = &mut billing {
            billing.after_end = false;
            paid.invoice = paid.invoice.or_else(|| billing.invoice.clone());
        }
        let email = charge.email.and_then(|email| Email::new(email).ok());
        paid.payment = Some(payment.clone());
        paid.customer = paid.customer.or(charge.customer);
        paid.email = paid.email.or(email);
        paid.amount_cents = charge.amount_cents;
        paid.receipt.provider = paid.receipt.provider.or(Some(ProviderKind::Stripe));
        Self {
            payment,
            checkout,
            paid,
            billing,
            currency: charge.currency,
            paid_at: charge.at,
            reason: why,
            seen_at,
            state: State::Open,
            decided_at: None,
            came_back: None,
        }
    }

    /// The same, as it was decided at an instant.
    pub(super) fn with(self, state: State, at: Timestamp) -> Self {
        let decided_at = Some(at);
        Self {
            state,
            decided_at,
            ..self
        }
    }

    /// Whether it was settled so long ago that nothing tells of it any more.
    pub(super) fn is_forgotten(&self, now: Timestamp) -> bool {
        let settled = self.decided_at.unwrap_or(self.seen_at);
        !self.is_open() && settled.plus_seconds(KEPT_SECONDS) <= now
    }

    /// Whether a person has yet to do something about it.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open | State::Assigning(_))
    }

    /// Its place in the list: the newest first.
    #[must_use]
    pub const fn place(&self) -> (Timestamp, &PaymentId) {
        (self.seen_at, &self.payment)
    }

    /// What is looked at to see whether it leads to an order by now.
    pub(super) fn subject(&self) -> ObjectRef {
        match (&self.checkout, &self.paid.invoice) {
            (Some(checkout), _) => ObjectRef::Checkout(checkout.clone()),
            (None, Some(invoice)) => ObjectRef::Invoice(invoice.clone()),
            (None, None) => ObjectRef::Payment(self.payment.clone()),
        }
    }
}

impl Assignment {
    pub(super) fn user(&self) -> Option<ExternalUserId> {
        self.user
            .as_deref()
            .and_then(|user| ExternalUserId::new(user).ok())
    }
}

/// Identifiers as they are written everywhere.
mod as_text {
    use super::{Deserialize, Deserializer, Display, FromStr, Serializer};
    use serde::de::Error as _;

    pub(super) fn serialize<T: Display, S: Serializer>(id: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(id)
    }

    pub(super) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|_| D::Error::custom("no identifier"))
    }
}
