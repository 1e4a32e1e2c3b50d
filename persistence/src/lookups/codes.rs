//! Wallets by their recovery code, if it is not the code that their own key was made from: one that replaced another,
//! or one that a payment minted.

use domain::{
    id::WalletKey,
    wallet::{Change, Event, Owner},
};

use super::spec::{LookUpSpec, Put, joined};

/// Key: hash of the code. Value: wallet.
pub(super) const CODES: LookUpSpec = LookUpSpec {
    name: "codes",
    key: 16,
    value: 16,
    changes,
};

fn changes(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    let (former, now) = match &event.change {
        Change::CodeRotated { hash, former, .. } => (*former, *hash),
        Change::Created(created) => match &created.owner {
            Owner::Code { hash, .. } => (None, *hash),
            Owner::External(_) | Owner::Order => return,
        },
        _ => return,
    };
    if let Some(former) = former {
        put(joined(&[&former.0]), None);
    }
    if now.0 != wallet.0 {
        put(joined(&[&now.0]), Some(joined(&[&wallet.0])));
    }
}
