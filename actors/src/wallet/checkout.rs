//! What has to be known before a buyer is sent to the provider.

use domain::{
    terms::Terms,
    text::{CustomerId, Email},
    wallet::Owner,
};

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

    /// The encrypted code of an anonymous wallet, if it has a paid order of this address. Addresses
    /// are compared without regard to case: nobody means another mailbox by it.
    pub(super) fn paid_by(
        &mut self,
        caller: Caller,
        rules: &Rules,
        email: &Email,
    ) -> Result<Option<Box<[u8]>>, Error> {
        self.up_to_date(caller, rules)?;
        let wallet = self.existing()?;
        let wanted = email.as_str().to_lowercase();
        let paid = wallet
            .paid_emails()
            .any(|known| known.as_str().to_lowercase() == wanted);
        Ok(match &wallet.owner {
            Owner::Code { sealed, .. } if paid => Some(sealed.clone()),
            Owner::Code { .. } | Owner::External(_) | Owner::Order => None,
        })
    }
}
