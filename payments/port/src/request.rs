//! What a provider is asked to do.

use domain::{
    Quantity,
    catalog::{CheckoutSettings, Price, Product},
    id::{OrderId, PriceId, ProjectId},
    text::{CheckoutId, CustomerId, Email, ExternalUserId, PaymentId},
};

/// Names something that is done at most once, however often it is asked for: 1 to 255 visible ASCII
/// characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operation(Box<str>);

impl Operation {
    /// Checks the bounds; `None` where they are broken.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>) -> Option<Self> {
        let name = name.into();
        let fits = (1..=255).contains(&name.len());
        (fits && name.bytes().all(|byte| byte.is_ascii_graphic())).then_some(Self(name))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The order that something at the provider was made for: enough to place it here should it never have
/// been. The provider keeps it and hands it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Whose.
    pub project: ProjectId,
    /// Which.
    pub order: OrderId,
    /// What is bought.
    pub price: PriceId,
    /// Whose wallet is filled, where it is a user's.
    pub user: Option<ExternalUserId>,
    /// How many are bought.
    pub quantity: Quantity,
}

/// What makes a purchase cheaper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discount {
    /// Nothing.
    None,
    /// The buyer may enter a code.
    BuyerMayEnter,
    /// This code of the provider's.
    Code(String),
}

/// A page on which a buyer pays.
#[derive(Debug, Clone)]
pub struct CheckoutRequest<'a> {
    /// What it is for.
    pub reference: Reference,
    /// What is sold.
    pub product: &'a Product,
    /// At which price.
    pub price: &'a Price,
    /// The buyer, where the provider knows them.
    pub customer: Option<CustomerId>,
    /// The buyer's address, to fill in.
    pub email: Option<&'a Email>,
    /// What makes it cheaper.
    pub discount: &'a Discount,
    /// Where the buyer goes after paying.
    pub success_url: &'a str,
    /// Where the buyer goes instead.
    pub cancel_url: &'a str,
    /// The language of the page.
    pub locale: Option<&'a str>,
    /// What it asks for beside the money.
    pub asks: CheckoutSettings,
}

/// Such a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedCheckout {
    /// The provider's name for it.
    pub checkout: CheckoutId,
    /// Where to send the buyer.
    pub url: String,
}

/// A page for a customer.
#[derive(Debug, Clone)]
pub struct PortalRequest<'a> {
    /// Whose project.
    pub project: ProjectId,
    /// Whose page.
    pub customer: CustomerId,
    /// Between which tiers subscriptions may be switched, the most wanted first: a provider that
    /// offers only so many leaves out the last ones.
    pub offered: Vec<(&'a Product, &'a Price)>,
    /// Where the customer goes afterwards.
    pub return_url: Option<&'a str>,
}

/// Money to give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    /// Of which payment.
    pub payment: PaymentId,
    /// How much, in the currency's minor unit.
    pub amount_cents: i64,
    /// What it is called: it is kept with the refund, and what is there under this name is not done again,
    /// however long ago it was.
    pub operation: Operation,
}
