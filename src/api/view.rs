//! What callers see of products, wallets, ledgers and holds.

use std::fmt;

use actors::{HoldAnswer, LedgerLine, LedgerPage, WalletView};
use domain::{
    Timestamp, catalog,
    history::{self, HoldStatus},
    id::ProductId,
    wallet::SubscriptionStatus,
};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::query::write_cursor;
use crate::catalog::ProjectCatalog;

/// An instant as ISO 8601 in UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instant(pub(crate) Timestamp);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = jiff::Timestamp::from_millisecond(self.0.0).map_err(|_| fmt::Error)?;
        write!(f, "{instant:.3}")
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A product with its active prices.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Product {
    /// `prod_…`
    id: String,
    name: String,
    description: Option<String>,
    /// `credits`, `subscription` or `one_time`
    #[serde(rename = "type")]
    #[schema(value_type = String, example = "credits")]
    kind: catalog::ProductType,
    /// What its credits are called; null when it holds none.
    credit_unit: Option<String>,
    /// Credits that every wallet gets each period; null when there are none.
    free_grant: Option<FreeGrant>,
    prices: Vec<Price>,
}

/// Credits for nothing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FreeGrant {
    credits: i64,
    /// `once`, `daily`, `weekly`, `monthly` or `yearly`
    #[schema(value_type = String, example = "monthly")]
    period: domain::time::Period,
}

/// A price.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Price {
    /// `price_…`
    id: String,
    /// The tier's name, for a subscription.
    label: Option<String>,
    /// In the currency's minor unit.
    amount_cents: i64,
    /// ISO 4217, upper case.
    currency: String,
    /// For a subscription tier: each cycle.
    credits_granted: i64,
    /// Features that it unlocks.
    features: Vec<String>,
    /// `one_time`, `month` or `year`
    #[schema(value_type = String, example = "one_time")]
    interval: catalog::Interval,
    /// The product whose balance it fills, where that is not its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    credits_product_id: Option<String>,
    /// Days until the credits expire; left out: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    credits_expire_after_days: Option<u32>,
    /// Whether a cycle's unused credits stay.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rollover: bool,
    /// Days for which a subscription is free at first; left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    trial_days: Option<u32>,
    /// Credits for those days; left out without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    trial_credits: Option<i64>,
}

impl Product {
    /// A product as the catalog of its project has it.
    pub(crate) fn of(product: &catalog::Product, project: &ProjectCatalog) -> Self {
        let grant = |grant: catalog::FreeGrant| FreeGrant {
            credits: grant.credits.get(),
            period: grant.period,
        };
        Self {
            id: product.id.to_string(),
            name: product.name.clone(),
            description: product.description.clone(),
            kind: product.kind,
            credit_unit: product.credit_unit.clone(),
            free_grant: product.free_grant.map(grant),
            prices: project.active_prices(&product.id).map(Price::of).collect(),
        }
    }
}

impl Price {
    /// A price as the catalog has it.
    pub(crate) fn of(price: &catalog::Price) -> Self {
        Self {
            id: price.id.to_string(),
            label: price.label.clone(),
            amount_cents: price.amount_cents,
            currency: price.currency.clone(),
            credits_granted: price.credits_granted,
            features: price
                .features
                .iter()
                .map(|feature| feature.as_str().to_owned())
                .collect(),
            interval: price.interval,
            credits_product_id: price.credits_product.map(|id| id.to_string()),
            credits_expire_after_days: price.credits_expire_after_days,
            rollover: price.rollover,
            trial_days: price.trial_days,
            trial_credits: price.trial_days.map(|_| price.trial_credits),
        }
    }

    /// The active prices that would fill this balance by at least so much.
    pub(crate) fn covering(
        project: &ProjectCatalog,
        filled: ProductId,
        shortfall: i64,
    ) -> Vec<Self> {
        let offered = project.products().filter(|product| product.active);
        let prices = offered.flat_map(|product| project.active_prices(&product.id));
        prices
            .filter(|price| price.credits_product.unwrap_or(price.product) == filled)
            .filter(|price| price.credits_granted >= shortfall)
            .map(Self::of)
            .collect()
    }
}

/// A product's balance in a wallet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Balance {
    product_id: String,
    /// Credits that can be spent now.
    balance: i64,
    credit_unit: Option<String>,
    /// Credits that open holds set aside; left out when there are none.
    #[serde(skip_serializing_if = "is_zero")]
    held: i64,
    /// What expires next; left out when nothing will.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_expiry: Option<NextExpiry>,
}

/// Credits that will expire.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NextExpiry {
    amount: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Instant,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// A subscription of a wallet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Subscription {
    product_id: String,
    price_id: String,
    /// The tier's name.
    label: Option<String>,
    /// `active`, `past_due` or `paused`
    #[schema(value_type = String, example = "active")]
    status: SubscriptionStatus,
    #[schema(value_type = String, format = DateTime)]
    current_period_end: Instant,
    /// Whether it ends with the cycle that is paid; left out when it does not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cancel_at_period_end: bool,
}

impl From<&actors::Subscription> for Subscription {
    fn from(subscription: &actors::Subscription) -> Self {
        Self {
            product_id: subscription.product.to_string(),
            price_id: subscription.price.to_string(),
            label: subscription.label.as_deref().map(str::to_owned),
            status: subscription.status,
            current_period_end: Instant(subscription.current_period_end),
            cancel_at_period_end: subscription.cancel_at_period_end,
        }
    }
}

/// What a wallet holds.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Holdings {
    balances: Vec<Balance>,
    /// Unlocked features.
    features: Vec<String>,
    /// Active and past-due subscriptions.
    subscriptions: Vec<Subscription>,
}

impl Holdings {
    /// What the wallet answered, with the names that the catalog has.
    pub(crate) fn of(view: &WalletView, project: &ProjectCatalog) -> Self {
        let balances = view.balances.iter().map(|balance| Balance {
            product_id: balance.product.to_string(),
            balance: balance.balance,
            credit_unit: credit_unit(project, balance.product),
            held: balance.held,
            next_expiry: balance.next_expiry.map(|next| NextExpiry {
                amount: next.amount,
                at: Instant(next.at),
            }),
        });
        Self {
            balances: balances.collect(),
            features: view.features.clone(),
            subscriptions: view.subscriptions.iter().map(Subscription::from).collect(),
        }
    }
}

fn credit_unit(project: &ProjectCatalog, product: ProductId) -> Option<String> {
    project.product(&product)?.credit_unit.clone()
}

/// A wallet that its recovery code opens.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CodeWallet<'a> {
    /// The recovery code: whoever knows it owns the wallet.
    #[schema(example = "OLIVE-7K2M-9QXP-4TBD")]
    pub(crate) code: &'a str,
    #[serde(flatten)]
    pub(crate) holdings: Holdings,
}

/// A wallet of a user of the caller's.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExternalWallet {
    /// `wal_…`
    wallet_id: String,
    external_user_id: String,
    #[serde(flatten)]
    holdings: Holdings,
}

impl ExternalWallet {
    /// What the wallet of this user answered.
    pub(crate) fn of(view: &WalletView, user: &str, project: &ProjectCatalog) -> Self {
        Self {
            wallet_id: view.id.to_string(),
            external_user_id: user.to_owned(),
            holdings: Holdings::of(view, project),
        }
    }
}

/// Why a balance changed, as it is written.
pub(crate) fn parse_reason(text: &str) -> Option<history::Reason> {
    use serde::{
        Deserialize,
        de::value::{Error, StrDeserializer},
    };
    history::Reason::deserialize(StrDeserializer::<Error>::new(text)).ok()
}

/// One change of a balance. It never changes itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LedgerEntry<'a> {
    /// `led_…`
    id: String,
    /// Credits added (positive) or removed (negative).
    delta: i64,
    /// `purchase`, `deduction`, `free_grant`, `manual`, `refund` or `expiry`
    #[schema(value_type = String, example = "deduction")]
    reason: history::Reason,
    product_id: String,
    credit_unit: Option<String>,
    /// The sum of all deltas of this product up to and with this one: credits that can be spent and
    /// those that are held.
    balance_after: i64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Instant,
    /// The order behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    /// The key that the caller gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    idempotency_key: Option<&'a str>,
    /// The caller's note.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    meta: Option<Box<RawValue>>,
    /// When the granted credits expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Instant>,
}

impl<'a> LedgerEntry<'a> {
    fn of(line: &'a LedgerLine, project: &ProjectCatalog) -> Self {
        let entry = &line.entry;
        let raw = |text: &str| RawValue::from_string(text.to_owned()).ok();
        Self {
            id: line.id.to_string(),
            delta: entry.delta,
            reason: entry.reason,
            product_id: entry.product.to_string(),
            credit_unit: credit_unit(project, entry.product),
            balance_after: entry.balance_after,
            created_at: Instant(line.at),
            order_id: line.order.map(|order| order.to_string()),
            idempotency_key: entry.key.as_ref().map(|key| key.as_str()),
            meta: entry.meta.as_ref().and_then(|meta| raw(meta.as_str())),
            expires_at: entry.expires_at.map(Instant),
        }
    }
}

/// A page of a ledger, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ledger<'a> {
    entries: Vec<LedgerEntry<'a>>,
    /// Pass as `cursor` for the next page; null on the last one.
    next_cursor: Option<String>,
}

impl<'a> Ledger<'a> {
    /// A page as the wallet answered it.
    pub(crate) fn of(page: &'a LedgerPage, project: &ProjectCatalog) -> Self {
        Self {
            entries: page
                .lines
                .iter()
                .map(|line| LedgerEntry::of(line, project))
                .collect(),
            next_cursor: page.next.map(write_cursor),
        }
    }
}

/// A hold that was placed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlacedHold {
    /// `hold_…`
    hold_id: String,
    /// Credits that can be spent now.
    balance: i64,
    /// Credits set aside.
    amount: i64,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Instant,
}

impl From<&HoldAnswer> for PlacedHold {
    fn from(answer: &HoldAnswer) -> Self {
        Self {
            hold_id: answer.hold.id.to_string(),
            balance: answer.balance,
            amount: answer.hold.amount.get(),
            expires_at: Instant(answer.hold.expires_at),
        }
    }
}

/// How a hold stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hold {
    /// `hold_…`
    hold_id: String,
    product_id: String,
    /// Credits set aside when it was placed.
    amount: i64,
    /// `open`, `settled`, `released` or `expired`
    #[schema(value_type = String, example = "open")]
    status: HoldStatus,
    /// Credits deducted when it was settled, else 0.
    settled_amount: i64,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Instant,
}

impl From<&HoldAnswer> for Hold {
    fn from(HoldAnswer { hold, .. }: &HoldAnswer) -> Self {
        Self {
            hold_id: hold.id.to_string(),
            product_id: hold.product.to_string(),
            amount: hold.amount.get(),
            status: hold.status,
            settled_amount: hold.settled,
            expires_at: Instant(hold.expires_at),
        }
    }
}

/// What came of a deduction or of settling a hold.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Deducted {
    /// Credits that can be spent now.
    pub(crate) balance: i64,
    /// Whether this very request took credits; false on a repeat.
    pub(crate) deducted: bool,
}

impl From<actors::Applied> for Deducted {
    fn from(applied: actors::Applied) -> Self {
        Self {
            balance: applied.balance,
            deducted: applied.applied && !applied.replayed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_milliseconds_and_a_z() {
        assert_eq!(
            Instant(Timestamp(0)).to_string(),
            "1970-01-01T00:00:00.000Z"
        );
        assert_eq!(
            Instant(Timestamp(1_795_000_000_120)).to_string(),
            "2026-11-18T11:06:40.120Z"
        );
    }

    #[test]
    fn reasons_are_those_of_the_ledger() {
        assert_eq!(parse_reason("free_grant"), Some(history::Reason::FreeGrant));
        assert_eq!(parse_reason("FreeGrant"), None);
    }
}
