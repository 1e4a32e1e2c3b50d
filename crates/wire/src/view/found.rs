//! What an operator's lists and search show.

use actors::{ListedWallet as WalletAnswer, SearchResult as SearchAnswer, WalletListPage};
use catalog::ProjectCatalog;
use domain::catalog::KeyKind;
use serde::Serialize;
use utoipa::ToSchema;

use api_types::Instant;

use super::{
    Order, Orders, Wallet, instant,
    ledger::{LedgerEntry, ledger_entry},
    order::order,
};
use crate::cursor::WalletCursor;

/// A wallet in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedWallet {
    #[serde(flatten)]
    wallet: Wallet,
    /// When it was last used: an expiry or a free grant is no use.
    last_used_at: Instant,
    created_at: Instant,
}

/// A page of a project's wallets.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wallets {
    wallets: Vec<ListedWallet>,
    /// Pass as `cursor` for the next page; null on the last one.
    next_cursor: Option<String>,
}

/// What a search found.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchResult {
    /// Wallets, those of the orders among them.
    wallets: Vec<ListedWallet>,
    orders: Vec<Order>,
    /// Ledger entries of the wallet that was searched.
    entries: Vec<LedgerEntry>,
}

/// A page of a project's orders, and what all of them come to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedOrders {
    #[serde(flatten)]
    page: Orders,
    /// What all orders that the filters let through come to; left out unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<OrderTotals>,
}

/// What orders come to.
#[derive(Debug, Serialize, ToSchema)]
struct OrderTotals {
    count: u64,
    /// By currency, in the order of their codes.
    currencies: Vec<CurrencyTotals>,
}

/// What orders of one currency come to, in its minor unit.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CurrencyTotals {
    /// ISO 4217, upper case.
    currency: String,
    count: u64,
    /// All amounts, paid or not.
    amount_cents: i64,
    /// The amounts of those that were paid, before refunds.
    paid_cents: i64,
    /// What was refunded of them.
    refunded_cents: i64,
}

impl ListedWallet {
    fn of(wallet: &WalletAnswer, project: &ProjectCatalog) -> Self {
        Self {
            wallet: Wallet::of(&wallet.view, project),
            last_used_at: instant(wallet.used_at),
            created_at: instant(wallet.view.created_at),
        }
    }
}

impl Wallets {
    /// A page as it was answered.
    pub fn of(page: &WalletListPage, project: &ProjectCatalog) -> Self {
        let wallets = page.wallets.iter();
        Self {
            wallets: wallets.map(|it| ListedWallet::of(it, project)).collect(),
            next_cursor: page.next.map(|next| WalletCursor(next).to_string()),
        }
    }
}

impl SearchResult {
    /// What was found, as a secret key would read it.
    pub fn of(found: &SearchAnswer, project: &ProjectCatalog) -> Self {
        let wallets = found.wallets.iter();
        let orders = found.orders.iter();
        let entries = found.entries.iter();
        Self {
            wallets: wallets.map(|it| ListedWallet::of(it, project)).collect(),
            orders: orders.map(|it| order(it, KeyKind::Secret)).collect(),
            entries: entries.map(|it| ledger_entry(it, project)).collect(),
        }
    }
}

impl ListedOrders {
    /// A page, with totals if they were asked for.
    pub fn new(page: Orders, totals: Option<&actors::OrderTotals>) -> Self {
        let totals = totals.map(|totals| OrderTotals {
            count: totals.count,
            currencies: totals
                .currencies
                .iter()
                .map(|(currency, sum)| CurrencyTotals {
                    currency: currency.clone(),
                    count: sum.count,
                    amount_cents: sum.amount_cents,
                    paid_cents: sum.paid_cents,
                    refunded_cents: sum.refunded_cents,
                })
                .collect(),
        });
        Self { page, totals }
    }
}
