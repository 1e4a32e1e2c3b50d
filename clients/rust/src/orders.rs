//! Checkout, orders and subscriptions.

use crate::{call::Call, client::Scrip, error::Error, pages::Pages, wallets::Wallet};
use api_types::{Checkout, Order, Subscription};
use serde::Serialize;
use std::{collections::BTreeMap, time::Duration};

/// Pause between two reads of an order that is waited for: at first, and at most.
const LOOKS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// A checkout to be opened. Everything except the price is optional.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewCheckout {
    /// The price to buy, `price_…`.
    pub price_id: String,
    /// Where the buyer is sent after paying; a page of Scrip's by default.
    pub success_url: Option<String>,
    /// Where the buyer is sent when they leave without paying.
    pub cancel_url: Option<String>,
    /// The buyer's e-mail address, prefilled on the provider's page.
    pub customer_email: Option<String>,
    /// Whether the buyer may enter a promotion code.
    pub allow_promotion_codes: Option<bool>,
    /// A promotion code to apply.
    pub discount_code: Option<String>,
    /// At most 20 pairs, returned on the order and in events.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The language of the provider's page.
    pub locale: Option<String>,
    /// The quantity of a one-time price; 1 to 1,000.
    pub quantity: Option<u32>,
    /// Whether the page saves the card for an automatic top-up; for a user's wallet only.
    pub save_card: Option<bool>,
    /// The idempotency key: for a day a repeat with it returns the same checkout. A new one is used by default.
    pub idempotency_key: Option<String>,
}

/// A refund to be made.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refund {
    /// The amount in the currency's minor unit; all that can still be refunded by default.
    pub amount_cents: Option<u64>,
    /// The idempotency key: with the same key it is refunded once. A new one is used by default.
    pub idempotency_key: Option<String>,
}

/// How a wallet's subscription is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum NamedSubscription {
    /// The one to this product, `prod_…`, that goes on.
    #[serde(rename = "productId")]
    Of(String),
    /// The one with this id, `sub_…`: of several to one product only this names one.
    #[serde(rename = "subscriptionId")]
    Id(String),
}

/// The id of a product.
impl From<String> for NamedSubscription {
    fn from(product: String) -> Self {
        Self::Of(product)
    }
}

/// The id of a product.
impl From<&String> for NamedSubscription {
    fn from(product: &String) -> Self {
        Self::Of(product.clone())
    }
}

/// The id of a product.
impl From<&str> for NamedSubscription {
    fn from(product: &str) -> Self {
        Self::Of(product.to_owned())
    }
}

/// A subscription to be canceled.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// Which subscription of the wallet.
    #[serde(flatten)]
    pub named: NamedSubscription,
    /// Whether it ends with the paid period, or at once.
    pub at_period_end: bool,
    /// The idempotency key. A new one is used by default.
    pub idempotency_key: Option<String>,
}

impl NewCheckout {
    /// A checkout for one price.
    pub fn new(price: impl Into<String>) -> Self {
        Self {
            price_id: price.into(),
            ..Self::default()
        }
    }
}

impl Cancel {
    /// Cancels at the end of the paid period.
    pub fn at_period_end(named: impl Into<NamedSubscription>) -> Self {
        Self {
            named: named.into(),
            at_period_end: true,
            idempotency_key: None,
        }
    }

    /// Cancels at once, before the paid period ends.
    pub fn now(named: impl Into<NamedSubscription>) -> Self {
        Self {
            at_period_end: false,
            ..Self::at_period_end(named)
        }
    }
}

impl Scrip {
    /// Opens a checkout: send the buyer to its `url`. Without a wallet the payment creates an anonymous one,
    /// whose recovery code is on the order.
    /// # Errors
    /// `price_not_found`, `already_subscribed`, `currency_mismatch`, `invalid_discount_code`,
    /// `redirect_not_allowed`, `provider_not_configured`, `provider_error`, `too_many_pending_orders`, and
    /// the errors of any call.
    pub async fn checkout(
        &self,
        wallet: Option<&Wallet>,
        checkout: NewCheckout,
    ) -> Result<Checkout, Error> {
        let mut call = Call::post(["checkout"]).body(&checkout)?;
        if let Some(wallet) = wallet {
            call = call.of(wallet);
        }
        self.call(call.keyed()).await
    }

    /// Reads an order, by its own id or its checkout's.
    /// # Errors
    /// `order_not_found`, and the errors of any call.
    pub async fn order(&self, order_or_checkout: &str) -> Result<Order, Error> {
        self.call(Call::get(["orders", order_or_checkout])).await
    }

    /// Reads an order repeatedly until its payment has succeeded or failed, or `timeout` is over; returns it
    /// as it was last read.
    /// # Errors
    /// The errors of [`Scrip::order`].
    pub async fn wait_for_order(
        &self,
        order_or_checkout: &str,
        timeout: Duration,
    ) -> Result<Order, Error> {
        let begun = tokio::time::Instant::now();
        let (mut pause, most) = LOOKS;
        loop {
            let order = self.order(order_or_checkout).await?;
            let left = timeout.saturating_sub(begun.elapsed());
            if order.is_settled() || left.is_zero() {
                return Ok(order);
            }
            tokio::time::sleep(pause.min(left)).await;
            pause = pause.saturating_mul(2).min(most);
        }
    }

    /// The project's orders, newest first. Needs a secret key.
    #[must_use]
    pub fn orders(&self) -> Pages<Order> {
        let call = Call::get(["orders"]).query("limit", Some(100));
        Pages::new(self, call, "cursor")
    }

    /// Has the provider refund an order; credits are taken back in proportion.
    /// # Errors
    /// `order_not_found`, `already_refunded`, `provider_error`, `idempotency_key_reused`, and the errors of any
    /// call.
    pub async fn refund(&self, order: &str, refund: Refund) -> Result<Order, Error> {
        let call = Call::post(["orders", order, "refund"]).body(&refund)?;
        self.call(call.keyed()).await
    }

    /// Cancels a wallet's subscription.
    /// # Errors
    /// `subscription_not_found`, `subscription_ambiguous`, `wallet_not_found`, `provider_error`, and the errors of any call.
    pub async fn cancel_subscription(
        &self,
        wallet: &Wallet,
        cancel: Cancel,
    ) -> Result<Subscription, Error> {
        let call = Call::post(["subscriptions", "cancel"]).of(wallet);
        self.call(call.body(&cancel)?.keyed()).await
    }

    /// Takes back a cancellation at the end of the period.
    /// # Errors
    /// The errors of [`Scrip::cancel_subscription`].
    pub async fn resume_subscription(
        &self,
        wallet: &Wallet,
        named: impl Into<NamedSubscription>,
        idempotency_key: Option<String>,
    ) -> Result<Subscription, Error> {
        let mut call = Call::post(["subscriptions", "resume"]).of(wallet);
        if let Some(key) = idempotency_key {
            call = call.with("idempotencyKey", key);
        }
        self.call(call.body(&named.into())?.keyed()).await
    }
}
