//! Requests to a provider.

#![expect(missing_docs, reason = "most fields and variants say what they are")]

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
    pub fn new(name: impl Into<Box<str>>) -> Option<Self> {
        let name = name.into();
        let fits = (1..=255).contains(&name.len());
        (fits && name.bytes().all(|byte| byte.is_ascii_graphic())).then_some(Self(name))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The order that a provider's object was created for, kept in the object's metadata: enough to place the order if it
/// is missing here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderReference {
    pub project: ProjectId,
    /// The order's id, which also names its wallet.
    pub order: OrderId,
    pub price: PriceId,
    /// The user whose wallet gets the credits; `None` for an anonymous wallet.
    pub user: Option<ExternalUserId>,
    pub quantity: Quantity,
}

/// The discount of a purchase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discount {
    None,
    BuyerMayEnter,
    Code(String),
}

/// A request for a checkout page.
#[derive(Debug, Clone)]
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
    /// Whether the page saves the card for payments without the buyer; only for a price that is paid once.
    pub save_card: bool,
    /// What the page asks for beside the payment: tax ids, addresses, terms of service.
    pub asks: CheckoutSettings,
}

/// A checkout page that the provider opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutPage {
    pub id: CheckoutId,
    pub url: String,
}

/// A request for a customer's portal page.
#[derive(Debug, Clone)]
pub struct PortalRequest<'a> {
    pub project: ProjectId,
    pub customer: CustomerId,
    /// The tiers that a subscription may be switched to, best first: a provider that limits their number drops the last
    /// ones.
    pub offered: Vec<(&'a Product, &'a Price)>,
    pub return_url: Option<&'a str>,
}

/// A request for a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    pub payment: PaymentId,
    pub order: Option<OrderId>,
    pub amount_cents: i64,
    /// The operation's name, kept in the refund's metadata: an existing refund with this name is not repeated, however
    /// old.
    pub operation: Operation,
}
