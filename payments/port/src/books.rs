//! What the provider's own books say of money that moved, whoever's it was.

use domain::{
    id::OrderId,
    text::{CustomerId, PaymentId},
    time::Timestamp,
};

/// One of the provider's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Book {
    /// Money that was taken.
    Charges,
    /// Money that went back.
    Refunds,
    /// Money that a bank asked back.
    Disputes,
    /// Paid bills of the project's subscriptions, by when they were made: what a subscription's charge does not
    /// say of itself, its bill does.
    Bills,
}

/// Money that was taken, as it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The provider's payment; money that was taken without one is none of ours.
    pub payment: Option<PaymentId>,
    /// The order of the project's that is written on it.
    pub order: Option<OrderId>,
    /// Who paid.
    pub customer: Option<CustomerId>,
    /// The buyer's address.
    pub email: Option<String>,
    /// What was taken, in the currency's minor unit.
    pub amount_cents: i64,
    /// What of it went back, or is about to; disputes apart.
    pub refunded_cents: i64,
    /// As ISO 4217 writes it, in capitals.
    pub currency: Box<str>,
    /// When it was taken.
    pub at: Timestamp,
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The provider's name for it.
    pub id: String,
    /// The money that it is about.
    pub charge: Charge,
    /// What moved.
    pub movement: Movement,
}

/// What moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Movement {
    /// The money was taken.
    Taken,
    /// This much of it went back, or failed to.
    Refunded {
        /// In the charge's currency.
        cents: i64,
    },
    /// A bank asks for it.
    Disputed {
        /// What is withheld or lost for it now, in the dispute's currency.
        withheld_cents: i64,
        /// Which may be another one than the charge's.
        currency: Box<str>,
    },
}

/// Some of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BookPage {
    /// The newest first. What took no money is left out.
    pub entries: Vec<Entry>,
    /// Where older ones go on, if there are any.
    pub next: Option<String>,
}
