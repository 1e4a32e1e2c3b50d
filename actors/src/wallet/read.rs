//! A wallet as its owner sees it.

use domain::{
    Timestamp,
    project_event::SubscriptionSnapshot,
    wallet::{Account, Owner, Wallet},
};

use super::{Command, Turn};
use crate::answer::{Balance, Error, WalletView};

pub(crate) struct Read;

impl Command for Read {
    type Answer = WalletView;

    fn run(self, turn: &mut Turn<'_>) -> Result<WalletView, Error> {
        Ok(view(turn.wallet()?, turn.now()))
    }
}

pub(super) fn view(wallet: &Wallet, now: Timestamp) -> WalletView {
    WalletView {
        key: wallet.key,
        id: wallet.id,
        created_at: wallet.created_at,
        external_user: match &wallet.owner {
            Owner::External(user) => Some(user.clone()),
            Owner::Code { .. } | Owner::Order => None,
        },
        balances: wallet.accounts().iter().map(balance).collect(),
        frozen: wallet.frozen().cloned(),
        features: features(wallet, now),
        subscriptions: wallet
            .subscriptions()
            .map(|subscription| SubscriptionSnapshot::of(wallet.project, subscription))
            .collect(),
        card: wallet.top_up().and_then(|top_up| top_up.card.clone()),
        email: wallet.email().cloned(),
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
        held: account.set_aside(),
        owed: account.debt().owed,
        next_expiry: account.next_expiry(),
    }
}
