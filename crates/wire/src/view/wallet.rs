//! What callers see of wallets.

use actors::WalletView;
use api_types::{
    Balance, ExternalWallet, FrozenWallet, Holdings, NextExpiry, OpenInvoice, Subscription,
};
use catalog::ProjectCatalog;
use domain::{
    catalog::KeyKind,
    id::ProductId,
    project_event::SubscriptionSnapshot,
    wallet::{self, Freeze},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{instant, top_up::payment_method, word};

/// A bill of a subscription that waits for the buyer.
pub fn open_invoice(open: &wallet::OpenInvoice) -> OpenInvoice {
    OpenInvoice {
        amount_cents: open.amount_cents,
        currency: open.currency.to_string(),
        url: open.url.as_str().to_owned(),
        next_attempt_at: open.next_attempt_at.map(instant),
    }
}

/// A subscription of a wallet.
pub fn subscription(subscription: &SubscriptionSnapshot) -> Subscription {
    Subscription {
        id: subscription.id.to_string(),
        product_id: subscription.product.to_string(),
        price_id: subscription.price.to_string(),
        label: subscription.label.as_deref().map(str::to_owned),
        status: word(subscription.status),
        current_period_end: instant(subscription.current_period_end),
        cancel_at_period_end: subscription.cancel_at_period_end,
        open_invoice: subscription.open_invoice.as_deref().map(open_invoice),
        collection_paused: subscription.collection_paused,
    }
}

/// What the wallet answered, with the names that the catalog has, for a caller with a key of this kind.
pub fn holdings(view: &WalletView, project: &ProjectCatalog, kind: KeyKind) -> Holdings {
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
            at: instant(next.at),
        }),
    });
    Holdings {
        balances: balances.collect(),
        features: view.features.clone(),
        subscriptions: view.subscriptions.iter().map(subscription).collect(),
        frozen: freeze.is_some(),
        frozen_reason: shown.and_then(reason),
        frozen_at: shown.map(|freeze| instant(freeze.since)),
    }
}

fn reason(freeze: &Freeze) -> Option<String> {
    Some(freeze.reason.as_ref()?.as_str().to_owned())
}

/// Whether the wallet is frozen now.
pub fn frozen_wallet(view: &WalletView) -> FrozenWallet {
    let freeze = view.frozen.as_ref();
    FrozenWallet {
        wallet_id: view.id.to_string(),
        frozen: freeze.is_some(),
        frozen_reason: freeze.and_then(reason),
        frozen_at: freeze.map(|freeze| instant(freeze.since)),
    }
}

/// What a product's credits are called.
pub(super) fn credit_unit(project: &ProjectCatalog, product: ProductId) -> Option<String> {
    project.product(&product)?.credit_unit.clone()
}

/// The view of this user's wallet, for a caller with a key of this kind.
pub fn external_wallet(
    view: &WalletView,
    user: &str,
    project: &ProjectCatalog,
    kind: KeyKind,
) -> ExternalWallet {
    ExternalWallet {
        wallet_id: view.id.to_string(),
        external_user_id: user.to_owned(),
        payment_method: view.card.as_ref().map(payment_method),
        email: view.email.as_ref().map(|email| email.as_str().to_owned()),
        holdings: holdings(view, project, kind),
    }
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
            holdings: holdings(view, project, KeyKind::Secret),
        }
    }
}
