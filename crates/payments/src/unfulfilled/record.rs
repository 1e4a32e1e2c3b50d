//! The stored record of a payment without an order.

use domain::{
    Timestamp,
    id::{OrderId, PriceId},
    text::{CheckoutId, Email, ExternalUserId, PaymentId},
    wallet::{
        ProviderKind,
        pay::{PaidCycle, Payment},
    },
};
use payments_port::{
    NoOrderReason, ObjectRef, PartPayment, PaymentWithoutOrder, Provider, ProviderCharge,
};
use serde::{Deserialize, Serialize};

use crate::bill_payments::payments_of_bill;

/// How long a decided payment stays on the list: longer than any cycle, since a subscription's report names the paid
/// invoices of the current cycle again.
const RETENTION_SECONDS: i64 = 400 * 24 * 3600;

/// A payment for something of a project's that leads to no order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct UnfulfilledPayment {
    /// The provider's id of the payment, also the key of this record.
    pub payment: PaymentId,
    /// The other payments of its bill, if that was paid in parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<PaymentId>,
    /// The checkout page on which it was paid, if there was one.
    pub checkout: Option<CheckoutId>,
    /// The payment for the order that it is assigned to, with the amount of all parts.
    pub paid: Payment,
    /// The subscription and cycle that it paid; `None` if it was for no subscription.
    pub billing: Option<PaidCycle>,
    /// The ISO 4217 code of its currency, in capitals.
    pub currency: Box<str>,
    pub paid_at: Timestamp,
    pub reason: NoOrderReason,
    pub seen_at: Timestamp,
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decided_at: Option<Timestamp>,
    /// How often it was refunded again, because a refund was refused or returned by the buyer's bank. Each round has
    /// new names at the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) round: Option<u32>,
}

/// The decision about an unfulfilled payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing is decided yet.
    Open,
    /// It becomes this order. Stored before the wallet pays the order, so that a crash leads to the same order.
    Assigning(Assignment),
    /// All of it was refunded.
    Refunded,
    /// It needs no order, for this reason.
    Dismissed(String),
}

/// The order that a payment is to become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Assignment {
    pub order: OrderId,
    pub price: PriceId,
    /// The user whose wallet gets the credits; `None` for an anonymous wallet.
    pub user: Option<String>,
}

impl UnfulfilledPayment {
    pub(super) fn new(
        unplaced: PaymentWithoutOrder,
        checkout: Option<CheckoutId>,
        (payment, charge): (PaymentId, ProviderCharge),
        seen_at: Timestamp,
    ) -> Self {
        let PaymentWithoutOrder {
            reason,
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
            others: Vec::new(),
            checkout,
            paid,
            billing,
            currency: charge.currency,
            paid_at: charge.at,
            reason,
            seen_at,
            state: State::Open,
            decided_at: None,
            round: None,
        }
    }

    /// The payments of its bill, or its only payment, with what was refunded; empty if nothing was taken.
    /// # Errors
    /// See [`payments_port::Error`].
    pub(super) async fn parts(
        &self,
        provider: &dyn Provider,
    ) -> Result<Vec<PartPayment>, payments_port::Error> {
        if let Some(parts) = self.parts_of_bill(provider).await? {
            return Ok(parts);
        }
        let charge = provider.charge(&self.payment).await?;
        let part = charge.map(|charge| PartPayment {
            payment: self.payment.clone(),
            amount_cents: charge.amount_cents,
            refunded_cents: charge.refunded_cents,
            disputed_cents: 0,
        });
        Ok(part.into_iter().collect())
    }

    /// The payments of its bill, oldest first; `None` if there is only one, or the key may not read them.
    /// # Errors
    /// See [`payments_port::Error`].
    pub(super) async fn parts_of_bill(
        &self,
        provider: &dyn Provider,
    ) -> Result<Option<Vec<PartPayment>>, payments_port::Error> {
        let Some(invoice) = &self.paid.invoice else {
            return Ok(None);
        };
        let is_one_of_several = |parts: &Vec<PartPayment>| {
            parts.len() > 1 && parts.iter().any(|part| part.payment == self.payment)
        };
        let parts = payments_of_bill(provider, invoice).await?;
        Ok(parts.filter(is_one_of_several))
    }

    /// Updates the amounts and ids of its bill's payments.
    pub(super) fn is_paid_by(&mut self, parts: Vec<PartPayment>) {
        let taken = parts.iter().map(|part| part.amount_cents);
        self.paid.amount_cents = taken.fold(0, i64::saturating_add);
        let all = parts.into_iter().map(|part| part.payment);
        self.others = all.filter(|part| *part != self.payment).collect();
    }

    /// The payment reopened, so that its next refund has new names.
    pub(super) fn reopened(self) -> Self {
        let round = self.round.unwrap_or_default().saturating_add(1);
        Self {
            round: Some(round),
            ..self
        }
    }

    /// The payment with a decision made at an instant.
    pub(super) fn with(self, state: State, at: Timestamp) -> Self {
        let decided_at = Some(at);
        Self {
            state,
            decided_at,
            ..self
        }
    }

    /// Whether it was decided so long ago that no event names it any more.
    pub(super) fn is_forgotten(&self, now: Timestamp) -> bool {
        let decided_at = self.decided_at.unwrap_or(self.seen_at);
        !self.is_open() && decided_at.plus_seconds(RETENTION_SECONDS) <= now
    }

    /// Whether it still waits for a decision, or for its assignment to be finished.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open | State::Assigning(_))
    }

    /// Its position in the list, newest first.
    pub const fn place(&self) -> (Timestamp, &PaymentId) {
        (self.seen_at, &self.payment)
    }

    /// The object to fetch to find its order.
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
