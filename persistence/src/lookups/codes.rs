//! Wallets by their recovery code, if it is not the code that their own key was made from: one that replaced another,
//! or one that a payment minted; and wallets by a code that they had before.

use domain::{
    id::WalletKey,
    wallet::{Change, Event, Owner},
};

use super::spec::{LookUpSpec, Put, joined, nothing_moves};

/// Key: hash of the code. Value: wallet.
pub(super) const CODES: LookUpSpec = LookUpSpec {
    name: "codes",
    key: 16,
    value: 16,
    changes,
    moves: nothing_moves,
};

/// Key: hash of a code that was replaced. Value: wallet. Only an operator's search reads it: to callers such a code opens
/// nothing.
pub(super) const FORMER_CODES: LookUpSpec = LookUpSpec {
    name: "former_codes",
    key: 16,
    value: 16,
    changes: replaced,
    moves: nothing_moves,
};

fn replaced(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    if let Change::CodeRotated {
        former: Some(former),
        ..
    } = &event.change
    {
        put(joined(&[&former.0]), Some(joined(&[&wallet.0])));
    }
}

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
