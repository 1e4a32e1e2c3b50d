//! What the API answers. Fields that a newer server adds are passed over, and what has a fixed set of
//! values today is a text, so that a new one breaks nobody.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Whom a key belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Identity {
    /// `proj_…`
    pub project_id: String,
    /// The project's name.
    pub project: String,
    /// `credit_codes` or `external_users`
    pub mode: String,
    /// `publishable` or `secret`
    pub key_kind: String,
}

/// A product with its active prices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Product {
    /// `prod_…`
    pub id: String,
    /// For people.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// `credits`, `subscription` or `one_time`
    #[serde(rename = "type")]
    pub kind: String,
    /// What its credits are called; `None` when it holds none.
    pub credit_unit: Option<String>,
    /// Credits that every wallet gets each period.
    pub free_grant: Option<FreeGrant>,
    /// Active ones.
    pub prices: Vec<Price>,
}

/// Credits that every wallet gets each period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FreeGrant {
    /// How many.
    pub credits: i64,
    /// `once`, `daily`, `weekly`, `monthly` or `yearly`
    pub period: String,
}

/// A price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Price {
    /// `price_…`
    pub id: String,
    /// The tier's name, for a subscription.
    pub label: Option<String>,
    /// In the currency's minor unit.
    pub amount_cents: i64,
    /// ISO 4217, upper case.
    pub currency: String,
    /// For a subscription tier: each cycle.
    pub credits_granted: i64,
    /// Features that it unlocks.
    pub features: Vec<String>,
    /// `one_time`, `month` or `year`
    pub interval: String,
    /// Days until the credits expire; `None`: never.
    pub credits_expire_after_days: Option<u32>,
    /// The product whose balance it fills, where that is not its own.
    pub credits_product_id: Option<String>,
    /// Whether a cycle's unused credits stay.
    #[serde(default)]
    pub rollover: bool,
    /// Days for which a subscription is free at first.
    pub trial_days: Option<u32>,
    /// Credits for those days.
    pub trial_credits: Option<i64>,
    /// Whether a wallet that has bought what it unlocks may buy it again.
    #[serde(default)]
    pub repeatable: bool,
}

/// A wallet as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WalletView {
    /// The recovery code, of an anonymous wallet. Whoever has it has the credits.
    pub code: Option<String>,
    /// `wal_…`, of an external wallet.
    pub wallet_id: Option<String>,
    /// Your own user, of an external wallet.
    pub external_user_id: Option<String>,
    /// A balance a product.
    pub balances: Vec<Balance>,
    /// Everything that is unlocked.
    pub features: Vec<String>,
    /// All that are not over.
    pub subscriptions: Vec<Subscription>,
}

impl WalletView {
    /// Credits of a product that can be spent now; 0 where it has none.
    #[must_use]
    pub fn balance(&self, product: &str) -> i64 {
        let of = self.balances.iter().find(|it| it.product_id == product);
        of.map_or(0, |it| it.balance)
    }
}

/// Credits of one product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Balance {
    /// Whose.
    pub product_id: String,
    /// What can be spent now.
    pub balance: i64,
    /// What they are called.
    pub credit_unit: Option<String>,
    /// What is set aside by open holds.
    #[serde(default)]
    pub held: i64,
    /// Which credits expire next.
    pub next_expiry: Option<NextExpiry>,
}

/// Credits that will expire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NextExpiry {
    /// How many.
    pub amount: i64,
    /// When.
    pub at: Timestamp,
}

/// A subscription of a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Subscription {
    /// `prod_…`
    pub product_id: String,
    /// `price_…`
    pub price_id: String,
    /// The tier's name.
    pub label: Option<String>,
    /// `active`, `past_due` or `paused`; `canceled` as the answer to a cancellation.
    pub status: String,
    /// When what is paid for ends.
    pub current_period_end: Timestamp,
    /// Whether it ends with that.
    #[serde(default)]
    pub cancel_at_period_end: bool,
    /// The bill that waits for the buyer, where one does.
    pub open_invoice: Option<OpenInvoice>,
    /// Whether nothing is collected for it for the time being, though it keeps its features.
    #[serde(default)]
    pub collection_paused: bool,
}

/// A bill of a subscription that waits for the buyer, whose card was declined or whose bank asks them to
/// confirm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenInvoice {
    /// What is left to pay, in the currency's minor unit.
    pub amount_cents: i64,
    /// ISO 4217, in capitals.
    pub currency: String,
    /// The provider's page on which the buyer pays it.
    pub url: String,
    /// When the provider tries again by itself.
    pub next_attempt_at: Option<Timestamp>,
}

/// One change of a balance. It never changes itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LedgerEntry {
    /// `led_…`
    pub id: String,
    /// Credits added (positive) or removed (negative).
    pub delta: i64,
    /// `purchase`, `deduction`, `free_grant`, `manual`, `refund` or `expiry`
    pub reason: String,
    /// Whose credits.
    pub product_id: String,
    /// What they are called.
    pub credit_unit: Option<String>,
    /// The sum of all deltas of this product up to and with this one.
    pub balance_after: i64,
    /// When.
    pub created_at: Timestamp,
    /// The order behind it.
    pub order_id: Option<String>,
    /// The key that the caller gave.
    pub idempotency_key: Option<String>,
    /// The caller's note.
    pub meta: Option<Map<String, Value>>,
    /// When the granted credits expire.
    pub expires_at: Option<Timestamp>,
}

/// What a deduction or a settled hold did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Deducted {
    /// What can be spent now.
    pub balance: i64,
    /// Whether this call took the credits: `false` when an earlier one with the same key did.
    pub deducted: bool,
}

/// What a grant did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Credited {
    /// What can be spent now.
    pub balance: i64,
    /// Whether this call gave the credits: `false` when an earlier one with the same key did.
    pub credited: bool,
}

/// A hold that was placed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlacedHold {
    /// `hold_…`
    pub hold_id: String,
    /// What can be spent now, without it.
    pub balance: i64,
    /// Credits set aside.
    pub amount: i64,
    /// When it gives them back by itself.
    pub expires_at: Timestamp,
}

/// How a hold stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Hold {
    /// `hold_…`
    pub hold_id: String,
    /// Whose credits.
    pub product_id: String,
    /// Credits set aside when it was placed.
    pub amount: i64,
    /// `open`, `settled`, `released` or `expired`
    pub status: String,
    /// Credits deducted when it was settled, else 0.
    pub settled_amount: i64,
    /// When it gives them back by itself, or did.
    pub expires_at: Timestamp,
}

/// Where a buyer pays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Checkout {
    /// Send the buyer there.
    pub url: String,
    /// The provider's `cs_…`.
    pub checkout_id: String,
    /// `ord_…`
    pub order_id: String,
}

/// A checkout, a subscription's renewal or its switch to another tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Order {
    /// `ord_…`
    pub id: String,
    /// `pending`, `paid`, `failed`, `refunded` or `expired`
    pub status: String,
    /// Whether the buyer is done and the money is on its way.
    #[serde(default)]
    pub processing: bool,
    /// `checkout`, `renewal` or `switch`
    pub kind: String,
    /// The code of the anonymous wallet that it fills.
    pub code: Option<String>,
    /// What that wallet can spend now of what was bought.
    pub balance: i64,
    /// What was charged once it is paid, the price before; in the currency's minor unit.
    pub amount_cents: i64,
    /// ISO 4217, upper case.
    pub currency: String,
    /// What went back to the buyer, likewise.
    pub refunded_cents: i64,
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// The provider's session.
    pub checkout_id: Option<String>,
    /// `price_…`
    pub price_id: String,
    /// `prod_…`
    pub product_id: String,
    /// Your own user, of an external wallet.
    pub external_user_id: Option<String>,
    /// `wal_…`
    pub wallet_id: Option<String>,
    /// How many were bought.
    pub quantity: u32,
    /// What the checkout was given to remember.
    pub metadata: BTreeMap<String, String>,
    /// The provider's page about the payment.
    pub receipt_url: Option<String>,
    /// The provider's page about the invoice.
    pub invoice_url: Option<String>,
    /// How it was paid; with a secret key.
    pub payment: Option<Payment>,
    /// The buyer's address; with a secret key.
    pub customer_email: Option<String>,
}

impl Order {
    /// Whether there is nothing to wait for any more.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.status != "pending" && !self.processing
    }
}

/// The provider's names for what belongs to an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Payment {
    /// `sandbox` or `stripe`
    pub provider: String,
    /// Whether it was real money.
    pub livemode: bool,
    /// Of the money.
    pub payment_id: Option<String>,
    /// Of the bill.
    pub invoice_id: Option<String>,
    /// Of what recurs.
    pub subscription_id: Option<String>,
    /// Of who paid.
    pub customer_id: Option<String>,
}

/// Something that happened, as a webhook tells it too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// `evt_…`, the same however often it is told. What comes by a webhook has it in its header.
    #[serde(default)]
    pub id: String,
    /// `order.paid`, `wallet.balance_low`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// When it happened.
    pub timestamp: Timestamp,
    /// When it was recorded: later where a wallet was not touched for long. `None` from an older server.
    #[serde(rename = "recordedAt", default)]
    pub recorded_at: Option<Timestamp>,
    /// What belongs to its kind.
    pub data: Value,
}

/// What was used in a stretch of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Bucket {
    /// Its first instant, UTC.
    pub start: Timestamp,
    /// Credits bought, given by hand and for free.
    pub granted: i64,
    /// Credits used.
    pub deducted: i64,
    /// Credits taken for refunds and disputes, less what was given back.
    pub refunded: i64,
    /// Credits that expired.
    pub expired: i64,
    /// How often credits were used.
    pub deductions: i64,
    /// What they were used for, where that was asked for.
    pub features: Option<Vec<FeatureUse>>,
}

/// Credits that went into one feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FeatureUse {
    /// `meta.feature`; `None` where there was none.
    pub feature: Option<String>,
    /// Credits used.
    pub credits: i64,
    /// How often.
    pub deductions: i64,
}
