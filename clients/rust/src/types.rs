//! The API's responses. Fields that a newer server adds are ignored, and a field with a fixed set of values is
//! a text, so that a new value breaks no program.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The project and kind of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Identity {
    /// The project's id, `proj_…`.
    pub project_id: String,
    /// The project's name.
    pub project: String,
    /// How wallets are addressed: `credit_codes` or `external_users`.
    pub mode: String,
    /// The kind of key: `publishable`, `secret` or `session`.
    pub key_kind: String,
    /// The key's id, `key_…`; `None` with a session.
    pub key_id: Option<String>,
    /// The session, where it is one.
    pub session: Option<OwnSession>,
}

/// What a session says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OwnSession {
    /// Your own id of the user; `None` where a recovery code opens the wallet.
    pub external_user_id: Option<String>,
    /// What it may do.
    pub can: Vec<String>,
    /// When it ends.
    pub expires_at: String,
}

/// A session that was started.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Session {
    /// The token, `pay_ws_…`, for the browser of the wallet's owner. A secret.
    pub token: String,
    /// When it ends.
    pub expires_at: String,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// A product with its active prices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Product {
    /// The product's id, `prod_…`.
    pub id: String,
    /// The name, for people.
    pub name: String,
    /// The description, for people.
    pub description: Option<String>,
    /// The type: `credits`, `subscription` or `one_time`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The unit of its credits, as a plural; `None` if it holds none.
    pub credit_unit: Option<String>,
    /// Credits that every wallet gets each period.
    pub free_grant: Option<FreeGrant>,
    /// Its active prices.
    pub prices: Vec<Price>,
}

/// Credits that every wallet gets each period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FreeGrant {
    /// Credits per period.
    pub credits: i64,
    /// The period: `once`, `daily`, `weekly`, `monthly` or `yearly`.
    pub period: String,
}

/// A price of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Price {
    /// The price's id, `price_…`.
    pub id: String,
    /// The tier's name, for a subscription.
    pub label: Option<String>,
    /// The amount in the currency's minor unit.
    pub amount_cents: i64,
    /// The currency as in ISO 4217, upper case.
    pub currency: String,
    /// Credits granted per purchase, or per cycle of a subscription.
    pub credits_granted: i64,
    /// Features that it unlocks.
    pub features: Vec<String>,
    /// How often it is paid: `one_time`, `month` or `year`.
    pub interval: String,
    /// Days until the credits expire; `None`: never.
    pub credits_expire_after_days: Option<u32>,
    /// The product whose balance it fills, where that is another one.
    pub credits_product_id: Option<String>,
    /// Whether a cycle's unused credits roll over.
    #[serde(default)]
    pub rollover: bool,
    /// Free days at the start of a subscription.
    pub trial_days: Option<u32>,
    /// Credits granted for the free days.
    pub trial_credits: Option<i64>,
    /// Whether a wallet that has bought what it unlocks may buy it again.
    #[serde(default)]
    pub repeatable: bool,
}

/// A wallet in its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WalletView {
    /// The recovery code of an anonymous wallet. Anyone who has it can spend the credits.
    pub code: Option<String>,
    /// The id of an external wallet, `wal_…`.
    pub wallet_id: Option<String>,
    /// Your own user's id, for an external wallet.
    pub external_user_id: Option<String>,
    /// Balances, one per product.
    pub balances: Vec<Balance>,
    /// All unlocked features.
    pub features: Vec<String>,
    /// Subscriptions that have not ended.
    pub subscriptions: Vec<Subscription>,
    /// Whether its credits cannot be used for now.
    #[serde(default)]
    pub frozen: bool,
    /// Since when it is frozen; to secret keys only.
    pub frozen_at: Option<Timestamp>,
    /// Why it is frozen, if a reason was given; to secret keys only.
    pub frozen_reason: Option<String>,
}

impl WalletView {
    /// Credits of a product that can be spent now; 0 if it has none.
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
    /// The product of the credits.
    pub product_id: String,
    /// Credits that can be spent now.
    pub balance: i64,
    /// The unit of the credits, as a plural.
    pub credit_unit: Option<String>,
    /// Credits that open holds have set aside.
    #[serde(default)]
    pub held: i64,
    /// Credits that are owed: new credits pay them first.
    #[serde(default)]
    pub owed: i64,
    /// The credits that expire next.
    pub next_expiry: Option<NextExpiry>,
}

/// Credits that will expire, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NextExpiry {
    /// The number of credits.
    pub amount: i64,
    /// When they expire.
    pub at: Timestamp,
}

/// A subscription of a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Subscription {
    /// The subscription's id, `sub_…`; empty where the service is older than it.
    #[serde(default)]
    pub id: String,
    /// The subscription's product, `prod_…`.
    pub product_id: String,
    /// The price of its tier, `price_…`.
    pub price_id: String,
    /// The tier's name.
    pub label: Option<String>,
    /// `active`, `past_due` or `paused`; `canceled` in the response to a cancellation.
    pub status: String,
    /// When the paid period ends.
    pub current_period_end: Timestamp,
    /// Whether the subscription ends with it.
    #[serde(default)]
    pub cancel_at_period_end: bool,
    /// The open invoice that waits for the buyer, if any.
    pub open_invoice: Option<OpenInvoice>,
    /// Whether payment collection is paused; it keeps its features.
    #[serde(default)]
    pub collection_paused: bool,
}

/// An open invoice of a subscription, whose buyer has to act: the card was declined, or the bank asks for a
/// confirmation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenInvoice {
    /// The amount due, in the currency's minor unit.
    pub amount_cents: i64,
    /// The currency as in ISO 4217, upper case.
    pub currency: String,
    /// The provider's page on which the buyer pays it.
    pub url: String,
    /// When the provider tries the payment again by itself.
    pub next_attempt_at: Option<Timestamp>,
}

/// One change of a balance. It is never modified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LedgerEntry {
    /// The entry's id, `led_…`.
    pub id: String,
    /// Credits added (positive) or removed (negative).
    pub delta: i64,
    /// `purchase`, `deduction`, `free_grant`, `manual`, `refund`, `expiry`, `reversal` or `forgiveness`.
    pub reason: String,
    /// The product of the credits.
    pub product_id: String,
    /// The unit of the credits, as a plural.
    pub credit_unit: Option<String>,
    /// The sum of all deltas of this product up to and including this entry.
    pub balance_after: i64,
    /// When the change was made.
    pub created_at: Timestamp,
    /// The order that caused it, `ord_…`.
    pub order_id: Option<String>,
    /// The caller's idempotency key.
    pub idempotency_key: Option<String>,
    /// The caller's note.
    pub meta: Option<Map<String, Value>>,
    /// When the granted credits expire.
    pub expires_at: Option<Timestamp>,
    /// The deduction whose credits were given back, `led_…`.
    pub reverses: Option<String>,
}

/// The result of a deduction or of settling a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Deducted {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether this call deducted the credits; `false` when an earlier one with the same key did.
    pub deducted: bool,
    /// Credits charged, those drawn before included. With the next two it adds up to the amount; all three are there
    /// where the call names what to do with a shortfall.
    pub charged: Option<i64>,
    /// Credits that are owed for it.
    pub owed: Option<i64>,
    /// Credits that could neither be charged nor owed.
    pub uncovered: Option<i64>,
    /// Whether the hold had expired, and this was done as a deduction under its key.
    #[serde(default)]
    pub late: bool,
}

/// The result of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DrawnHold {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether this call charged the credits; `false` when an earlier one with the same key did.
    pub deducted: bool,
    /// Credits drawn from the hold so far.
    pub drawn: i64,
    /// Credits that the hold still sets aside.
    pub held: i64,
}

/// What a wallet owes, and may come to owe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DebtState {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Credits that are owed.
    pub owed: i64,
    /// The limit in force.
    pub debt_limit: i64,
    /// How much more may come to be owed.
    pub credit_available: i64,
}

/// The result of forgiving a debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forgiven {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Credits that are still owed.
    pub owed: i64,
    /// Whether this call forgave them; `false` when an earlier one did, or nothing was owed.
    pub forgiven: bool,
    /// Credits that were forgiven, by this call or the earlier one.
    pub amount: i64,
}

/// Whether a wallet is frozen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FrozenWallet {
    /// The wallet's identifier, `wal_…`.
    pub wallet_id: String,
    /// Whether it is frozen.
    pub frozen: bool,
    /// When it was frozen, if it is.
    pub frozen_at: Option<Timestamp>,
    /// Why, if a reason was given.
    pub frozen_reason: Option<String>,
}

/// The result of reversing a deduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reversed {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether this call gave them back; `false` when an earlier one did.
    pub reversed: bool,
    /// Credits that were given back, by this call or the earlier one.
    pub amount: i64,
}

/// The result of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Credited {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether this call granted the credits; `false` when an earlier one with the same key did.
    pub credited: bool,
}

/// A hold that was placed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlacedHold {
    /// The hold's id, `hold_…`.
    pub hold_id: String,
    /// Credits that can be spent now, those held excluded.
    pub balance: i64,
    /// Credits set aside.
    pub amount: i64,
    /// When it expires and its credits are returned.
    pub expires_at: Timestamp,
    /// Its state: `open`, unless a hold that ended was asked for again by its key.
    pub status: String,
}

/// A hold in its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Hold {
    /// The hold's id, `hold_…`.
    pub hold_id: String,
    /// The product of the credits.
    pub product_id: String,
    /// Credits set aside when it was placed.
    pub amount: i64,
    /// `open`, `settled`, `released` or `expired`
    pub status: String,
    /// Credits that were deducted when it was settled, owed and drawn ones included; 0 otherwise.
    pub settled_amount: i64,
    /// When it expires and its credits are returned, or when it expired.
    pub expires_at: Timestamp,
    /// Credits drawn from it while it was open.
    #[serde(default)]
    pub drawn: i64,
    /// How much the work may come to owe.
    #[serde(default)]
    pub max_overrun: i64,
    /// What of the settlement is owed.
    #[serde(default)]
    pub owed: i64,
    /// What of the cost the settlement could not take.
    #[serde(default)]
    pub uncovered: i64,
}

/// An open checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Checkout {
    /// The page on which the buyer pays.
    pub url: String,
    /// The provider's id of the checkout, `cs_…`.
    pub checkout_id: String,
    /// The order's id, `ord_…`.
    pub order_id: String,
}

/// An order: a checkout, a renewal of a subscription, or its switch to another tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Order {
    /// The order's id, `ord_…`.
    pub id: String,
    /// `pending`, `paid`, `failed`, `refunded` or `expired`
    pub status: String,
    /// Whether the buyer is done and the payment is processing.
    #[serde(default)]
    pub processing: bool,
    /// The kind: `checkout`, `renewal` or `switch`.
    pub kind: String,
    /// The recovery code of the anonymous wallet that it fills.
    pub code: Option<String>,
    /// The wallet's spendable balance of the product that was bought.
    pub balance: i64,
    /// The amount in the currency's minor unit: what was charged, or the price before it is paid.
    pub amount_cents: i64,
    /// The currency as in ISO 4217, upper case.
    pub currency: String,
    /// The amount returned to the buyer, in the currency's minor unit.
    pub refunded_cents: i64,
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// The provider's id of the checkout, `cs_…`.
    pub checkout_id: Option<String>,
    /// The price's id, `price_…`.
    pub price_id: String,
    /// The product's id, `prod_…`.
    pub product_id: String,
    /// Your own user's id, for an external wallet.
    pub external_user_id: Option<String>,
    /// The wallet's id, `wal_…`.
    pub wallet_id: Option<String>,
    /// The quantity that was bought.
    pub quantity: u32,
    /// The metadata of the checkout.
    pub metadata: BTreeMap<String, String>,
    /// The provider's page about the payment.
    pub receipt_url: Option<String>,
    /// The provider's page about the invoice.
    pub invoice_url: Option<String>,
    /// The provider's ids; only with a secret key.
    pub payment: Option<Payment>,
    /// The buyer's e-mail address; only with a secret key.
    pub customer_email: Option<String>,
}

impl Order {
    /// Whether it is neither pending nor processing, so that there is nothing to wait for.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.status != "pending" && !self.processing
    }
}

/// The provider's ids of what belongs to an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Payment {
    /// The provider: `sandbox` or `stripe`.
    pub provider: String,
    /// Whether it was real money.
    pub livemode: bool,
    /// The payment's id.
    pub payment_id: Option<String>,
    /// The invoice's id.
    pub invoice_id: Option<String>,
    /// The subscription's id.
    pub subscription_id: Option<String>,
    /// The customer's id.
    pub customer_id: Option<String>,
}

/// Usage within one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Bucket {
    /// The begin of the interval, in UTC.
    pub start: Timestamp,
    /// Credits granted: bought, by hand and for free.
    pub granted: i64,
    /// Credits that were deducted.
    pub deducted: i64,
    /// Credits taken back for refunds and disputes, less those returned.
    pub refunded: i64,
    /// Credits that expired.
    pub expired: i64,
    /// The number of deductions.
    pub deductions: i64,
    /// Usage by feature, where that was requested.
    pub features: Option<Vec<FeatureUse>>,
}

/// Usage of one feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FeatureUse {
    /// The feature, from `meta.feature`; `None` for deductions without one.
    pub feature: Option<String>,
    /// Credits deducted for it.
    pub credits: i64,
    /// The number of deductions.
    pub deductions: i64,
}
