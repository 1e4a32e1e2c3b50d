//! What callers see of wallets.

use actors::WalletView;
use catalog::ProjectCatalog;
use domain::{
    catalog::KeyKind,
    id::ProductId,
    project_event::SubscriptionSnapshot,
    wallet::{self, SubscriptionStatus},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::Instant;

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
    /// Credits that are owed: new credits pay them first. Left out when there are none.
    #[serde(skip_serializing_if = "is_zero")]
    owed: i64,
    /// What expires next; left out when nothing will.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_expiry: Option<NextExpiry>,
}

/// Credits that will expire.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NextExpiry {
    amount: i64,
    at: Instant,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(super) const fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// A subscription of a wallet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    /// Its identifier, which stays the same for as long as it is there: `sub_…`
    #[schema(example = "sub_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    id: String,
    product_id: String,
    price_id: String,
    /// The tier's name.
    label: Option<String>,
    /// `active`, `past_due` or `paused`; `canceled` only where it was asked for by itself
    #[schema(value_type = String, example = "active")]
    status: SubscriptionStatus,
    current_period_end: Instant,
    /// Whether it ends with the cycle that is paid; left out when it does not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cancel_at_period_end: bool,
    /// The bill that waits for the buyer, whose card was declined or whose bank asks them to confirm; left
    /// out where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_invoice: Option<OpenInvoice>,
    /// Whether its collection is paused for the time being, though it keeps its features; left out
    /// where it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    collection_paused: bool,
}

/// A bill of a subscription that waits for the buyer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenInvoice {
    /// What is left to pay, in the currency's minor unit.
    amount_cents: i64,
    /// ISO 4217, in capitals.
    currency: String,
    /// The provider's page on which the buyer pays it.
    url: String,
    /// When the provider tries again by itself; null: it does not.
    #[schema(required = true)]
    next_attempt_at: Option<Instant>,
}

impl From<&wallet::OpenInvoice> for OpenInvoice {
    fn from(open: &wallet::OpenInvoice) -> Self {
        Self {
            amount_cents: open.amount_cents,
            currency: open.currency.to_string(),
            url: open.url.as_str().to_owned(),
            next_attempt_at: open.next_attempt_at.map(Instant),
        }
    }
}

impl From<&SubscriptionSnapshot> for Subscription {
    fn from(subscription: &SubscriptionSnapshot) -> Self {
        Self {
            id: subscription.id.to_string(),
            product_id: subscription.product.to_string(),
            price_id: subscription.price.to_string(),
            label: subscription.label.as_deref().map(str::to_owned),
            status: subscription.status,
            current_period_end: Instant(subscription.current_period_end),
            cancel_at_period_end: subscription.cancel_at_period_end,
            open_invoice: subscription.open_invoice.as_deref().map(Into::into),
            collection_paused: subscription.collection_paused,
        }
    }
}

/// What a wallet holds.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Holdings {
    balances: Vec<Balance>,
    /// Features that the wallet unlocked.
    features: Vec<String>,
    /// Active and past-due subscriptions.
    subscriptions: Vec<Subscription>,
    /// Whether the wallet is frozen: its credits cannot be used for now. Left out where it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    frozen: bool,
    /// Why it is frozen, if a reason was given; to secret keys only.
    #[serde(skip_serializing_if = "Option::is_none")]
    frozen_reason: Option<String>,
    /// Since when it is frozen; to secret keys only.
    #[serde(skip_serializing_if = "Option::is_none")]
    frozen_at: Option<Instant>,
}

impl Holdings {
    /// What the wallet answered, with the names that the catalog has, for a caller with a key of this kind.
    pub fn of(view: &WalletView, project: &ProjectCatalog, kind: KeyKind) -> Self {
        let freeze = view.frozen.as_ref();
        let shown = freeze.filter(|_| kind == KeyKind::Secret);
        let balances = view.balances.iter().map(|balance| Balance {
            product_id: balance.product.to_string(),
            balance: balance.balance,
            credit_unit: credit_unit(project, balance.product),
            held: balance.held,
            owed: balance.owed,
            next_expiry: balance.next_expiry.map(|next| NextExpiry {
                amount: next.amount,
                at: Instant(next.at),
            }),
        });
        Self {
            balances: balances.collect(),
            features: view.features.clone(),
            subscriptions: view.subscriptions.iter().map(Subscription::from).collect(),
            frozen: freeze.is_some(),
            frozen_reason: shown
                .and_then(|freeze| freeze.reason.as_ref())
                .map(|reason| reason.as_str().to_owned()),
            frozen_at: shown.map(|freeze| Instant(freeze.since)),
        }
    }
}

/// What a product's credits are called.
pub(super) fn credit_unit(project: &ProjectCatalog, product: ProductId) -> Option<String> {
    project.product(&product)?.credit_unit.clone()
}

/// A wallet that its recovery code opens.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeWallet<'a> {
    /// The recovery code: it alone opens the wallet. A session reads `code`, the word for its wallet's
    /// code in paths.
    #[schema(example = "OLIVE-7K2M-9QXP-4TBD")]
    code: &'a str,
    #[serde(flatten)]
    holdings: Holdings,
}

impl<'a> CodeWallet<'a> {
    /// The wallet that this code opens, and what it holds.
    #[must_use]
    pub const fn new(code: &'a str, holdings: Holdings) -> Self {
        Self { code, holdings }
    }
}

/// A wallet of a user of the caller's.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalWallet {
    /// The wallet's identifier: `wal_…`
    wallet_id: String,
    external_user_id: String,
    #[serde(flatten)]
    holdings: Holdings,
}

/// A wallet as an administrator sees it. Its code is not shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wallet {
    /// The wallet's name in the administration: `wref_…`.
    #[schema(example = "wref_4kd3v8q6pf6r9x3v1m2k4c5d7e")]
    r#ref: String,
    /// The wallet's identifier: `wal_…`
    wallet_id: String,
    /// The project's own user; null for a wallet that its recovery code opens.
    external_user_id: Option<String>,
    #[serde(flatten)]
    holdings: Holdings,
}

impl Wallet {
    /// The view of any wallet.
    pub fn of(view: &WalletView, project: &ProjectCatalog) -> Self {
        Self {
            r#ref: view.key.to_string(),
            wallet_id: view.id.to_string(),
            external_user_id: view
                .external_user
                .as_ref()
                .map(|user| user.as_str().to_owned()),
            holdings: Holdings::of(view, project, KeyKind::Secret),
        }
    }
}

impl ExternalWallet {
    /// The view of this user's wallet, for a caller with a key of this kind.
    pub fn of(view: &WalletView, user: &str, project: &ProjectCatalog, kind: KeyKind) -> Self {
        Self {
            wallet_id: view.id.to_string(),
            external_user_id: user.to_owned(),
            holdings: Holdings::of(view, project, kind),
        }
    }
}
