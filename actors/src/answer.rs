//! The answers of wallets in the domain's terms. The HTTP layer maps them to statuses and codes.

use std::collections::BTreeMap;

use domain::{
    Rejection, Timestamp,
    code::RecoveryCode,
    history::{Entry, HoldSnapshot, Reason},
    id::{LedgerId, OrderId, OrderSerial, ProductId, WalletId, WalletKey},
    project_event::SubscriptionSnapshot,
    rate_card::{Cost, RateCardSlug, RatedUse},
    text::{Email, ExternalUserId, Member, Meta},
    time::Span,
    top_up::SavedCard,
    wallet::{Coverage, Freeze, NextExpiry, Order, debt_limit::DebtState},
};

use persistence::usage;

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The rules rejected the command; nothing changed.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The hold belongs to an external wallet, which needs a secret key.
    #[error("This hold belongs to an external wallet: use a secret key.")]
    SecretKeyRequired,
    /// The caller's session was revoked.
    #[error("This session has ended.")]
    SessionExpired,
    /// Too many commands are in flight, or the log's backlog is full; nothing was done.
    #[error("Too many requests are in flight. Nothing was done.")]
    Overloaded,
    /// The log cannot be written or the service is stopping: the operation may or may not have been applied.
    #[error("The outcome is unknown: try again with the same key.")]
    Unavailable,
    /// An event does not fit a frame; the edge's limits prevent this.
    #[error("The request is too large to be logged.")]
    TooLarge,
}

/// The outcome of a command that changes a balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandResult {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether this call changed something; false for settling a hold with 0 credits.
    pub applied: bool,
    /// Whether an earlier call did the same: nothing changed now.
    pub replayed: bool,
    /// How the cost was met; `None` if it was charged in full.
    pub coverage: Option<Coverage>,
    /// What a rate card charged.
    pub rated: Option<RatedCharge>,
    /// Whether a hold was settled after it had expired.
    pub late: bool,
}

/// What was charged, or set aside, for a use that a rate card prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatedCharge {
    /// In whole credits.
    pub amount: i64,
    /// The exact cost.
    pub cost: Cost,
    /// The number of the card's version.
    pub version: u32,
}

impl RatedCharge {
    pub(crate) fn of(rate: Option<&RatedUse>, amount: i64) -> Option<Self> {
        rate.map(|rate| Self {
            amount,
            cost: rate.cost,
            version: rate.version,
        })
    }
}

/// A product's balance in a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Balance {
    pub product: ProductId,
    pub balance: i64,
    pub held: i64,
    pub owed: i64,
    /// The credits that expire next, and when.
    pub next_expiry: Option<NextExpiry>,
}

/// A wallet as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct WalletView {
    /// The key that it is stored under, which only administrators see.
    pub key: WalletKey,
    pub id: WalletId,
    pub created_at: Timestamp,
    /// The caller's own user; `None` for a code wallet.
    pub external_user: Option<ExternalUserId>,
    /// Balances, in the order in which they were first filled.
    pub balances: Vec<Balance>,
    /// Since when and why it is frozen, if it is.
    pub frozen: Option<Freeze>,
    pub features: Vec<String>,
    /// Active and past-due subscriptions, in the order in which they started.
    pub subscriptions: Vec<SubscriptionSnapshot>,
    /// The card on file.
    pub card: Option<SavedCard>,
    /// The address that was set for the wallet's mails.
    pub email: Option<Email>,
}

/// An order and the wallet that it fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderAnswer {
    /// The order's public id, which also names its wallet.
    pub id: OrderId,
    /// The order's present state.
    pub order: Order,
    /// The wallet; `None` until a payment creates it.
    pub wallet: Option<WalletId>,
    /// The caller's own user, of an external wallet.
    pub external_user: Option<ExternalUserId>,
    /// The recovery code that opens an anonymous wallet now.
    pub code: Option<RecoveryCode>,
    /// Whether the code is still the one that the order's payment minted or that opened its checkout. If not, only the
    /// project's own servers may see it: a buyer who knows the order may know only a code that was replaced to lock
    /// them out.
    pub is_original_code: bool,
    /// Credits of the order's product that can be spent now.
    pub balance: i64,
}

/// A wallet in a list or a search result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedWallet {
    /// The wallet as its owner would see it now.
    pub view: WalletView,
    /// When it was last used.
    pub used_at: Timestamp,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// Wallets, including those of the orders.
    pub wallets: Vec<ListedWallet>,
    /// Orders that match.
    pub orders: Vec<OrderAnswer>,
    /// Ledger entries, when one wallet was searched.
    pub entries: Vec<LedgerLine>,
}

/// A position in a list of wallets: that of a page's last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalletListPlace {
    /// Its day, or the rank of its balance.
    pub number: i32,
    /// The instant or the balance, if wallets of that day or rank are sorted by it.
    pub exact: Option<i64>,
    /// The key of that wallet.
    pub wallet: WalletKey,
}

/// A page of a project's wallets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalletListPage {
    /// The wallets of this page.
    pub wallets: Vec<ListedWallet>,
    /// The position after which the next page begins; `None` on the last page.
    pub next: Option<WalletListPlace>,
}

/// A page of a project's orders, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPage {
    /// The orders of this page, newest first.
    pub orders: Vec<OrderAnswer>,
    /// The position after which the next page begins; `None` on the last one.
    pub next: Option<(Timestamp, OrderSerial)>,
}

/// The part of a ledger to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerQuery {
    /// Only entries with numbers below this; `None` starts at the newest.
    pub before: Option<u64>,
    /// The most entries of the page, 1 to 100.
    pub limit: usize,
    /// Only this product's entries; `None` for all.
    pub product: Option<ProductId>,
    /// Only entries with this reason; `None` for any.
    pub reason: Option<Reason>,
    /// Only entries of these instants.
    pub within: Span,
}

/// A line of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLine {
    /// Its id, derived from wallet and number and so stable.
    pub id: LedgerId,
    /// When it was written.
    pub at: Timestamp,
    /// The order that caused it, if one did.
    pub order: Option<OrderId>,
    /// The deduction that it reverses.
    pub reverses: Option<LedgerId>,
    /// The change, with its reason and the balance after it.
    pub entry: Entry,
}

/// A page of a ledger, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerPage {
    /// The lines of this page, newest first.
    pub lines: Vec<LedgerLine>,
    /// Pass as [`LedgerQuery::before`] for the next page; `None` on the last one.
    pub next: Option<u64>,
}

/// Sums of a part of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerSums {
    /// By product and reason.
    pub reasons: BTreeMap<(ProductId, Reason), LedgerSum>,
    /// Credits that were spent, by product, day and `meta.feature`.
    pub spent: BTreeMap<(ProductId, Timestamp, Option<Box<str>>), LedgerSum>,
    /// Credits that were spent by rate cards: by product, card and the attribute `model`.
    pub rated: BTreeMap<(ProductId, RateCardSlug, Option<Box<str>>), LedgerSum>,
    /// Credits that members spent, by product and member.
    pub members: BTreeMap<(ProductId, Member), LedgerSum>,
    /// The oldest entry in the sums.
    pub since: Option<Timestamp>,
    /// Whether the sums include every matching entry.
    pub is_complete: bool,
}

/// The sum of some entries of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct LedgerSum {
    pub credits: i64,
    pub entries: u64,
}

impl Default for LedgerSums {
    fn default() -> Self {
        Self {
            reasons: BTreeMap::new(),
            spent: BTreeMap::new(),
            rated: BTreeMap::new(),
            members: BTreeMap::new(),
            since: None,
            is_complete: true,
        }
    }
}

impl LedgerSums {
    pub(crate) fn add(&mut self, day: Timestamp, at: Timestamp, entry: &Entry) {
        let Entry {
            product, reason, ..
        } = entry;
        let add = |sum: &mut LedgerSum| {
            sum.credits = sum.credits.saturating_add(entry.delta);
            sum.entries += 1;
        };
        add(self.reasons.entry((*product, *reason)).or_default());
        if matches!(reason, Reason::Deduction | Reason::Reversal) {
            let meta = entry.meta.as_ref().map(|meta| meta.as_str());
            let feature = meta.and_then(usage::feature);
            let feature = feature.map(|name| name.chars().take(usage::FEATURE_BYTES).collect());
            add(self.spent.entry((*product, day, feature)).or_default());
            if let Some(rate) = &entry.rate {
                let model = rate.attributes.get("model").map(Into::into);
                let key = (*product, rate.card.clone(), model);
                add(self.rated.entry(key).or_default());
            }
            if let Some(member) = entry.member() {
                let key = (*product, member.clone());
                add(self.members.entry(key).or_default());
            }
        }
        self.since = Some(at);
    }
}

/// The outcome of replacing a recovery code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// The code that opens the wallet now.
    pub code: RecoveryCode,
    /// Whether an earlier call did the same: nothing changed now.
    pub replayed: bool,
}

/// A hold and its product's balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldAnswer {
    /// The hold's present state.
    pub hold: HoldSnapshot,
    /// What a rate card set aside, or drew.
    pub rated: Option<RatedCharge>,
    /// Credits that can be spent now.
    pub balance: i64,
    /// Whether an earlier call did the same: nothing changed now.
    pub replayed: bool,
}

/// The outcome of an item of a batch of settlements and draws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeAnswer {
    /// The hold was settled.
    Settled(CommandResult),
    /// Credits were drawn from the hold.
    Drawn(HoldAnswer),
}

/// The outcome of forgiving a debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgiveAnswer {
    /// What is owed now.
    pub debt: DebtState,
    /// Credits that were forgiven, now or before.
    pub amount: i64,
    /// Whether this call did it; false also if nothing was owed.
    pub applied: bool,
    /// Whether an earlier call did the same: nothing changed now.
    pub replayed: bool,
}

/// The outcome of reversing a deduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReversalAnswer {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Credits given back, now or before.
    pub amount: i64,
    /// Whether an earlier call did the same: nothing changed now.
    pub replayed: bool,
}

/// A deduction, and how much of it can be given back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct ReversibleDeduction {
    pub at: Timestamp,
    pub product: ProductId,
    /// Credits that it took and made owed.
    pub credits: i64,
    /// Credits that can still be given back.
    pub left: i64,
    pub meta: Option<Meta>,
}
