//! The port between payments and whoever takes the money. Payments ask a [`Provider`]; it answers
//! with what is so now, as [`Report`]s in Scrip's own words. A provider is a crate of its own that
//! knows this one and nothing of orders but their names.
//!
//! What a provider tells by itself ([`ProviderEvent`]: a webhook, an entry of its list of events) only says
//! what to look at. What counts is what is found there by asking: so it does not matter whether it was
//! told twice, late, in another order or not at all.

mod books;
mod error;
mod report;
mod request;

use std::{future::Future, pin::Pin, sync::Arc};

use domain::{
    id::{OrderId, PriceId, ProjectId},
    terms::Terms,
    text::{CheckoutId, PaymentId, SubscriptionId},
    time::Timestamp,
};

pub use self::{
    books::{Book, BookPage, Charge, Entry, Movement},
    error::{Error, WebhookError},
    report::{
        BillingTerms, InvoiceName, ObjectRef, Origin, PaidInvoice, PaidOrder, Part,
        PaymentReversal, PaymentTarget, ProviderEvent, Report, RunningSubscription,
        SubscriptionNow, Unplaceable, Unplaced,
    },
    request::{
        CheckoutRequest, Discount, OpenedCheckout, Operation, PortalRequest, Reference,
        RefundRequest,
    },
};

/// What is answered later.
pub type ProviderFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Where a provider's adapter keeps the names of what it made once, so that it is found again after a
/// restart. What is lost here is made anew.
pub trait ObjectIds: Send + Sync {
    /// The name of what was made, if it was.
    fn made(&self, project: ProjectId, what: [u8; 16]) -> Option<String>;

    /// Remembers it.
    fn remember(
        &self,
        project: ProjectId,
        what: [u8; 16],
        id: String,
    ) -> ProviderFuture<'static, ()>;

    /// Forgets all that was made for a project: the provider does not know some of it any more.
    fn forget_all(&self, project: ProjectId) -> ProviderFuture<'static, ()>;
}

/// A span of the provider's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first second.
    pub since: Timestamp,
    /// Its last second; `None`: the present.
    pub until: Option<Timestamp>,
}

/// What Scrip has placed already, and what its prices bring. Whose something is at the provider, this says; what
/// is written on it there, anybody may have replaced, and it counts only for what was never placed.
pub trait Owners: Send + Sync {
    /// The order of a page on which a buyer pays; that began a subscription; that a bill or a payment paid.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`], where it cannot be read.
    fn order_of(&self, subject: &ObjectRef) -> Result<Option<OrderId>, Error>;

    /// What a price of the project's brings; `None`: it has none such.
    fn terms(&self, price: PriceId) -> Option<Terms>;
}

/// Some of a provider's list of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// In any order. What Scrip does not act on is left out.
    pub events: Vec<ProviderEvent>,
    /// Where older ones go on, if there are any.
    pub next: Option<String>,
}

/// A project's account at whoever takes the money. Cheap to make; never prints a secret.
///
/// Everything that changes something there is named by an [`Operation`]: asked for again under the
/// same name, it is done once.
pub trait Provider: Send + Sync {
    /// The same account for what nobody waits for: it lets others go first, and stays well below what the
    /// provider allows.
    fn in_background(&self) -> Arc<dyn Provider>;

    /// What a webhook tells, once it is known to be the provider's. `None`: nothing that Scrip acts on.
    ///
    /// # Errors
    ///
    /// [`WebhookError`]: it is not the provider's, or not readable.
    fn webhook(
        &self,
        signature: &[u8],
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<ProviderEvent>, WebhookError>;

    /// What the provider has to tell of a span of its own time, both ends included, newest first, a page at
    /// a time.
    fn events<'a>(&'a self, span: Span, page: Option<&'a str>) -> ProviderFuture<'a, Page>;

    /// What the account's key was last not allowed to do, in the provider's words for permissions. One is
    /// gone from here as soon as a question that needs it is answered.
    fn missing_permissions(&self) -> Vec<String>;

    /// Tries again what the key was last not allowed to do, in ways that change nothing.
    fn try_missing(&self) -> ProviderFuture<'_, ()>;

    /// How something stands now. Nothing where it is not this project's.
    fn look<'a>(
        &'a self,
        subject: &'a ObjectRef,
        owners: &'a dyn Owners,
    ) -> ProviderFuture<'a, Vec<Report>>;

    /// The money that a payment took, as it stands now; `None`: it took none.
    fn charge<'a>(&'a self, payment: &'a PaymentId) -> ProviderFuture<'a, Option<Charge>>;

    /// One of the provider's lists: what was made from an instant on and before another, the newest first,
    /// a page at a time.
    fn book<'a>(
        &'a self,
        book: Book,
        from: Timestamp,
        until: Timestamp,
        page: Option<&'a str>,
    ) -> ProviderFuture<'a, BookPage>;

    /// Opens a page on which a buyer pays.
    fn open_checkout<'a>(
        &'a self,
        request: &'a CheckoutRequest<'a>,
    ) -> ProviderFuture<'a, OpenedCheckout>;

    /// Closes such a page, so that it cannot be paid any more.
    fn close_checkout<'a>(
        &'a self,
        checkout: &'a CheckoutId,
        order: OrderId,
    ) -> ProviderFuture<'a, ()>;

    /// Opens a page on which a customer sees bills, changes cards, switches tiers and cancels; its
    /// address.
    fn open_portal<'a>(&'a self, request: &'a PortalRequest<'a>) -> ProviderFuture<'a, String>;

    /// Subscriptions under a price of its own that are not over, whether or not they were begun here, a page
    /// at a time; where the next page begins.
    fn running<'a>(
        &'a self,
        price: &'a str,
        page: Option<&'a str>,
    ) -> ProviderFuture<'a, (Vec<RunningSubscription>, Option<String>)>;

    /// One of them.
    fn running_one<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
    ) -> ProviderFuture<'a, Option<RunningSubscription>>;

    /// Writes on such a subscription's price which of ours it is. The subscription is told as an order that
    /// was paid with nothing.
    fn adopt<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        reference: &'a Reference,
    ) -> ProviderFuture<'a, PaidOrder>;

    /// Writes on a subscription which order of ours it is known by.
    fn mark<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        order: OrderId,
    ) -> ProviderFuture<'a, ()>;

    /// Gives money back. What that does to credits follows from how the payment stands afterwards.
    fn refund<'a>(&'a self, request: &'a RefundRequest) -> ProviderFuture<'a, ()>;

    /// Ends a subscription, now or with its period. To be told so again changes nothing.
    fn cancel<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        at_period_end: bool,
        operation: &'a Operation,
    ) -> ProviderFuture<'a, ()>;

    /// Takes back that a subscription ends with its period, and that it is paused. To be told so again
    /// changes nothing.
    fn resume<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        operation: &'a Operation,
    ) -> ProviderFuture<'a, ()>;
}
