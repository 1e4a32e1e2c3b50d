//! A wallet as it is stored: its fields without derived ones. Reading it back checks the invariants of every wallet,
//! because a disk is not to be trusted: an error here is better than credits made up by a flipped bit.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{
    Wallet,
    account::{Account, LastFreeGrant},
    debt::Debt,
    order::Stage,
};

impl Serialize for Wallet {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Wallet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(from)?
            .recovered()
            .map_err(D::Error::custom)
    }
}

impl Wallet {
    /// Recomputes the derived fields and checks the invariants. `Err` is the first fault.
    pub(in crate::wallet) fn recovered(mut self) -> Result<Self, String> {
        if let Some(commerce) = self.commerce.as_deref_mut() {
            let orders = commerce.orders.iter();
            let waiting = orders.filter(|(_, order)| order.stage == Stage::Pending);
            let pending = waiting.map(|(&serial, order)| (order.expires_at, serial));
            commerce.pending = pending.collect();
        }
        if let Some(fault) = self.faults().into_iter().next() {
            return Err(fault);
        }
        self.refresh_due();
        Ok(self)
    }
}

/// Compares what events determine, without `due_at`: it may be too early after a lot was spent before its end, which
/// costs only a check.
impl PartialEq for Wallet {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            key,
            id,
            project,
            owner,
            created_at,
            touched_at,
            used_at,
            version,
            records,
            rotations,
            session_epoch,
            accounts,
            holds,
            features,
            frozen,
            due_at: _,
            commerce,
        } = self;
        *key == other.key
            && *id == other.id
            && *project == other.project
            && *owner == other.owner
            && *created_at == other.created_at
            && *touched_at == other.touched_at
            && *used_at == other.used_at
            && *version == other.version
            && *records == other.records
            && *rotations == other.rotations
            && *session_epoch == other.session_epoch
            && *accounts == other.accounts
            && *holds == other.holds
            && *features == other.features
            && *frozen == other.frozen
            && *commerce == other.commerce
    }
}

impl Eq for Wallet {}

/// The optional parts of an account under one tag: the usual account takes no byte for a missing debt.
#[derive(Serialize, Deserialize)]
enum Marks {
    Neither,
    Free(LastFreeGrant),
    Debt(Debt),
    Both(LastFreeGrant, Debt),
    /// A debt with what holds gave back.
    GivenBack(Option<LastFreeGrant>, Debt, i64),
}

impl Serialize for Account {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let marks = match (self.free, self.debt.as_deref().copied()) {
            (free, Some(debt)) if debt.given_back != 0 => {
                Marks::GivenBack(free, debt, debt.given_back)
            }
            (None, None) => Marks::Neither,
            (Some(free), None) => Marks::Free(free),
            (None, Some(debt)) => Marks::Debt(debt),
            (Some(free), Some(debt)) => Marks::Both(free, debt),
        };
        let Self {
            product,
            balance,
            held,
            lots,
            next_lot,
            last_taken,
            ..
        } = self;
        (product, balance, held, marks, lots, next_lot, last_taken).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Account {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (product, balance, held, marks, lots, next_lot, last_taken) =
            Deserialize::deserialize(from)?;
        let (free, debt) = match marks {
            Marks::Neither => (None, None),
            Marks::Free(free) => (Some(free), None),
            Marks::Debt(debt) => (None, Some(debt)),
            Marks::Both(free, debt) => (Some(free), Some(debt)),
            Marks::GivenBack(free, debt, given_back) => {
                let debt = Debt { given_back, ..debt };
                (free, Some(debt))
            }
        };
        Ok(Self {
            product,
            balance,
            held,
            free,
            debt: debt.map(Box::new),
            lots,
            next_lot,
            last_taken,
        })
    }
}
