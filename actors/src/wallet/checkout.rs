//! What has to be known before a buyer is sent to the provider.

use domain::{Quantity, terms::Terms, text::CustomerId};

use super::{Turn, Verb};
use crate::answer::Error;

/// Who buys, if an order of so many under these terms is welcome; `None`: the provider does not know the
/// wallet's owner yet.
pub(crate) struct Checkout(pub(crate) Terms, pub(crate) Quantity);

impl Verb for Checkout {
    type Answer = Option<CustomerId>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Option<CustomerId>, Error> {
        let wallet = turn.wallet()?;
        wallet.may_order(&self.0, self.1)?;
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
