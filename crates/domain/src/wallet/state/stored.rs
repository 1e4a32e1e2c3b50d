//! A wallet as it is stored: its fields without derived ones. Reading it back checks the invariants of every wallet,
//! because a disk is not to be trusted: an error here is better than credits made up by a flipped bit.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Wallet, order::Stage};
use crate::time::Timestamp;

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

/// The earliest instant at which something of a wallet is due. It makes no two wallets differ: it may be too early after a
/// lot was spent before its end, which costs only a check.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::wallet) struct DueAt(pub(in crate::wallet) Timestamp);

impl PartialEq for DueAt {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for DueAt {}
