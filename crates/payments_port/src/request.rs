//! Requests to a provider.

use domain::{
    Quantity,
    catalog::{CheckoutSettings, Price, Product},
    id::{OrderId, PriceId, ProjectId},
    text::{CheckoutId, CustomerId, Email, ExternalUserId, PaymentId},
};

/// An idempotency key for the provider: its operation is done at most once. 1 to 255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operation(Box<str>);

impl Operation {
    /// `None` if length or characters do not fit.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>) -> Option<Self> {
        let name = name.into();
        let fits = (1..=255).contains(&name.len());
        (fits && name.bytes().all(|byte| byte.is_ascii_graphic())).then_some(Self(name))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The order that a provider's object was created for, kept in the object's metadata: enough to place the order if it
/// is missing here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderReference {
    /// The project that sells it.
    pub project: ProjectId,
    /// The order's id, which also names its wallet.
    pub order: OrderId,
    /// The price that is bought.
    pub price: PriceId,
    /// The user whose wallet gets the credits; `None` for an anonymous wallet.
    pub user: Option<ExternalUserId>,
    /// How many of the price are bought.
    pub quantity: Quantity,
}

/// The discount of a purchase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discount {
    /// No discount, and no field to enter a code.
    None,
    /// The buyer may enter a promotion code on the page.
    BuyerMayEnter,
    /// This promotion code of the provider's is applied.
    Code(String),
}

/// A request for a checkout page.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct CheckoutRequest<'a> {
    pub reference: OrderReference,
    pub product: &'a Product,
    pub price: &'a Price,
    /// The provider's customer, if the buyer is one.
    pub customer: Option<CustomerId>,
    /// The buyer's email address, to prefill.
    pub email: Option<&'a Email>,
    pub discount: &'a Discount,
    pub success_url: &'a str,
    pub cancel_url: &'a str,
    pub locale: Option<&'a str>,
    /// What the page asks for beside the payment: tax ids, addresses, terms of service.
    pub asks: CheckoutSettings,
}

/// A checkout page that the provider opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutPage {
    /// The provider's id of the page.
    pub id: CheckoutId,
    /// Where to send the buyer.
    pub url: String,
}

/// A request for a customer's portal page.
#[derive(Debug, Clone)]
pub struct PortalRequest<'a> {
    /// The project whose prices are offered.
    pub project: ProjectId,
    /// The provider's customer whose invoices and subscriptions the page shows.
    pub customer: CustomerId,
    /// The tiers that a subscription may be switched to, best first: a provider that limits their number drops the last
    /// ones.
    pub offered: Vec<(&'a Product, &'a Price)>,
    /// Where the customer goes afterwards.
    pub return_url: Option<&'a str>,
}

/// A request for a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    /// The payment to refund.
    pub payment: PaymentId,
    /// The order, kept in the refund's metadata; `None` for a payment without one.
    pub order: Option<OrderId>,
    /// The amount to refund, in the currency's minor unit.
    pub amount_cents: i64,
    /// The operation's name, kept in the refund's metadata: an existing refund with this name is not repeated, however
    /// old.
    pub operation: Operation,
}
