//! What a wallet's owner sees.

use domain::wallet::{Account, Owner};

use super::{Caller, Rules, state::WalletState};
use crate::answer::{Balance, Error, Subscription, WalletView};

impl WalletState {
    pub(super) fn read(&mut self, caller: Caller, rules: &Rules) -> Result<WalletView, Error> {
        self.up_to_date(caller, rules)?;
        self.view(rules)
    }

    pub(super) fn view(&self, rules: &Rules) -> Result<WalletView, Error> {
        let wallet = self
            .wallet
            .as_ref()
            .ok_or(domain::Rejection::WalletNotFound)?;
        Ok(WalletView {
            id: wallet.id,
            external_user: match &wallet.owner {
                Owner::External(user) => Some(user.clone()),
                Owner::Code { .. } | Owner::Order => None,
            },
            balances: wallet.accounts().iter().map(balance).collect(),
            features: wallet
                .features(self.now(rules))
                .into_iter()
                .map(str::to_owned)
                .collect(),
            subscriptions: wallet.subscriptions().map(Subscription::from).collect(),
        })
    }
}

fn balance(account: &Account) -> Balance {
    Balance {
        product: account.product,
        balance: account.available(),
        held: account.held,
        next_expiry: account.next_expiry(),
    }
}
