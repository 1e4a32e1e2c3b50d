//! A wallet's open holds, found by their identifiers and by when they expire.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize, Serializer};

use super::Hold;
use crate::{id::HoldId, time::Timestamp};

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "BTreeMap<HoldId, Hold>")]
pub(super) struct Holds {
    open: BTreeMap<HoldId, Hold>,
    /// The identifiers by when the holds expire.
    ends: BTreeSet<(Timestamp, HoldId)>,
}

impl Holds {
    pub(super) const fn new() -> Self {
        Self {
            open: BTreeMap::new(),
            ends: BTreeSet::new(),
        }
    }

    pub(super) const fn open(&self) -> &BTreeMap<HoldId, Hold> {
        &self.open
    }

    /// The hold that expires first.
    pub(super) fn first_expiring(&self) -> Option<(Timestamp, HoldId)> {
        self.ends.first().copied()
    }

    /// Adds a hold; `false` if one had this identifier already.
    pub(super) fn insert(&mut self, id: HoldId, hold: Hold) -> bool {
        self.ends.insert((hold.expires_at, id));
        let former = self.open.insert(id, hold);
        if let Some(former) = &former {
            self.ends.remove(&(former.expires_at, id));
        }
        former.is_none()
    }

    pub(super) fn remove(&mut self, id: &HoldId) -> Option<Hold> {
        let hold = self.open.remove(id)?;
        self.ends.remove(&(hold.expires_at, *id));
        Some(hold)
    }

    /// Sets when a hold expires; `false` if it is not open.
    pub(super) fn extend(&mut self, id: HoldId, expires_at: Timestamp) -> bool {
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
