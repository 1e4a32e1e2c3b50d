//! What has to be known before a buyer is sent to the provider.

use domain::{terms::Terms, text::CustomerId, wallet::Owner};

use super::{Caller, Rules, state::WalletState};
use crate::answer::Error;

impl WalletState {
    /// Who buys, if an order under these terms is welcome; `None`: the provider does not know the
    /// wallet's owner yet.
    pub(super) fn checkout(
        &mut self,
        caller: Caller,
        rules: &Rules,
        terms: &Terms,
    ) -> Result<Option<CustomerId>, Error> {
        self.up_to_date(caller, rules)?;
        let wallet = self.existing()?;
        wallet.may_order(terms)?;
        Ok(wallet.customer().cloned())
    }

    /// Whose portal can be opened.
    pub(super) fn customer(&mut self, caller: Caller, rules: &Rules) -> Result<CustomerId, Error> {
        self.up_to_date(caller, rules)?;
        Ok(self.existing()?.portal_customer()?.clone())
    }

    /// The encrypted code of a wallet that was found by the address under which somebody paid for it,
    /// if it is opened by one.
    pub(super) fn paid_by(
        &mut self,
        caller: Caller,
        rules: &Rules,
    ) -> Result<Option<Box<[u8]>>, Error> {
        self.up_to_date(caller, rules)?;
        Ok(match &self.existing()?.owner {
            Owner::Code { sealed, .. } => Some(sealed.clone()),
            Owner::External(_) | Owner::Order => None,
        })
    }
}
