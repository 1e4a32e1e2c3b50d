//! Wallets by the identifier that callers see, which does not contain the wallet's key.

use domain::{
    id::WalletKey,
    wallet::{Change, Event},
};

use super::spec::{LookUpSpec, Put, joined, nothing_moves};

/// Key: identifier. Value: wallet.
pub(super) const IDS: LookUpSpec = LookUpSpec {
    name: "ids",
    key: 16,
    value: 16,
    changes,
    moves: nothing_moves,
};

fn changes(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    if let Change::Created(created) = &event.change {
        let id = created.id.0.to_be_bytes();
        put(joined(&[&id]), Some(joined(&[&wallet.0])));
    }
}
