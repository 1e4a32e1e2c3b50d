//! A payment that leads to no order, as it is kept.

use std::{fmt::Display, str::FromStr};

use domain::{
    Timestamp,
    id::{OrderId, PriceId},
    text::{
        CheckoutId, CustomerId, Email, ExternalUserId, InvoiceId, PageUrl, PaymentId,
        SubscriptionId,
    },
    wallet::{
        ProviderKind, Receipt,
        pay::{Billing, Payment},
    },
};
use port::{Charge, Subject, Unplaceable, Unplaced};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Money that was taken for something of a project's, and that leads to no order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnfulfilledPayment {
    /// The provider's payment; it names this, too.
    pub payment: PaymentId,
    /// The page on which it was paid.
    pub checkout: Option<CheckoutId>,
    /// The bill that it pays.
    pub invoice: Option<InvoiceId>,
    /// The subscription that is billed.
    pub subscription: Option<SubscriptionId>,
    /// Who paid.
    pub customer: Option<CustomerId>,
    /// The buyer's address.
    pub email: Option<String>,
    /// What was taken, in the currency's minor unit.
    pub amount_cents: i64,
    /// Of which currency, in capitals.
    pub currency: Box<str>,
    /// When it was taken, in milliseconds.
    pub paid_at: i64,
    /// Why it leads nowhere.
    pub reason: Unplaceable,
    /// When that was found, in milliseconds.
    pub seen_at: i64,
    /// What a person made of it.
    pub state: State,
    cycle: Option<Cycle>,
    sandbox: bool,
    livemode: bool,
    receipt_url: Option<String>,
    invoice_url: Option<String>,
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

/// The cycle that a bill pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cycle {
    start: i64,
    end: i64,
    trial: bool,
    paused: bool,
    reported_at: i64,
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
            payment: paid,
            billing,
        } = unplaced;
        let billed = billing.as_ref();
        let email = paid.email.map(|email| email.as_str().to_owned());
        Self {
            payment,
            checkout,
            invoice: paid.invoice.or(billed.and_then(|it| it.invoice.clone())),
            subscription: billed.map(|it| it.subscription.clone()),
            customer: paid.customer.or(charge.customer),
            email: email.or(charge.email.filter(|email| Email::new(&**email).is_ok())),
            amount_cents: charge.amount_cents,
            currency: charge.currency,
            paid_at: charge.at.0,
            reason: why,
            seen_at: seen_at.0,
            state: State::Open,
            cycle: billed.map(|it| Cycle {
                start: it.cycle_start.0,
                end: it.current_period_end.0,
                trial: it.trial,
                paused: it.paused,
                reported_at: it.reported_at.0,
            }),
            sandbox: paid.receipt.provider == Some(ProviderKind::Sandbox),
            livemode: paid.receipt.livemode,
            receipt_url: paid.receipt.receipt_url.map(|url| url.as_str().to_owned()),
            invoice_url: paid.receipt.invoice_url.map(|url| url.as_str().to_owned()),
        }
    }

    /// The same, as somebody decided.
    pub(super) fn with(self, state: State) -> Self {
        Self { state, ..self }
    }

    /// Whether a person has yet to do something about it.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open | State::Assigning(_))
    }

    /// Its place in the list: the newest first.
    #[must_use]
    pub const fn place(&self) -> (i64, &PaymentId) {
        (self.seen_at, &self.payment)
    }

    /// What is looked at to see whether it leads to an order by now.
    pub(super) fn subject(&self) -> Subject {
        match (&self.checkout, &self.invoice) {
            (Some(checkout), _) => Subject::Checkout(checkout.clone()),
            (None, Some(invoice)) => Subject::Invoice(invoice.clone()),
            (None, None) => Subject::Payment(self.payment.clone()),
        }
    }

    /// The payment of the order that it becomes.
    pub(super) fn payment(&self) -> Payment {
        let page = |url: &Option<String>| url.as_deref().and_then(|url| PageUrl::new(url).ok());
        let provider = match self.sandbox {
            true => ProviderKind::Sandbox,
            false => ProviderKind::Stripe,
        };
        Payment {
            amount_cents: self.amount_cents,
            payment: Some(self.payment.clone()),
            invoice: self.invoice.clone(),
            customer: self.customer.clone(),
            email: self
                .email
                .as_deref()
                .and_then(|email| Email::new(email).ok()),
            receipt: Receipt {
                provider: Some(provider),
                livemode: self.livemode,
                receipt_url: page(&self.receipt_url),
                invoice_url: page(&self.invoice_url),
            },
        }
    }

    /// The subscription that the order begins or goes on with, where it is of one.
    pub(super) fn billing(&self) -> Option<Billing> {
        let cycle = self.cycle?;
        Some(Billing {
            subscription: self.subscription.clone()?,
            invoice: self.invoice.clone(),
            cycle_start: Timestamp(cycle.start),
            current_period_end: Timestamp(cycle.end),
            trial: cycle.trial,
            after_end: false,
            paused: cycle.paused,
            reported_at: Timestamp(cycle.reported_at),
        })
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
