//! The port between payments and the payment provider. Payments call a [`Provider`], which answers with the present
//! state as [`Report`]s in Scrip's terms. A provider is a crate that depends on this one and knows orders only by id.
//!
//! An event from a provider ([`ProviderEvent`]: a webhook, or an entry of its event list) only names an object to
//! fetch. The object's fetched state counts, so it does not matter whether the event came twice, late, out of order or
//! not at all.

mod error;
mod lists;
mod report;
mod request;

use std::{future::Future, pin::Pin, sync::Arc};

use domain::{
    id::{OrderId, PriceId, ProjectId},
    terms::Terms,
    text::{CheckoutId, InvoiceId, PaymentId, SubscriptionId},
    time::Timestamp,
};

pub use self::{
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

/// The future that every request to a provider returns.
pub type ProviderFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Stores the ids of objects that an adapter creates once (products, prices), to find them after a restart. An object
/// whose id is lost is created again.
pub trait ObjectIds: Send + Sync {
    /// The id of the object created for `what`, if any.
    fn find(&self, project: ProjectId, what: [u8; 16]) -> Option<String>;

    /// Stores the id of the object created for `what`.
    fn remember(
        &self,
        project: ProjectId,
        what: [u8; 16],
        id: String,
    ) -> ProviderFuture<'static, ()>;

    /// Forgets all ids of a project: some of the objects no longer exist at the provider.
    fn forget_all(&self, project: ProjectId) -> ProviderFuture<'static, ()>;
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
    fn events<'a>(
        &'a self,
        span: Span,
        page: Option<&'a str>,
    ) -> ProviderFuture<'a, ListPage<ProviderEvent>>;

    /// Permissions that the account's key lacked when last needed, in the provider's terms. One is removed when a
    /// request that needs it succeeds.
    fn missing_permissions(&self) -> Vec<String>;

    /// Tries the missing permissions again, with requests that change nothing.
    fn retry_missing_permissions(&self) -> ProviderFuture<'_, ()>;

    /// Fetches an object's present state. Empty if the object is not this project's.
    fn fetch<'a>(
        &'a self,
        subject: &'a ObjectRef,
        owners: &'a dyn Owners,
    ) -> ProviderFuture<'a, Vec<Report>>;

    /// The present state of a payment's charge; `None` if nothing was captured.
    fn charge<'a>(&'a self, payment: &'a PaymentId) -> ProviderFuture<'a, Option<ProviderCharge>>;

    /// All successful payments of an invoice with their present state, oldest first; empty if nothing had to be paid.
    fn payments_of<'a>(&'a self, invoice: &'a InvoiceId) -> ProviderFuture<'a, Vec<PartPayment>>;

    /// One of the provider's lists: items created at or after `from` and before `until`, newest first, page by page,
    /// without items that captured nothing.
    fn list<'a>(
        &'a self,
        list: ProviderList,
        from: Timestamp,
        until: Timestamp,
        page: Option<&'a str>,
    ) -> ProviderFuture<'a, ListPage<ProviderListItem>>;

    /// Opens a checkout page for a buyer to pay.
    fn open_checkout<'a>(
        &'a self,
        request: &'a CheckoutRequest<'a>,
    ) -> ProviderFuture<'a, CheckoutPage>;

    /// Closes a checkout page, so that it can no longer be paid.
    fn close_checkout<'a>(
        &'a self,
        checkout: &'a CheckoutId,
        order: OrderId,
    ) -> ProviderFuture<'a, ()>;

    /// Opens a portal page, where a customer sees invoices, changes cards, switches tiers and cancels. Returns its URL.
    fn open_portal<'a>(&'a self, request: &'a PortalRequest<'a>) -> ProviderFuture<'a, String>;

    /// Running subscriptions to one of the provider's prices, with or without an order here, page by page.
    fn running_subscriptions<'a>(
        &'a self,
        price: &'a str,
        page: Option<&'a str>,
    ) -> ProviderFuture<'a, ListPage<ImportableSubscription>>;

    /// One subscription with its newest invoice; `None` if it is unknown.
    fn running_subscription<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
    ) -> ProviderFuture<'a, Option<ImportableSubscription>>;

    /// Writes our price's id into the metadata of a subscription's price. The subscription is reported as an order paid
    /// with 0.
    fn adopt<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        reference: &'a OrderReference,
    ) -> ProviderFuture<'a, PaidOrder>;

    /// Writes the id of its first order into a subscription's metadata.
    fn mark_subscription<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        order: OrderId,
    ) -> ProviderFuture<'a, ()>;

    /// Refunds money. Credits follow from the payment's state afterwards.
    fn refund<'a>(&'a self, request: &'a RefundRequest) -> ProviderFuture<'a, ()>;

    /// Cancels a subscription, now or at the end of its period. A repeated call changes nothing.
    fn cancel<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        at_period_end: bool,
        operation: &'a Operation,
    ) -> ProviderFuture<'a, ()>;

    /// Withdraws a subscription's cancellation and its pause. A repeated call changes nothing.
    fn resume<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        operation: &'a Operation,
    ) -> ProviderFuture<'a, ()>;
}
