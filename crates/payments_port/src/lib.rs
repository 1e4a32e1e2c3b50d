//! The port between payments and the payment provider. Payments call a [`Provider`], which answers with the present
//! state as [`Report`]s in Scrip's terms. A provider is a crate that depends on this one and knows orders only by id.
//!
//! An event from a provider ([`ProviderEvent`]: a webhook, or an entry of its event list) only names an object to
//! fetch. The object's fetched state counts, so it does not matter whether the event came twice, late, out of order or
//! not at all. Amounts are in the currency's minor unit.

mod cards;
mod error;
mod lists;
mod report;
mod request;

use std::sync::Arc;

use async_trait::async_trait;
use domain::{
    id::{OrderId, PriceId, ProjectId},
    terms::Terms,
    text::{CardId, CheckoutId, CustomerId, InvoiceId, PaymentId, SubscriptionId},
    time::Timestamp,
};

pub use self::{
    cards::{CardCharge, CardOutcome, CardSetup, CardSetupRequest},
    error::{Error, WebhookError},
    lists::{Movement, PartPayment, ProviderCharge, ProviderList, ProviderListItem},
    report::{
        BillingTerms, ImportableSubscription, InvoiceName, InvoicePart, NoOrderReason, ObjectRef,
        Origin, PaidInvoice, PaidOrder, PaidPart, PartAmount, PaymentReversal, PaymentTarget,
        PaymentWithoutOrder, ProviderEvent, Report, Share, SubscriptionState,
    },
    request::{
        CheckoutPage, CheckoutRequest, Discount, Operation, OrderReference, PortalRequest,
        RefundRequest,
    },
};

/// The answer to a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Stores the ids of objects that an adapter creates once (products, prices), to find them after a restart. An object
/// whose id is lost is created again.
#[async_trait]
pub trait ObjectIds: Send + Sync {
    /// The id of the object created for `what`, if any.
    fn find(&self, project: ProjectId, what: [u8; 16]) -> Option<String>;

    /// Stores the id of the object created for `what`.
    async fn remember(&self, project: ProjectId, what: [u8; 16], id: String) -> Result<()>;

    /// Forgets all ids of a project: some of the objects no longer exist at the provider.
    async fn forget_all(&self, project: ProjectId) -> Result<()>;
}

/// A span of the provider's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first second.
    pub since: Timestamp,
    /// The last second; `None` for the present.
    pub until: Option<Timestamp>,
}

/// Finds the order of a provider's object by what Scrip stored about it, and terms by price. The object's metadata decides
/// only where Scrip stored nothing: anybody with access to the account can edit it.
pub trait Owners: Send + Sync {
    /// The order of a checkout; the first order of a subscription; the order paid by an invoice or payment.
    /// # Errors
    /// [`Error::Unavailable`] when the look-up cannot be read.
    fn order_of(&self, subject: &ObjectRef) -> Result<Option<OrderId>, Error>;

    /// The terms of one of the project's prices; `None` if it is unknown.
    fn terms(&self, price: PriceId) -> Option<Terms>;
}

/// One page of a provider's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// The cursor of the next page, with older items, if there is one.
    pub next: Option<String>,
}

/// A project's account at a payment provider. Cheap to make; never prints a secret.
///
/// Every request that changes something is named by an [`Operation`]: repeated under that name, it is done once.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The same account for background work: its requests yield to others and stay well below the rate limit.
    fn in_background(&self) -> Arc<dyn Provider>;

    /// Verifies a webhook's signature and parses its event. `None` for an event that Scrip does not act on.
    /// # Errors
    /// [`WebhookError`] when the provider did not sign it, or its body cannot be parsed.
    fn webhook(
        &self,
        signature: &[u8],
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<ProviderEvent>, WebhookError>;

    /// The provider's events in a span of its time, both ends included, newest page first. Within a page they are in
    /// any order; events that Scrip does not act on are left out.
    async fn events(&self, span: Span, page: Option<&str>) -> Result<ListPage<ProviderEvent>>;

    /// Permissions that the account's key lacked when last needed, in the provider's terms. One is removed when a
    /// request that needs it succeeds.
    fn missing_permissions(&self) -> Vec<String>;

    /// Tries the missing permissions again, with requests that change nothing.
    async fn retry_missing_permissions(&self) -> Result<()>;

    /// Fetches an object's present state. Empty if the object is not this project's.
    async fn fetch(&self, subject: &ObjectRef, owners: &dyn Owners) -> Result<Vec<Report>>;

    /// The present state of a payment's charge; `None` if nothing was captured.
    async fn charge(&self, payment: &PaymentId) -> Result<Option<ProviderCharge>>;

    /// All successful payments of an invoice with their present state, oldest first; empty if nothing had to be paid.
    async fn payments_of(&self, invoice: &InvoiceId) -> Result<Vec<PartPayment>>;

    /// One of the provider's lists: items created at or after `from` and before `until`, newest first, page by page,
    /// without items that captured nothing.
    async fn list(
        &self,
        list: ProviderList,
        from: Timestamp,
        until: Timestamp,
        page: Option<&str>,
    ) -> Result<ListPage<ProviderListItem>>;

    /// Opens a checkout page for a buyer to pay.
    async fn open_checkout(&self, request: &CheckoutRequest<'_>) -> Result<CheckoutPage>;

    /// Closes a checkout page, so that it can no longer be paid.
    async fn close_checkout(&self, checkout: &CheckoutId, order: OrderId) -> Result<()>;

    /// Opens a portal page, where a customer sees invoices, changes cards, switches tiers and cancels. Returns its URL.
    async fn open_portal(&self, request: &PortalRequest<'_>) -> Result<String>;

    /// Running subscriptions to one of the provider's prices, with or without an order here, page by page.
    async fn running_subscriptions(
        &self,
        price: &str,
        page: Option<&str>,
    ) -> Result<ListPage<ImportableSubscription>>;

    /// One subscription with its newest invoice; `None` if it is unknown.
    async fn running_subscription(
        &self,
        subscription: &SubscriptionId,
    ) -> Result<Option<ImportableSubscription>>;

    /// Writes our price's id into the metadata of a subscription's price. The subscription is reported as an order paid
    /// with 0.
    async fn adopt(
        &self,
        subscription: &SubscriptionId,
        reference: &OrderReference,
    ) -> Result<PaidOrder>;

    /// Writes the id of its first order into a subscription's metadata.
    async fn mark_subscription(&self, subscription: &SubscriptionId, order: OrderId) -> Result<()>;

    /// Refunds money. Credits follow from the payment's state afterwards.
    async fn refund(&self, request: &RefundRequest) -> Result<()>;

    /// Opens a page on which a user enters a card. Once it is complete, it is fetched as a checkout and reported as
    /// [`Report::CardSaved`].
    async fn open_card_setup(&self, request: &CardSetupRequest<'_>) -> Result<CheckoutPage>;

    /// Charges a card on file, once for its operation, whenever and however often it is repeated: a repeat gives the
    /// first answer. After an error that may have hidden an answer, only an answer tells what happened: an error of a
    /// repeat is about the repeat.
    async fn charge_card(&self, charge: &CardCharge) -> Result<CardOutcome>;

    /// What became of a charge, by the provider's list of the customer's payments since it was placed. `None`: the list
    /// has none of that name, which is certain once no request to charge it is under way.
    async fn find_card_charge(
        &self,
        order: OrderId,
        customer: &CustomerId,
        operation: &Operation,
        since: Timestamp,
    ) -> Result<Option<CardOutcome>>;

    /// Closes a payment that was declined, so that it cannot be paid later. A repeated call changes nothing.
    /// # Errors
    /// A refusal when it is paid, or the bank has it.
    async fn cancel_card_charge(&self, payment: &PaymentId) -> Result<()>;

    /// Makes the provider forget a card. One that is gone already is no error.
    async fn forget_card(&self, card: &CardId) -> Result<()>;

    /// Cancels a subscription, now or at the end of its period. A repeated call changes nothing.
    async fn cancel(
        &self,
        subscription: &SubscriptionId,
        at_period_end: bool,
        operation: &Operation,
    ) -> Result<()>;

    /// Withdraws a subscription's cancellation and its pause. A repeated call changes nothing.
    async fn resume(&self, subscription: &SubscriptionId, operation: &Operation) -> Result<()>;
}
