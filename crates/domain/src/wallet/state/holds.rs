//! A wallet's open holds, found by their identifiers and by when they expire.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize, Serializer};

use crate::{
    history::{HoldRate, HoldSnapshot, HoldStatus},
    id::{HoldId, ProductId},
    limit::Counted,
    text::{IdempotencyKey, Meta},
    time::Timestamp,
};

/// Credits set aside for work whose cost is not known yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Hold {
    pub product: ProductId,
    /// Credits set aside when it was placed, 0 or more.
    pub amount: i64,
    /// The lots that they come from, by number and credits; more than `amount` once more was drawn.
    pub pins: Vec<(u64, i64)>,
    /// When it expires and gives them back.
    pub expires_at: Timestamp,
    pub key: IdempotencyKey,
    pub meta: Option<Meta>,
    /// Whether a publishable key placed it. Then it is released when the recovery code is replaced.
    pub publishable: bool,
    /// How often the wallet's code had been replaced when it was placed.
    pub rotations: u32,
    /// Drawn credits, charged already although their lots stay pinned.
    pub drawn: i64,
    pub max_overrun: i64,
    pub rate: Option<Box<HoldRate>>,
    /// Who placed it, and where limits count it.
    pub counted: Option<Box<Counted>>,
}

impl Hold {
    /// What callers see of an open hold.
    pub fn facts(&self, id: HoldId) -> HoldSnapshot {
        HoldSnapshot {
            id,
            product: self.product,
            amount: self.amount,
            status: HoldStatus::Open,
            settled: 0,
            expires_at: self.expires_at,
            drawn: self.drawn,
            max_overrun: self.max_overrun,
            publishable: self.publishable,
            rotations: self.rotations,
            owed: 0,
            uncovered: 0,
            rate: self.rate.clone(),
            counted: self.counted.clone(),
        }
    }

    /// Credits that it still sets aside.
    pub(in crate::wallet) const fn left(&self) -> i64 {
        self.pinned().saturating_sub(self.drawn)
    }

    /// Credits that are pinned: what was set aside, or what was drawn if that is more.
    pub const fn pinned(&self) -> i64 {
        if self.drawn > self.amount {
            self.drawn
        } else {
            self.amount
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "BTreeMap<HoldId, Hold>")]
pub(in crate::wallet) struct Holds {
    open: BTreeMap<HoldId, Hold>,
    ends: BTreeSet<(Timestamp, HoldId)>,
}

impl Holds {
    pub(in crate::wallet) const fn new() -> Self {
        Self {
            open: BTreeMap::new(),
            ends: BTreeSet::new(),
        }
    }

    pub(in crate::wallet) const fn open(&self) -> &BTreeMap<HoldId, Hold> {
        &self.open
    }

    pub(in crate::wallet) fn first_expiring(&self) -> Option<(Timestamp, HoldId)> {
        self.ends.first().copied()
    }

    /// Adds a hold; `false` if the identifier is taken.
    pub(in crate::wallet) fn insert(&mut self, id: HoldId, hold: Hold) -> bool {
        self.ends.insert((hold.expires_at, id));
        let former = self.open.insert(id, hold);
        if let Some(former) = &former {
            self.ends.remove(&(former.expires_at, id));
        }
        former.is_none()
    }

    pub(in crate::wallet) fn get_mut(&mut self, id: &HoldId) -> Option<&mut Hold> {
        self.open.get_mut(id)
    }

    pub(in crate::wallet) fn remove(&mut self, id: &HoldId) -> Option<Hold> {
        let hold = self.open.remove(id)?;
        self.ends.remove(&(hold.expires_at, *id));
        Some(hold)
    }

    /// Sets when a hold expires; `false` if it is not open.
    pub(in crate::wallet) fn extend(&mut self, id: HoldId, expires_at: Timestamp) -> bool {
        let Some(hold) = self.open.get_mut(&id) else {
            return false;
        };
        self.ends.remove(&(hold.expires_at, id));
        hold.expires_at = expires_at;
        self.ends.insert((expires_at, id))
    }
}

impl From<BTreeMap<HoldId, Hold>> for Holds {
    fn from(open: BTreeMap<HoldId, Hold>) -> Self {
        let ends = open.iter().map(|(&id, hold)| (hold.expires_at, id));
        let ends = ends.collect();
        Self { open, ends }
    }
}

impl Serialize for Holds {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.open.serialize(to)
    }
}
