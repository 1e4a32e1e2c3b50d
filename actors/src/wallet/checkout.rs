//! Checks before a buyer is sent to the provider.

use domain::{Quantity, id::PublicSubscriptionId, terms::Terms, text::CustomerId};

use super::{Command, Turn};
use crate::answer::Error;

/// Checks that the wallet would accept an order with these terms and quantity; answers the provider's customer,
/// or `None` where the owner is not one yet.
pub(crate) struct CheckOrder(pub(crate) Terms, pub(crate) Quantity);

impl Command for CheckOrder {
    type Answer = Option<CustomerId>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Option<CustomerId>, Error> {
        let wallet = turn.wallet()?;
        wallet.check_order(&self.0, self.1)?;
        Ok(wallet.customer().cloned())
    }
}

/// Answers the provider's customer whose portal the wallet's owner may open: that of this subscription, or of the
/// current one.
pub(crate) struct PortalCustomer(pub(crate) Option<PublicSubscriptionId>);

impl Command for PortalCustomer {
    type Answer = CustomerId;

    fn run(self, turn: &mut Turn<'_>) -> Result<CustomerId, Error> {
        Ok(turn.wallet()?.portal_customer(self.0)?.clone())
    }
}
