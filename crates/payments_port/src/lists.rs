//! The provider's lists of money movements in the account, of this project or anything else.

#![expect(missing_docs, reason = "most fields and variants say what they are")]

use domain::{
    id::OrderId,
    text::{CustomerId, PaymentId},
    time::Timestamp,
};

/// One of the provider's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProviderList {
    /// Money that was taken.
    Charges,
    /// Money that was paid back to buyers.
    Refunds,
    /// Chargebacks: payments that a buyer disputes through a bank.
    Disputes,
    /// Paid invoices of the project's subscriptions, by creation time, since a subscription's charge names no order.
    Bills,
}

/// A charge's present state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCharge {
    /// The provider's payment; a charge without one was not made by Scrip.
    pub payment: Option<PaymentId>,
    /// The project's order that its metadata names.
    pub order: Option<OrderId>,
    pub customer: Option<CustomerId>,
    pub email: Option<String>,
    /// The amount taken, in the currency's minor unit.
    pub amount_cents: i64,
    /// The part that was refunded or is about to be; disputes are not counted.
    pub refunded_cents: i64,
    /// The ISO 4217 code, in capitals.
    pub currency: Box<str>,
    pub at: Timestamp,
}

/// One of the payments of an invoice, which may be paid in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartPayment {
    pub payment: PaymentId,
    pub amount_cents: i64,
    pub refunded_cents: i64,
    pub disputed_cents: i64,
}

impl PartPayment {
    /// What was not refunded, including what a dispute withholds.
    pub fn kept_cents(&self) -> i64 {
        self.amount_cents.saturating_sub(self.refunded_cents).max(0)
    }

    /// Whether all of it was refunded.
    pub fn is_refunded(&self) -> bool {
        self.kept_cents() == 0
    }

    /// What can still be refunded of it.
    pub fn left_cents(&self) -> i64 {
        let gone = self.refunded_cents.saturating_add(self.disputed_cents);
        self.amount_cents.saturating_sub(gone).max(0)
    }
}

/// One item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderListItem {
    pub id: String,
    pub charge: ProviderCharge,
    pub movement: Movement,
}

/// What happened to a charge's money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Movement {
    Taken,
    /// A refund of this much succeeded, is under way or failed.
    Refunded {
        /// In the minor unit of the charge's currency.
        cents: i64,
    },
    /// A dispute was opened.
    Disputed {
        /// The amount that is withheld or lost now, in the minor unit of the dispute's currency.
        withheld_cents: i64,
        /// The dispute's currency, which may differ from the charge's.
        currency: Box<str>,
    },
}
