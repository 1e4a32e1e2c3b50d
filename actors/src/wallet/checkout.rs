//! What has to be known before a buyer is sent to the provider.

use domain::{
    terms::Terms,
    text::{CustomerId, Email},
    wallet::Owner,
};

use super::{Turn, Verb};
use crate::answer::Error;

/// Who buys, if an order under these terms is welcome; `None`: the provider does not know the
/// wallet's owner yet.
pub(crate) struct Checkout(pub(crate) Terms);

impl Verb for Checkout {
    type Answer = Option<CustomerId>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Option<CustomerId>, Error> {
        let wallet = turn.wallet()?;
        wallet.may_order(&self.0)?;
        Ok(wallet.customer().cloned())
    }
}

/// Whose portal can be opened.
pub(crate) struct PortalCustomer;

impl Verb for PortalCustomer {
    type Answer = CustomerId;

    fn run(self, turn: &mut Turn<'_>) -> Result<CustomerId, Error> {
        Ok(turn.wallet()?.portal_customer()?.clone())
    }
}

/// The encrypted code of an anonymous wallet, if it has a paid order of this address. Addresses are
/// compared without regard to case: nobody means another mailbox by it.
pub(crate) struct PaidBy(pub(crate) Email);

impl Verb for PaidBy {
    type Answer = Option<Box<[u8]>>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Option<Box<[u8]>>, Error> {
        let wallet = turn.wallet()?;
        let wanted = self.0.as_str().to_lowercase();
        let paid = wallet
            .paid_emails()
            .any(|known| known.as_str().to_lowercase() == wanted);
        Ok(match &wallet.owner {
            Owner::Code { sealed, .. } if paid => Some(sealed.clone()),
            Owner::Code { .. } | Owner::External(_) | Owner::Order => None,
        })
    }
}
