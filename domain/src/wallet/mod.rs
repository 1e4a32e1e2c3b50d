//! A wallet: balances per product in lots, holds, manual features, purchases that can still change. Each command is
//! decided in a file of its own; only `apply.rs` and `apply_order.rs` change anything.

use serde::{Deserialize, Serialize};
pub mod account;
mod apply;
mod apply_order;
pub mod archive;
pub mod bill;
pub mod cancel;
pub mod cancellation_effects;
pub mod catch_up;
pub mod close_order;
mod commerce;
pub mod credit;
mod cycle;
mod decision;
pub mod deduct;
pub mod dispute;
pub mod event;
mod faults;
pub mod feature;
pub mod hold;
mod holds;
pub mod instruction;
pub mod lapse;
pub mod leave_provider;
mod lots;
pub mod order;
pub mod pay;
pub mod place_order;
pub mod purchase;
pub mod refund;
pub mod resume;
pub mod reverse;
mod stored;
pub mod subscription;
pub mod switch;
#[cfg(test)]
mod tests;
pub mod update_subscription;

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

pub use account::{Account, LastFreeGrant, NextExpiry};
pub use apply::Corrupt;
pub use archive::Archive;
pub use dispute::{Currency, Dispute, DisputeReason};
pub use event::{Change, Created, Event};
pub use instruction::{Instruction, InstructionDecision, InstructionRecord, InstructionStage};
pub use lots::{CycleTag, Lot};
pub use order::{
    ArchivedOrder, Order, OrderKind, OrderStatus, PendingRefunds, ProviderKind, Receipt, Reversal,
    Stage,
};
pub use subscription::{
    LastTier, OpenInvoice, Subscription, SubscriptionOver, SubscriptionStatus, TierSwitch,
};
pub use switch::Step;

use commerce::Commerce;
use holds::Holds;

use crate::{
    amount::Amount,
    history::{HoldSnapshot, HoldStatus},
    id::{CodeHash, HoldId, ProductId, ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, Feature, IdempotencyKey, Meta},
    time::Timestamp,
};

/// Who may address a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Owner {
    /// The caller's own user, with a secret key.
    External(ExternalUserId),
    /// Whoever knows the recovery code.
    Code {
        /// The keyed hash by which the code is found.
        hash: CodeHash,
        /// The code, encrypted under the server key.
        sealed: Box<[u8]>,
    },
    /// Nobody yet: an order that names no wallet waits here for its payment, which mints a code.
    Order,
}

/// Credits set aside for work whose cost is not known yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The product whose credits are held.
    pub product: ProductId,
    /// Credits set aside.
    pub amount: Amount,
    /// The lots that they come from: lot number and credits.
    pub pins: Vec<(u64, i64)>,
    /// When it expires and gives them back.
    pub expires_at: Timestamp,
    /// The idempotency key of the request that placed it.
    pub key: IdempotencyKey,
    /// The caller's note, for the ledger entry that settling writes.
    pub meta: Option<Meta>,
    /// Whether a publishable key placed it. Then it is released when the recovery code is replaced.
    pub publishable: bool,
}

/// The state of one wallet, exactly what its events add up to.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    /// Events applied so far.
    pub version: u64,
    /// History records written so far: the number of the last.
    pub records: u64,
    /// How often its code was replaced by another.
    pub rotations: u32,
    /// The usual single account is stored inline: a deduction follows no pointer to it.
    accounts: SmallVec<[Account; 1]>,
    holds: Holds,
    features: BTreeSet<Feature>,
    /// The earliest instant at which a lot, a hold or an order expires; until then, catching up costs nothing.
    #[serde(skip)]
    due_at: Timestamp,
    /// Absent until the first order.
    commerce: Option<Box<Commerce>>,
}

/// A free grant that the wallet's project offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeGrantRule {
    /// The product whose credits are given.
    pub product: ProductId,
    /// Credits given each period.
    pub credits: Amount,
    /// The period, such as a day.
    pub period: crate::time::Period,
}

/// The product that a command names, or leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductRef {
    /// Named in the request and known to the project.
    Named(ProductId),
    /// Left out: the project's only credit product, if there is exactly one.
    Only(Option<ProductId>),
}

impl ProductRef {
    /// Whether a former use of the key with `product` is the same request.
    #[must_use]
    pub fn matches(self, product: ProductId) -> bool {
        match self {
            Self::Named(named) => named == product,
            Self::Only(_) => true,
        }
    }

    /// The product to act on.
    ///
    /// # Errors
    ///
    /// [`Rejection::ProductRequired`](crate::Rejection::ProductRequired) if none was named and the project does not
    /// have exactly one.
    pub const fn resolve(self) -> Result<ProductId, crate::Rejection> {
        match self {
            Self::Named(product) | Self::Only(Some(product)) => Ok(product),
            Self::Only(None) => Err(crate::Rejection::ProductRequired),
        }
    }
}

/// The outcome of a command that is not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision<R> {
    /// Apply this change and answer from the state after it.
    Accept(Change),
    /// The same request was applied before, with this result; nothing changes.
    Replay(R),
}

impl Wallet {
    /// The accounts that ever had credits, in the order in which they were first filled.
    #[must_use]
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// The account of one product.
    #[must_use]
    pub fn account(&self, product: ProductId) -> Option<&Account> {
        self.accounts
            .iter()
            .find(|account| account.product == product)
    }

    /// Credits of a product that can be spent now.
    #[must_use]
    pub fn available(&self, product: ProductId) -> i64 {
        self.account(product).map_or(0, Account::available)
    }

    /// Features granted by hand.
    #[must_use]
    pub const fn manual_features(&self) -> &BTreeSet<Feature> {
        &self.features
    }

    /// All features that the wallet unlocks at this instant, sorted: manual ones, those bought once,
    /// those of subscriptions.
    #[must_use]
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
    #[must_use]
    pub fn hold(&self, id: &HoldId) -> Option<&Hold> {
        self.holds.open().get(id)
    }

    /// All open holds.
    #[must_use]
    pub const fn holds(&self) -> &BTreeMap<HoldId, Hold> {
        self.holds.open()
    }

    /// An open hold's facts.
    #[must_use]
    pub fn open_hold(&self, id: &HoldId) -> Option<HoldSnapshot> {
        self.hold(id).map(|hold| hold.facts(*id))
    }

    /// The earliest instant at which something expires.
    #[must_use]
    pub const fn due_at(&self) -> Timestamp {
        self.due_at
    }
}

impl Hold {
    /// What callers see of an open hold.
    #[must_use]
    pub const fn facts(&self, id: HoldId) -> HoldSnapshot {
        HoldSnapshot {
            id,
            product: self.product,
            amount: self.amount,
            status: HoldStatus::Open,
            settled: 0,
            expires_at: self.expires_at,
        }
    }
}
