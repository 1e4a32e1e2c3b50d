//! Granting credits by hand.

use domain::{
    history::Lookup,
    wallet::{Created, Decision, credit::Credit},
};

use super::{Caller, Rules, state::WalletState};
use crate::answer::{Applied, Error};

impl WalletState {
    pub(super) fn credit(
        &mut self,
        caller: Caller,
        rules: &Rules,
        command: Credit,
        created: Option<Created>,
    ) -> Result<Applied, Error> {
        self.ensure(rules, created)?;
        let now = self.up_to_date(caller, rules)?;
        let prior = self.prior(Lookup::Grant(command.key.as_str()))?;
        let Some(wallet) = &self.wallet else {
            return Err(domain::Rejection::WalletNotFound.into());
        };
        let product = command.product;
        let applied = match wallet.credit(command, prior.as_ref())? {
            Decision::Replay(_) => false,
            Decision::Accept(change) => {
                self.change(now, change)?;
                // Credits granted with an expiry in the past are gone before anybody sees them.
                self.catch_up(rules, now)?;
                true
            }
        };
        Ok(Applied {
            balance: self.available(product),
            applied,
            replayed: !applied,
        })
    }
}
