//! Wallets by the identifier that callers see, which does not contain the wallet's key.

use domain::{
    id::{WalletId, WalletKey},
    wallet::{Change, Event},
};

use super::{LookUp, LookUpSpec, Put, joined};
use crate::contract::{Books, Error};

/// Key: identifier. Value: wallet.
pub(super) const IDS: LookUpSpec = LookUpSpec {
    name: "ids",
    key: 16,
    value: 16,
    changes,
};

fn changes(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    if let Change::Created(created) = &event.change {
        let id = created.id.0.to_be_bytes();
        put(joined(&[&id]), Some(joined(&[&wallet.0])));
    }
}

impl dyn Books + '_ {
    /// The key of the wallet with this identifier.
    ///
    /// # Errors
    ///
    /// The books cannot be read.
    pub fn wallet(&self, id: WalletId) -> Result<Option<WalletKey>, Error> {
        let found = self.find(LookUp::Ids, &id.0.to_be_bytes())?;
        found.map(|value| super::orders::wallet(&value)).transpose()
    }
}
