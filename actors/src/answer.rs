//! What a wallet answers, in the domain's terms; statuses and codes are the HTTP layer's affair.

use domain::{
    Rejection, Timestamp,
    code::Code,
    history::{Entry, HoldFacts, Reason},
    id::{LedgerId, OrderId, OrderSerial, PriceId, ProductId, WalletId},
    text::ExternalUserId,
    wallet::{LastTier, NextExpiry, OpenInvoice, Order, SubscriptionStatus},
};

/// Why there is no answer from the wallet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The wallet refused; nothing changed.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The hold belongs to an external wallet, which needs a secret key.
    #[error("This hold belongs to an external wallet: use a secret key.")]
    SecretKeyRequired,
    /// Too much is in flight; nothing was done.
    #[error("Too many requests are in flight. Nothing was done.")]
    Overloaded,
    /// The log cannot be written or the service is stopping: the operation may or may not have
    /// been applied.
    #[error("The outcome is unknown: try again with the same key.")]
    Unavailable,
    /// An event does not fit a frame. The edge's limits keep this from happening.
    #[error("The request is too large to be logged.")]
    TooLarge,
}

/// What came of a command with an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether this very call changed something; false for settling nothing.
    pub applied: bool,
    /// Whether an earlier call did the same: nothing changed now.
    pub replayed: bool,
}

/// A product's balance in a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// Whose credits.
    pub product: ProductId,
    /// Credits that can be spent now.
    pub balance: i64,
    /// Credits that open holds set aside.
    pub held: i64,
    /// What expires next.
    pub next_expiry: Option<NextExpiry>,
}

/// A wallet as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletView {
    /// Its identifier.
    pub id: WalletId,
    /// The caller's own user; `None` for a code wallet.
    pub external_user: Option<ExternalUserId>,
    /// Balances, in the order in which they were first filled.
    pub balances: Vec<Balance>,
    /// Unlocked features, sorted.
    pub features: Vec<String>,
    /// Active and past-due subscriptions, in the order in which they started.
    pub subscriptions: Vec<Subscription>,
}

/// A subscription as the wallet's owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// To which product.
    pub product: ProductId,
    /// The tier in force.
    pub price: PriceId,
    /// The tier's name.
    pub label: Option<Box<str>>,
    /// Active, past due or paused; canceled only where it is asked for by itself.
    pub status: SubscriptionStatus,
    /// When the running period ends.
    pub current_period_end: Timestamp,
    /// Whether it ends with that cycle.
    pub cancel_at_period_end: bool,
    /// The bill that waits for the buyer while a payment is missing.
    pub open_invoice: Option<Box<OpenInvoice>>,
    /// Whether nothing is collected for it for the time being.
    pub collection_paused: bool,
}

impl From<&domain::wallet::Subscription> for Subscription {
    fn from(subscription: &domain::wallet::Subscription) -> Self {
        let tier = subscription.tier();
        Self {
            product: tier.product,
            price: tier.price,
            label: tier.label.clone(),
            status: subscription.status,
            current_period_end: subscription.current_period_end,
            cancel_at_period_end: subscription.cancel_at_period_end,
            open_invoice: subscription
                .open_invoice
                .clone()
                .filter(|_| subscription.status == SubscriptionStatus::PastDue),
            collection_paused: subscription.collection_paused,
        }
    }
}

impl From<&LastTier> for Subscription {
    /// One that is over.
    fn from(last: &LastTier) -> Self {
        Self {
            product: last.product,
            price: last.price,
            label: last.label.clone(),
            status: SubscriptionStatus::Canceled,
            current_period_end: last.current_period_end,
            cancel_at_period_end: false,
            open_invoice: None,
            collection_paused: false,
        }
    }
}

/// An order and the wallet that it fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderAnswer {
    /// Its identifier.
    pub id: OrderId,
    /// The order.
    pub order: Order,
    /// The wallet; `None` until a payment makes it.
    pub wallet: Option<WalletId>,
    /// The caller's own user, of an external wallet.
    pub external_user: Option<ExternalUserId>,
    /// What opens an anonymous wallet now.
    pub code: Option<Code>,
    /// Whether the code is still the one that the order was placed under, or minted. If not, it is
    /// for the project's own servers alone: whoever was told of the order may be whom a rotation is
    /// to keep out.
    pub code_of_the_order: bool,
    /// Credits of the product that it fills that can be spent now.
    pub balance: i64,
}

/// A page of a project's orders, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPage {
    /// The orders.
    pub orders: Vec<OrderAnswer>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<(Timestamp, OrderSerial)>,
}

/// Which part of a ledger to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerQuery {
    /// Only entries with numbers below this; `None`: from the newest.
    pub before: Option<u64>,
    /// How many entries, 1 to 100.
    pub limit: usize,
    /// Only this product's.
    pub product: Option<ProductId>,
    /// Only with this reason.
    pub reason: Option<Reason>,
}

/// A line of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLine {
    /// Derived from wallet and number: the same on every reading.
    pub id: LedgerId,
    /// When it was written.
    pub at: Timestamp,
    /// The order behind it.
    pub order: Option<OrderId>,
    /// What it says.
    pub entry: Entry,
}

/// A page of a ledger, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerPage {
    /// The lines.
    pub lines: Vec<LedgerLine>,
    /// Pass as [`LedgerQuery::before`] for the next page; `None` on the last one.
    pub next: Option<u64>,
}

/// A code that replaced another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// What opens the wallet now.
    pub code: Code,
    /// Whether an earlier call did the same: nothing changed now.
    pub replayed: bool,
}

/// A hold and the balance beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldAnswer {
    /// The hold.
    pub hold: HoldFacts,
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether an earlier call did the same: nothing changed now.
    pub replayed: bool,
}
