//! Checkout, orders and subscriptions.

use crate::{
    call::{Call, key_or_new},
    client::Scrip,
    credits::object,
    error::Error,
    pages::Pages,
    types::{Checkout, Order, Subscription},
    wallets::Wallet,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, time::Duration};

/// How long between two looks at an order that is waited for, at first and at most.
const LOOKS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// What a buyer is sent to pay for. Everything but the price may be left out.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewCheckout {
    /// `price_…`
    pub price_id: String,
    /// Where the buyer goes once it is paid; a page of Scrip's own by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_url: Option<String>,
    /// Where the buyer goes without paying.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_url: Option<String>,
    /// Filled in on the provider's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer_email: Option<String>,
    /// Whether the buyer may type a promotion code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_promotion_codes: Option<bool>,
    /// A promotion code that is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount_code: Option<String>,
    /// At most 20 pairs, returned on the order and in events.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The language of the provider's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// How many, of what is paid once; 1 to 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<u32>,
}

/// Money to give back.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refund {
    /// How much, in the currency's minor unit; all that is left by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_cents: Option<u64>,
    /// What it belongs to: with the same key it goes back once. One is made up by default.
    pub idempotency_key: Option<String>,
}

/// A subscription to end.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// Of which product.
    pub product_id: String,
    /// Whether with the period that is paid for, or at once.
    pub at_period_end: bool,
    /// What it belongs to. One is made up by default.
    pub idempotency_key: Option<String>,
}

impl NewCheckout {
    /// Of one price.
    pub fn new(price: impl Into<String>) -> Self {
        Self {
            price_id: price.into(),
            ..Self::default()
        }
    }
}

impl Cancel {
    /// At the end of the period that is paid for.
    pub fn at_period_end(product: impl Into<String>) -> Self {
        Self {
            product_id: product.into(),
            at_period_end: true,
            idempotency_key: None,
        }
    }

    /// At once.
    pub fn now(product: impl Into<String>) -> Self {
        Self {
            at_period_end: false,
            ..Self::at_period_end(product)
        }
    }
}

impl Scrip {
    /// Opens a checkout: send the buyer to its address. Without a wallet the payment makes an anonymous
    /// one, whose code is on the order.
    ///
    /// # Errors
    ///
    /// `price_not_found`, `already_subscribed`, `currency_mismatch`, `invalid_discount_code`,
    /// `redirect_not_allowed`, `provider_not_configured`, `provider_error`, `too_many_pending_orders`, and
    /// what any call may answer.
    pub async fn checkout(
        &self,
        wallet: Option<&Wallet>,
        checkout: NewCheckout,
    ) -> Result<Checkout, Error> {
        let mut body = object(&checkout)?;
        if let Some(wallet) = wallet {
            wallet.write(&mut body);
        }
        self.call(Call::post(["checkout"]).body(&body)?).await
    }

    /// An order, by its own id or its checkout's.
    ///
    /// # Errors
    ///
    /// `order_not_found`, and what any call may answer.
    pub async fn order(&self, order_or_checkout: &str) -> Result<Order, Error> {
        self.call(Call::get(["orders", order_or_checkout])).await
    }

    /// Looks at an order until its money has come or will not come, or `patience` is over: the order as
    /// it stood at last.
    ///
    /// # Errors
    ///
    /// As [`Scrip::order`].
    pub async fn wait_for_order(
        &self,
        order_or_checkout: &str,
        patience: Duration,
    ) -> Result<Order, Error> {
        let begun = tokio::time::Instant::now();
        let (mut pause, most) = LOOKS;
        loop {
            let order = self.order(order_or_checkout).await?;
            let left = patience.saturating_sub(begun.elapsed());
            if order.is_settled() || left.is_zero() {
                return Ok(order);
            }
            tokio::time::sleep(pause.min(left)).await;
            pause = pause.saturating_mul(2).min(most);
        }
    }

    /// The project's orders, the newest first. Needs a secret key.
    #[must_use]
    pub fn orders(&self) -> Pages<Order> {
        let call = Call::get(["orders"]).query("limit", Some(100));
        Pages::new(self, call, "cursor")
    }

    /// Has the provider give money back; credits go as it goes.
    ///
    /// # Errors
    ///
    /// `order_not_found`, `already_refunded`, `provider_error`, `idempotency_key_reused`, and what any
    /// call may answer.
    pub async fn refund(&self, order: &str, mut refund: Refund) -> Result<Order, Error> {
        let key = key_or_new(refund.idempotency_key.take());
        refund.idempotency_key = Some(key.clone());
        let call = Call::post(["orders", order, "refund"]).body(&refund)?;
        self.call(call.keyed(&key)).await
    }

    /// Ends a wallet's subscription.
    ///
    /// # Errors
    ///
    /// `subscription_not_found`, `wallet_not_found`, `provider_error`, and what any call may answer.
    pub async fn cancel_subscription(
        &self,
        wallet: &Wallet,
        mut cancel: Cancel,
    ) -> Result<Subscription, Error> {
        let key = key_or_new(cancel.idempotency_key.take());
        cancel.idempotency_key = Some(key.clone());
        let body = object(&cancel)?;
        self.subscription("cancel", wallet, body, &key).await
    }

    /// Takes back an end that was to come with the period.
    ///
    /// # Errors
    ///
    /// As [`Scrip::cancel_subscription`].
    pub async fn resume_subscription(
        &self,
        wallet: &Wallet,
        product: impl Into<String>,
        idempotency_key: Option<String>,
    ) -> Result<Subscription, Error> {
        let key = key_or_new(idempotency_key);
        let body = object(&json!({"productId": product.into(), "idempotencyKey": key}))?;
        self.subscription("resume", wallet, body, &key).await
    }

    async fn subscription(
        &self,
        verb: &str,
        wallet: &Wallet,
        mut body: Map<String, Value>,
        key: &str,
    ) -> Result<Subscription, Error> {
        wallet.write(&mut body);
        let call = Call::post(["subscriptions", verb]).body(&body)?;
        self.call(call.keyed(key)).await
    }
}
