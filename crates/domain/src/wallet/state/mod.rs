//! A wallet's state and its events. Nothing here decides or changes anything.

pub mod account;
pub mod archive;
pub(in crate::wallet) mod commerce;
pub(in crate::wallet) mod corrupt;
pub(in crate::wallet) mod debt;
pub mod dispute;
pub mod event;
mod faults;
pub(in crate::wallet) mod freeze;
pub(in crate::wallet) mod holds;
pub mod instruction;
pub(in crate::wallet) mod limits;
pub(in crate::wallet) mod lots;
pub mod order;
pub mod outstanding;
pub(in crate::wallet) mod owner;
pub(in crate::wallet) mod reversed;
pub(in crate::wallet) mod stored;
pub mod subscription;
pub mod taken;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::{
    MAX_CREDITS,
    history::HoldSnapshot,
    id::{HoldId, ProductId, ProjectId, WalletId, WalletKey},
    rate_card::Carried,
    text::Feature,
    time::Timestamp,
    top_up::{TopUp, TopUpPlace},
};

pub use account::{Account, LastFreeGrant, NextExpiry};
pub use archive::Archive;
pub use corrupt::Corrupt;
pub use debt::{Charged, Debt};
pub use dispute::{Currency, Dispute, DisputeReason};
pub use event::{Change, Created, Event};
pub use freeze::Freeze;
pub use holds::Hold;
pub use instruction::{
    Instruction, InstructionRecord, InstructionStage, NamedSubscription, RefundPart,
};
pub use lots::{CycleTag, Lot, LotPrice};
pub use order::{
    ArchivedOrder, Order, OrderKind, OrderStatus, PendingRefunds, ProviderKind, Receipt, Reversal,
    Stage,
};
pub use owner::Owner;
pub use reversed::DeductionReversed;
pub use subscription::{
    LastTier, OpenInvoice, Step, Subscription, SubscriptionOver, SubscriptionStatus, TierSwitch,
};
pub use taken::TakenLot;

use commerce::Commerce;
use holds::Holds;
use limits::WalletLimits;
use stored::DueAt;

/// The state of one wallet: what its events add up to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Wallet {
    /// The wallet's address in the store.
    pub key: WalletKey,
    /// The wallet's identifier for callers.
    pub id: WalletId,
    /// The project that it belongs to.
    pub project: ProjectId,
    /// Who may address it.
    pub owner: Owner,
    /// When it was created.
    pub created_at: Timestamp,
    /// The instant of its last event; no later event is dated before it.
    pub touched_at: Timestamp,
    /// The instant of the last event that did not follow from the clock alone: see [`Change::is_by_clock`].
    pub used_at: Timestamp,
    /// Events applied so far.
    pub version: u64,
    /// History records written so far: the number of the last.
    pub records: u64,
    /// How often its code was replaced by another.
    pub rotations: u32,
    /// Sessions of an earlier epoch are over: see [`crate::session`].
    pub session_epoch: u32,
    /// The usual single account is inline: a deduction follows no pointer.
    pub(in crate::wallet) accounts: SmallVec<[Account; 1]>,
    pub(in crate::wallet) holds: Holds,
    pub(in crate::wallet) features: BTreeSet<Feature>,
    /// Set while the wallet is frozen; behind a pointer, because few are.
    pub(in crate::wallet) frozen: Option<Box<Freeze>>,
    /// The earliest instant at which a lot, a hold or an order expires; until then, catching up costs nothing.
    #[serde(skip)]
    pub(in crate::wallet) due_at: DueAt,
    /// Absent where no limit ever counted.
    pub(in crate::wallet) limits: Option<Box<WalletLimits>>,
    /// Absent until the first order.
    pub(in crate::wallet) commerce: Option<Box<Commerce>>,
    /// Absent until a card is put on file.
    pub(in crate::wallet) top_up: Option<Box<TopUp>>,
}

impl Wallet {
    /// The card on file and the automatic top-up.
    pub fn top_up(&self) -> Option<&TopUp> {
        self.top_up.as_deref()
    }

    /// Where the automatic top-up is listed.
    pub fn top_up_place(&self) -> TopUpPlace {
        let top_up = self.top_up();
        TopUpPlace {
            due_at: top_up.and_then(TopUp::due_at),
            suspended: top_up.is_some_and(|it| it.suspended.is_some() && it.rule.is_some()),
        }
    }

    /// What can be spent of the credits that the automatic top-up watches, negative for what is owed; `None` where none
    /// is on.
    pub fn watched_credits(&self) -> Option<i64> {
        let product = self.top_up.as_ref()?.product()?;
        let owed = self.account(product).map_or(0, |it| it.debt().owed);
        Some(self.available(product).saturating_sub(owed))
    }

    /// The accounts that ever had credits, in the order in which they were first filled.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// The account of one product.
    pub fn account(&self, product: ProductId) -> Option<&Account> {
        self.accounts
            .iter()
            .find(|account| account.product == product)
    }

    /// Credits of a product that can be spent now.
    pub fn available(&self, product: ProductId) -> i64 {
        self.account(product).map_or(0, Account::available)
    }

    /// What was used by rate cards below a whole credit of a product.
    pub(in crate::wallet) fn carried(&self, product: ProductId) -> Carried {
        self.account(product)
            .map_or_else(Carried::default, |account| account.carried)
    }

    /// Credits of a product that can be added before the largest balance.
    pub(in crate::wallet) fn room(&self, product: ProductId) -> i64 {
        self.account(product).map_or(MAX_CREDITS, Account::room)
    }

    /// Features granted by hand.
    pub const fn manual_features(&self) -> &BTreeSet<Feature> {
        &self.features
    }

    /// All features unlocked at this instant, sorted: granted by hand, bought once, or of a subscription.
    pub fn features(&self, now: Timestamp) -> Vec<&str> {
        let unlocked = self.unlocked(now);
        unlocked.into_iter().map(Feature::as_str).collect()
    }

    /// The set that [`Wallet::features`] lists.
    pub(crate) fn unlocked(&self, now: Timestamp) -> BTreeSet<&Feature> {
        let bought = self.orders().filter(|(_, order)| order.unlocks());
        let bought = bought.flat_map(|(_, order)| &order.terms.features);
        let subscribed = self.subscriptions().flat_map(|s| s.features(now));
        let archived = self.commerce.iter().flat_map(|c| c.unlocked.keys());
        let manual = self.features.iter();
        let all = manual.chain(bought).chain(archived).chain(subscribed);
        all.collect()
    }

    /// An open hold.
    pub fn hold(&self, id: &HoldId) -> Option<&Hold> {
        self.holds.open().get(id)
    }

    /// All open holds.
    pub const fn holds(&self) -> &BTreeMap<HoldId, Hold> {
        self.holds.open()
    }

    /// An open hold's facts.
    pub fn open_hold(&self, id: &HoldId) -> Option<HoldSnapshot> {
        self.hold(id).map(|hold| hold.facts(*id))
    }

    /// The earliest instant at which something expires.
    pub const fn due_at(&self) -> Timestamp {
        self.due_at.0
    }

    /// Recomputes `due_at` after an expiry may have moved later (earlier is a `min` in place). A lot emptied by a
    /// deduction may leave it too early; the next event after that instant corrects it.
    pub(in crate::wallet) fn refresh_due(&mut self) {
        self.due_at = DueAt(self.first_due());
    }

    /// The earliest instant at which something expires, exactly.
    pub(in crate::wallet) fn first_due(&self) -> Timestamp {
        let commerce = self.commerce.as_deref();
        if commerce.is_some_and(|commerce| commerce.archivable().is_some()) {
            return Timestamp(i64::MIN);
        }
        let lots = self
            .accounts
            .iter()
            .filter_map(Account::first_expiring)
            .map(|(_, _, at)| at);
        let hold = self.holds.first_expiring().map(|(at, _)| at);
        let order = commerce.and_then(|commerce| commerce.due());
        let order = order.map(|(at, _)| at);
        let all = lots.chain(hold).chain(order);
        all.min().unwrap_or(Timestamp::NEVER)
    }
}
