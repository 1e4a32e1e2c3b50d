//! A wallet as it is stored: its fields, without those that are derived from others. When it is read back, the
//! invariants of every wallet are checked, because a disk is not to be trusted: an error here is better than
//! credits made up by a flipped bit.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Wallet, order::Stage};

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
    /// Recomputes the derived fields and checks the invariants. `Err`: the first fault.
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

/// Wallets are equal if they come from the same events. `due_at` is not compared: it may be too early (after a lot
/// was spent before its end), which only costs a look.
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
            session_epoch,
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
            && *session_epoch == other.session_epoch
            && *accounts == other.accounts
            && *holds == other.holds
            && *features == other.features
            && *commerce == other.commerce
    }
}

impl Eq for Wallet {}
