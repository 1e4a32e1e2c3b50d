//! Descriptions that records refer to, of texts and objects.

use serde::Serialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr,
        schema::{AdditionalProperties, Schema, Type},
    },
};

use crate::{Instant, LimitState, Order, Subscription, event::Dispute};

/// Declares a description and the bounds that it has.
macro_rules! described {
    ($($(#[$doc:meta])* $name:ident: $build:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let build: fn(ObjectBuilder) -> ObjectBuilder = $build;
                build(ObjectBuilder::new()).into()
            }
        }

        impl ToSchema for $name {}
    )+};
}

described! {
    /// Why a balance changed.
    Reason: |object| object.schema_type(Type::String).enum_values(Some([
        "purchase", "deduction", "free_grant", "manual", "refund", "expiry", "reversal", "forgiveness",
    ]));
    /// The idempotency key of an operation.
    IdempotencyKey: |object| object
        .schema_type(Type::String)
        .description(Some("Names one logical operation, compared exactly."))
        .min_length(Some(1))
        .max_length(Some(255))
        .examples(["order-7-refill"]);
    /// The caller's note on an operation.
    Meta: |object| object
        .schema_type(Type::Object)
        .description(Some(
            "A note of the caller's, kept in the ledger: a JSON object of at most 4 KiB, nested at most \
             64 deep.",
        ))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)));
    /// How a project's wallets are addressed.
    Mode: |object| one_of(object, "How a project's wallets are addressed.", &["credit_codes", "external_users"]);
    /// What a key may do.
    KeyKind: |object| one_of(object, "What a key may do.", &["publishable", "secret", "restricted"]);
    /// One thing that a restricted key may do.
    KeyAbility: |object| one_of(object, "One thing that a restricted key may do.", &[
        "read", "deduct", "grant", "reverse", "checkout", "refund", "orders", "sessions", "features", "limits",
        "subscriptions",
    ]);
    /// What a mail is about.
    MailKind: |object| one_of(object, "What a mail is about.", &[
        "lowBalance", "topUpFailed", "actionRequired", "limitReached", "receipt",
    ]);
    /// The language of a mail.
    MailLocale: |object| one_of(object, "The language of a mail.", &["en", "de", "fr"]);
    /// What a product is.
    ProductType: |object| one_of(object, "What a product is.", &["credits", "subscription", "one_time"]);
    /// How often a price is charged.
    Interval: |object| one_of(object, "How often a price is charged.", &["one_time", "month", "year"]);
    /// How often a free grant is given.
    Period: |object| one_of(
        object,
        "How often a free grant is given, by the UTC calendar.",
        &["once", "daily", "weekly", "monthly", "yearly"],
    );
}

fn one_of(object: ObjectBuilder, description: &str, texts: &[&str]) -> ObjectBuilder {
    let string = object.schema_type(Type::String);
    let string = string.description(Some(description));
    string.enum_values(Some(texts.iter().copied()))
}

/// What the event is about. The description of its type says which fields there are.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Data {
    /// With the events of an order.
    Order(OrderData),
    /// With all other events.
    Wallet(Box<WalletData>),
    /// With the events of an automatic top-up.
    TopUp(TopUpData),
}

/// The data of an automatic top-up's events. Fields that do not belong to an event's type are left out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopUpData {
    /// The wallet's identifier: `wal_…`
    wallet_id: String,
    /// The project's own user.
    external_user_id: Option<String>,
    /// The order that was paid, failed, or is paid on the page.
    order_id: Option<String>,
    /// What was charged, in the currency's minor unit.
    amount_cents: Option<i64>,
    /// ISO 4217, in capitals.
    currency: Option<String>,
    /// The product whose credits came.
    product_id: Option<String>,
    /// How many came.
    credits: Option<i64>,
    /// Credits that could be spent then.
    balance: Option<i64>,
    /// Why it failed, in the provider's word, or is suspended.
    reason: Option<String>,
    /// Whether a failed attempt is made again by itself.
    retryable: Option<bool>,
    /// When that is, at the earliest.
    next_attempt_at: Option<Instant>,
    /// The page on which the buyer pays.
    url: Option<String>,
}

/// The data of an order's events.
#[derive(Debug, Serialize, ToSchema)]
pub struct OrderData {
    /// The order as it stood then, as a secret key reads it.
    order: Box<Order>,
    /// The dispute, with `order.disputed` and `order.dispute_closed`.
    dispute: Option<Dispute>,
    /// With `order.dispute_closed`: whether the money is back, or was never taken.
    won: Option<bool>,
}

/// The data of all other events. Fields that do not belong to an event's type are left out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletData {
    /// The wallet's identifier: `wal_…`
    wallet_id: String,
    /// The project's own user, for an external wallet; otherwise null.
    external_user_id: Option<String>,
    /// The subscription, with a subscription's events.
    subscription: Option<Subscription>,
    /// The product whose credits they are, with `wallet.credited`, `wallet.balance_low`, `wallet.depleted`,
    /// `wallet.owing` and `wallet.repaid`.
    product_id: Option<String>,
    /// Credits that could be spent then, with the same events.
    balance: Option<i64>,
    /// Credits that were owed then, with `wallet.owing` and `wallet.repaid`.
    owed: Option<i64>,
    /// Credits that came, with `wallet.credited`.
    delta: Option<i64>,
    /// Why they came.
    #[schema(value_type = Option<Reason>)]
    reason: Option<String>,
    /// The order behind them.
    order_id: Option<String>,
    /// Why the wallet is frozen, with `wallet.frozen`, if a reason was given.
    frozen_reason: Option<String>,
    /// The limit as it was then, with `limit.alert` and `limit.reached`.
    limit: Option<LimitState>,
    /// The percentage of its amount that was passed, with `limit.alert`.
    percent: Option<u8>,
    /// The member whose use it was, with the same events, if it was one's.
    member: Option<String>,
    /// All features that the wallet unlocks after it, with `features.changed`; left out where they
    /// are more than 12 KiB.
    features: Option<Vec<String>>,
    /// Features that it did not unlock before.
    added: Option<Vec<String>>,
    /// Features that it does not unlock any more.
    removed: Option<Vec<String>>,
}
