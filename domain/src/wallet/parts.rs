//! A wallet taken apart, for whoever stores it: what its events came to, without what follows from the
//! rest. Put together again it is held against what is true of every wallet, because a disk is not to
//! be trusted: an error here is better than credits made up by a flipped bit.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use smallvec::SmallVec;

use super::{
    Account, Corrupt, Hold, Order, Owner, Reversal, Subscription, Wallet, account::FreeMark,
    commerce::Commerce, lots::Lot, order::Stage,
};
use crate::{
    id::{HoldId, OrderSerial, ProductId, ProjectId, WalletId, WalletKey},
    text::{CustomerId, Feature},
    time::Timestamp,
};

/// A wallet's state. Fields as in [`Wallet`].
#[derive(Debug, Clone)]
pub struct WalletParts<'a> {
    /// Where it is stored.
    pub key: WalletKey,
    /// What callers see.
    pub id: WalletId,
    /// Whose tenant it belongs to.
    pub project: ProjectId,
    /// Who may address it.
    pub owner: Cow<'a, Owner>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The instant of its last event.
    pub touched_at: Timestamp,
    /// Events applied so far.
    pub version: u64,
    /// History records written so far.
    pub records: u64,
    /// How often its code was replaced by another.
    pub rotations: u32,
    /// In the order in which they were first filled.
    pub accounts: Vec<AccountParts>,
    /// Open holds.
    pub holds: Cow<'a, BTreeMap<HoldId, Hold>>,
    /// Features granted by hand.
    pub features: Cow<'a, BTreeSet<Feature>>,
    /// Absent until the first order.
    pub commerce: Option<CommerceParts<'a>>,
}

/// One product's balance.
#[derive(Debug, Clone)]
pub struct AccountParts {
    /// Whose credits.
    pub product: ProductId,
    /// The sum of all deltas: spendable and held.
    pub balance: i64,
    /// Credits that open holds pin.
    pub held: i64,
    /// The last free grant.
    pub free: Option<FreeMark>,
    /// Lots that are not empty, in burn order.
    pub lots: Vec<Lot>,
    /// The number that the next lot gets.
    pub next_lot: u64,
}

/// What of a wallet's purchases can still change.
#[derive(Debug, Clone)]
pub struct CommerceParts<'a> {
    /// What the provider calls the wallet's owner.
    pub customer: Cow<'a, Option<CustomerId>>,
    /// Orders that are not archived.
    pub orders: Cow<'a, BTreeMap<OrderSerial, Order>>,
    /// In the order in which they started.
    pub subscriptions: Cow<'a, [Subscription]>,
    /// Refunds and disputes of orders that are not known yet.
    pub early: Cow<'a, BTreeMap<OrderSerial, Reversal>>,
    /// How many archived orders unlock each feature.
    pub unlocked: Cow<'a, BTreeMap<Feature, u64>>,
}

impl Wallet {
    /// What there is to store.
    #[must_use]
    pub fn parts(&self) -> WalletParts<'_> {
        let Self {
            key,
            id,
            project,
            owner,
            created_at,
            touched_at,
            version,
            records,
            rotations,
            accounts,
            holds,
            features,
            due_at: _,
            commerce,
        } = self;
        WalletParts {
            key: *key,
            id: *id,
            project: *project,
            owner: Cow::Borrowed(owner),
            created_at: *created_at,
            touched_at: *touched_at,
            version: *version,
            records: *records,
            rotations: *rotations,
            accounts: accounts.iter().map(Account::parts).collect(),
            holds: Cow::Borrowed(holds.open()),
            features: Cow::Borrowed(features),
            commerce: commerce.as_deref().map(Commerce::parts),
        }
    }

    /// The wallet that such parts make up. When it is due is worked out anew.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] where they are not a wallet's.
    pub fn from_parts(parts: WalletParts<'_>) -> Result<Self, Corrupt> {
        let WalletParts {
            key,
            id,
            project,
            owner,
            created_at,
            touched_at,
            version,
            records,
            rotations,
            accounts,
            holds,
            features,
            commerce,
        } = parts;
        // Its first event leaves no record.
        if version <= records || touched_at < created_at {
            return Err(Corrupt("a wallet's numbers do not follow from its events"));
        }
        check_pins(&accounts, &holds)?;
        let mut filled = SmallVec::<[Account; 1]>::new_const();
        for account in accounts {
            if filled.iter().any(|other| other.product == account.product) {
                return Err(Corrupt("a product has two accounts"));
            }
            filled.push(Account::of(account)?);
        }
        let commerce = commerce.map(Commerce::of).transpose()?;
        let mut orders = commerce.iter().flat_map(|it| it.orders.values());
        if orders.any(|order| order.rotations > rotations) {
            return Err(Corrupt("an order is of a code that is not there yet"));
        }
        let mut wallet = Self {
            key,
            id,
            project,
            owner: owner.into_owned(),
            created_at,
            touched_at,
            version,
            records,
            rotations,
            accounts: filled,
            holds: holds.into_owned().into(),
            features: features.into_owned(),
            due_at: Timestamp::NEVER,
            commerce: commerce.map(Box::new),
        };
        wallet.refresh_due();
        Ok(wallet)
    }
}

/// Open holds pin what the lots say is held, each what it set aside.
fn check_pins(accounts: &[AccountParts], holds: &BTreeMap<HoldId, Hold>) -> Result<(), Corrupt> {
    let mut pinned = BTreeMap::<(ProductId, u64), i64>::new();
    for hold in holds.values() {
        let mut sum = 0_i64;
        for &(lot, credits) in &hold.pins {
            if credits <= 0 {
                return Err(Corrupt("a hold pins nothing"));
            }
            sum = sum.saturating_add(credits);
            let of_lot = pinned.entry((hold.product, lot)).or_default();
            *of_lot = of_lot.saturating_add(credits);
        }
        if sum != hold.amount.get() {
            return Err(Corrupt("a hold does not pin what it sets aside"));
        }
    }
    for account in accounts {
        for lot in account.lots.iter().filter(|lot| lot.held != 0) {
            if pinned.remove(&(account.product, lot.number)) != Some(lot.held) {
                return Err(Corrupt("open holds do not pin what lots hold"));
            }
        }
    }
    if pinned.is_empty() {
        Ok(())
    } else {
        Err(Corrupt("a hold pins a lot that is gone"))
    }
}

impl Commerce {
    fn parts(&self) -> CommerceParts<'_> {
        let Self {
            customer,
            orders,
            subscriptions,
            early,
            unlocked,
            pending: _,
        } = self;
        CommerceParts {
            customer: Cow::Borrowed(customer),
            orders: Cow::Borrowed(orders),
            subscriptions: Cow::Borrowed(subscriptions),
            early: Cow::Borrowed(early),
            unlocked: Cow::Borrowed(unlocked),
        }
    }

    fn of(parts: CommerceParts<'_>) -> Result<Self, Corrupt> {
        let CommerceParts {
            customer,
            orders,
            subscriptions,
            early,
            unlocked,
        } = parts;
        let mut orders_taken = orders.values();
        if !orders_taken.all(|order| (0..=order.granted).contains(&order.taken)) {
            return Err(Corrupt("a refund passes its order's credits"));
        }
        if unlocked.values().any(|&count| count == 0) {
            return Err(Corrupt("a feature is unlocked by no order"));
        }
        let mut names = BTreeSet::new();
        if !subscriptions.iter().all(|known| names.insert(&known.id)) {
            return Err(Corrupt("a subscription is there twice"));
        }
        let waiting = orders
            .iter()
            .filter(|(_, order)| order.stage == Stage::Pending);
        let pending = waiting.map(|(&serial, order)| (order.expires_at, serial));
        let commerce = Self {
            pending: pending.collect(),
            customer: customer.into_owned(),
            orders: orders.into_owned(),
            subscriptions: subscriptions.into_owned(),
            early: early.into_owned(),
            unlocked: unlocked.into_owned(),
        };
        if !commerce.faults().is_empty() {
            return Err(Corrupt("a purchase does not hold together"));
        }
        Ok(commerce)
    }
}

/// The same events came to it. When it is due is no part of that: it may be early by what the wallet
/// went through (a lot that was spent before its end), and only costs a look.
impl PartialEq for Wallet {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            key,
            id,
            project,
            owner,
            created_at,
            touched_at,
            version,
            records,
            rotations,
            accounts,
            holds,
            features,
            due_at: _,
            commerce,
        } = self;
        *key == other.key
            && *id == other.id
            && *project == other.project
            && *owner == other.owner
            && *created_at == other.created_at
            && *touched_at == other.touched_at
            && *version == other.version
            && *records == other.records
            && *rotations == other.rotations
            && *accounts == other.accounts
            && *holds == other.holds
            && *features == other.features
            && *commerce == other.commerce
    }
}

impl Eq for Wallet {}
