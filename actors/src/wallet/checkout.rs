//! What has to be known before a buyer is sent to the provider.

use domain::{terms::Terms, text::CustomerId, wallet::Owner};

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

/// The encrypted code of a wallet that was found by the address under which somebody paid for it, if it
/// is opened by one.
pub(crate) struct PaidBy;

impl Verb for PaidBy {
    type Answer = Option<Box<[u8]>>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Option<Box<[u8]>>, Error> {
        Ok(match &turn.wallet()?.owner {
            Owner::Code { sealed, .. } => Some(sealed.clone()),
            Owner::External(_) | Owner::Order => None,
        })
    }
}
