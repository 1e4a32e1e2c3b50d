//! What a wallet's owner sees.

use domain::{
    Timestamp,
    wallet::{Account, Owner, Wallet},
};

use super::{Turn, Verb};
use crate::answer::{Balance, Error, Subscription, WalletView};

/// Reads a wallet.
pub(crate) struct Read;

impl Verb for Read {
    type Answer = WalletView;

    fn run(self, turn: &mut Turn<'_>) -> Result<WalletView, Error> {
        Ok(view(turn.wallet()?, turn.now()))
    }
}

pub(super) fn view(wallet: &Wallet, now: Timestamp) -> WalletView {
    WalletView {
        id: wallet.id,
        external_user: match &wallet.owner {
            Owner::External(user) => Some(user.clone()),
            Owner::Code { .. } | Owner::Order => None,
        },
        balances: wallet.accounts().iter().map(balance).collect(),
        features: features(wallet, now),
        subscriptions: wallet.subscriptions().map(Subscription::from).collect(),
    }
}

pub(super) fn features(wallet: &Wallet, now: Timestamp) -> Vec<String> {
    let features = wallet.features(now).into_iter();
    features.map(str::to_owned).collect()
}

fn balance(account: &Account) -> Balance {
    Balance {
        product: account.product,
        balance: account.available(),
        held: account.held,
        next_expiry: account.next_expiry(),
    }
}
