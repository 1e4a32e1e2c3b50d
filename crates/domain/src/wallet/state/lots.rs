//! An account's lots, found by number, in burn order, by cycle, and by the source and end that merge credits into one
//! lot. A few are a plain list, the usual single one inline; more are indexed, so that nothing scans all of them.

use serde::{Deserialize, Serialize, Serializer};
use std::{
    collections::{BTreeMap, BTreeSet},
    hash::Hasher,
    num::NonZeroU64,
};

use siphasher::sip::SipHasher13;
use smallvec::SmallVec;

use crate::{
    history::Reason,
    id::{OrderSerial, WalletKey},
    text::SubscriptionId,
    time::Timestamp,
    wallet::state::dispute::Currency,
};

/// Credits with one origin and one expiry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lot {
    /// Unique in its account; a higher number is younger.
    pub number: u64,
    /// Where the credits came from: `Purchase`, `Manual` or `FreeGrant`.
    pub source: Reason,
    /// Credits not yet spent, the held ones included.
    pub left: i64,
    /// Credits that open holds pin.
    pub held: i64,
    /// When the rest expires; [`Timestamp::NEVER`] if it does not.
    pub expires_at: Timestamp,
    /// The order that bought them.
    pub order: Option<OrderSerial>,
    /// The subscription whose cycle they end with.
    pub cycle: Option<CycleTag>,
    /// What was paid for the credits that the order brought; `None`: nothing.
    pub price: Option<Box<LotPrice>>,
}

/// What was paid for a lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LotPrice {
    /// What was charged, in the currency's minor unit.
    pub amount_cents: i64,
    /// The currency that was charged.
    pub currency: Currency,
    /// The credits that this bought.
    pub credits: i64,
}

impl LotPrice {
    /// The price of this many of the credits, rounded down.
    #[must_use]
    pub fn share(&self, credits: i64) -> i64 {
        let share = i128::from(self.amount_cents).saturating_mul(credits.into());
        let share = share.checked_div(self.credits.into()).unwrap_or(0);
        i64::try_from(share).unwrap_or(i64::MAX)
    }
}

/// A subscription's short name within its wallet: a keyed hash of the provider's identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CycleTag(NonZeroU64);

impl CycleTag {
    /// A tag from its stored number.
    pub const fn new(number: NonZeroU64) -> Self {
        Self(number)
    }

    /// The number to store.
    pub const fn get(self) -> NonZeroU64 {
        self.0
    }

    /// The tag of a subscription. It is written to disk: the hash must never change.
    pub(in crate::wallet) fn of(wallet: &WalletKey, subscription: &SubscriptionId) -> Self {
        let mut hasher = SipHasher13::new_with_key(&wallet.0);
        hasher.write(subscription.as_str().as_bytes());
        Self(NonZeroU64::new(hasher.finish()).unwrap_or(NonZeroU64::MIN))
    }
}

impl Lot {
    /// Credits that are neither spent nor held.
    pub const fn free(&self) -> i64 {
        self.left.saturating_sub(self.held)
    }

    const fn place(&self) -> BurnKey {
        (self.expires_at, self.number)
    }

    /// The key by which credits are merged into a lot; `None` for an order's lot, whose credits stay apart.
    fn kind(&self) -> Option<(Timestamp, Reason)> {
        self.order
            .is_none()
            .then_some((self.expires_at, self.source))
    }
}

/// Burn order: soonest to expire first, then oldest.
type BurnKey = (Timestamp, u64);

/// The most lots in a plain list. Fewer in tests, so that random histories cross this size both ways.
const MAX_LISTED: usize = if cfg!(test) { 2 } else { 8 };

#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Vec<Lot>")]
pub(in crate::wallet) enum Lots {
    /// A plain list in burn order.
    Few(SmallVec<[Lot; 1]>),
    /// An index for more than [`FEW`] lots, kept until half of that are left.
    Many(Box<Many>),
}

#[derive(Debug, Clone, Default)]
pub(in crate::wallet) struct Many {
    lots: BTreeMap<u64, Lot>,
    free: BTreeSet<BurnKey>,
    ends: BTreeMap<Timestamp, i64>,
    kinds: BTreeMap<(Timestamp, Reason), u64>,
    cycles: BTreeSet<(CycleTag, u64)>,
}

impl Lots {
    pub(in crate::wallet) const fn new() -> Self {
        Self::Few(SmallVec::new_const())
    }

    pub(in crate::wallet) fn len(&self) -> usize {
        match self {
            Self::Few(few) => few.len(),
            Self::Many(many) => many.lots.len(),
        }
    }

    pub(in crate::wallet) fn get(&self, number: u64) -> Option<&Lot> {
        match self {
            Self::Few(few) => few.iter().find(|lot| lot.number == number),
            Self::Many(many) => many.lots.get(&number),
        }
    }

    /// The lot to burn next: the first one with free credits.
    pub(in crate::wallet) fn first_free(&self) -> Option<&Lot> {
        visit();
        match self {
            Self::Few(few) => few.iter().find(|lot| lot.free() > 0),
            Self::Many(many) => many.lots.get(&many.free.first()?.1),
        }
    }

    pub(in crate::wallet) fn free_until(&self, end: Timestamp) -> i64 {
        match self {
            Self::Few(few) => {
                let same = few.iter().filter(|lot| lot.expires_at == end);
                same.fold(0, |sum, lot| sum.saturating_add(lot.free()))
            }
            Self::Many(many) => many.ends.get(&end).copied().unwrap_or(0),
        }
    }

    /// The lot to which credits of this source and end are added, if no order brought them.
    pub(in crate::wallet) fn same(&self, source: Reason, end: Timestamp) -> Option<u64> {
        match self {
            Self::Few(few) => {
                let same = few.iter().find(|lot| lot.kind() == Some((end, source)));
                same.map(|lot| lot.number)
            }
            Self::Many(many) => many.kinds.get(&(end, source)).copied(),
        }
    }

    pub(in crate::wallet) fn of_cycle(&self, cycle: CycleTag) -> Vec<u64> {
        match self {
            Self::Few(few) => {
                let own = few.iter().filter(|lot| lot.cycle == Some(cycle));
                own.map(|lot| lot.number).collect()
            }
            Self::Many(many) => {
                let own = many.cycles.range((cycle, 0)..=(cycle, u64::MAX));
                own.map(|&(_, number)| number).collect()
            }
        }
    }

    /// All lots in burn order. Visits each.
    pub(in crate::wallet) fn in_burn_order(&self) -> Vec<&Lot> {
        match self {
            Self::Few(few) => few.iter().collect(),
            Self::Many(many) => {
                let mut all: Vec<_> = many.lots.values().collect();
                all.sort_unstable_by_key(|lot| lot.place());
                all
            }
        }
    }

    pub(in crate::wallet) fn insert(&mut self, lot: Lot) {
        if let Self::Few(few) = self {
            if few.len() < MAX_LISTED {
                let place = few.partition_point(|other| other.place() < lot.place());
                few.insert(place, lot);
                return;
            }
            *self = Self::Many(Box::new(few.drain(..).collect()));
        }
        if let Self::Many(many) = self {
            many.insert(lot);
        }
    }

    /// Changes a lot and updates the indexes. Removes it if it is empty then.
    pub(in crate::wallet) fn update<R>(
        &mut self,
        number: u64,
        change: impl FnOnce(&mut Lot) -> R,
    ) -> Option<R> {
        visit();
        match self {
            Self::Few(few) => {
                let place = few.iter().position(|lot| lot.number == number)?;
                let lot = few.get_mut(place)?;
                let end = lot.expires_at;
                let result = change(lot);
                if lot.left == 0 {
                    few.remove(place);
                } else if lot.expires_at != end {
                    few.sort_unstable_by_key(Lot::place);
                }
                Some(result)
            }
            Self::Many(many) => {
                let result = many.update(number, change)?;
                if many.lots.len() <= MAX_LISTED / 2 {
                    let few = std::mem::take(&mut many.lots).into_values();
                    *self = few.collect();
                }
                Some(result)
            }
        }
    }
}

impl Many {
    fn insert(&mut self, lot: Lot) {
        self.enter(&lot);
        self.lots.insert(lot.number, lot);
    }

    fn update<R>(&mut self, number: u64, change: impl FnOnce(&mut Lot) -> R) -> Option<R> {
        let mut lot = self.lots.remove(&number)?;
        self.leave(&lot);
        let result = change(&mut lot);
        if lot.left > 0 {
            self.insert(lot);
        }
        Some(result)
    }

    fn enter(&mut self, lot: &Lot) {
        if lot.free() > 0 {
            self.free.insert(lot.place());
            let sum = self.ends.entry(lot.expires_at).or_insert(0);
            *sum = sum.saturating_add(lot.free());
        }
        if let Some(kind) = lot.kind() {
            self.kinds.insert(kind, lot.number);
        }
        if let Some(cycle) = lot.cycle {
            self.cycles.insert((cycle, lot.number));
        }
    }

    fn leave(&mut self, lot: &Lot) {
        if self.free.remove(&lot.place())
            && let Some(sum) = self.ends.get_mut(&lot.expires_at)
        {
            *sum = sum.saturating_sub(lot.free());
            if *sum == 0 {
                self.ends.remove(&lot.expires_at);
            }
        }
        if let Some(kind) = lot.kind() {
            self.kinds.remove(&kind);
        }
        if let Some(cycle) = lot.cycle {
            self.cycles.remove(&(cycle, lot.number));
        }
    }
}

impl FromIterator<Lot> for Many {
    fn from_iter<I: IntoIterator<Item = Lot>>(lots: I) -> Self {
        let mut many = Self::default();
        lots.into_iter().for_each(|lot| many.insert(lot));
        many
    }
}

impl FromIterator<Lot> for Lots {
    fn from_iter<I: IntoIterator<Item = Lot>>(lots: I) -> Self {
        let mut all = Self::new();
        lots.into_iter().for_each(|lot| all.insert(lot));
        all
    }
}

/// A list in burn order, for either variant.
impl Serialize for Lots {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.in_burn_order())
    }
}

impl From<Vec<Lot>> for Lots {
    fn from(lots: Vec<Lot>) -> Self {
        lots.into_iter().collect()
    }
}

impl PartialEq for Lots {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.in_burn_order() == other.in_burn_order()
    }
}

impl Eq for Lots {}

#[cfg(not(test))]
const fn visit() {}

#[cfg(test)]
pub(in crate::wallet) use visits::{taken as visits_taken, visit};

/// Counts the look-ups of lots, so that tests can tell what an operation costs.
#[cfg(test)]
mod visits {
    use std::cell::Cell;

    thread_local! {
        static VISITS: Cell<u64> = const { Cell::new(0) };
    }

    pub(in crate::wallet) fn visit() {
        VISITS.set(VISITS.get().saturating_add(1));
    }

    /// The count since the last call.
    pub(in crate::wallet) fn taken() -> u64 {
        VISITS.take()
    }
}
