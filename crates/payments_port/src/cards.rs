//! Cards on file: saving one on a page of the provider, and payments by it that nobody attends.

#![expect(missing_docs, reason = "most fields and variants say what they are")]

use domain::{
    id::ProjectId,
    text::{CardId, CustomerId, Email, ExternalUserId, PaymentId},
    time::Timestamp,
    top_up::{Decline, SavedCard},
    wallet::Currency,
};

use super::{
    report::PaidOrder,
    request::{Operation, OrderReference},
};

/// A request for a page on which a user enters a card, without paying.
#[derive(Debug, Clone)]
pub struct CardSetupRequest<'a> {
    pub project: ProjectId,
    /// The user whose wallet the card is for.
    pub user: &'a ExternalUserId,
    /// The provider's customer, if the user is one.
    pub customer: Option<CustomerId>,
    /// The user's email address, to prefill.
    pub email: Option<&'a Email>,
    /// Where the page leads, whether or not a card was entered.
    pub return_url: &'a str,
    pub locale: Option<&'a str>,
}

/// A card that a user entered on such a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardSetup {
    pub user: ExternalUserId,
    pub card: SavedCard,
}

/// A payment by a card on file, without its owner. All of it but `since` must be the same whenever it is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardCharge {
    pub reference: OrderReference,
    pub customer: CustomerId,
    pub card: CardId,
    pub amount_cents: i64,
    pub currency: Currency,
    /// What the customer sees that it is for.
    pub description: String,
    /// The payment's name, kept in its metadata.
    pub operation: Operation,
    /// When its order was placed: no payment of that name is older.
    pub since: Timestamp,
}

/// What became of a payment by a card on file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardOutcome {
    Paid(Box<PaidOrder>),
    /// The provider waits for the bank, perhaps for days.
    Processing(PaymentId),
    /// Nothing was paid. Without a payment where the provider refused to make one.
    Declined(Decline, Option<PaymentId>),
}
