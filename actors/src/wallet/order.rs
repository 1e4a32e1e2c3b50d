//! An order as it stands. It is named by itself: whatever keeps its wallet away, it is the order that
//! is not found.

use domain::{
    Rejection,
    history::{Lookup, Record},
    id::{OrderSerial, WalletId},
    wallet::{Order, Owner},
};

use super::{Turn, Verb};
use crate::answer::Error;

/// An order, and what its wallet says beside it.
pub(crate) struct OrderParts {
    pub(crate) order: Order,
    pub(crate) wallet: WalletId,
    pub(crate) owner: Owner,
    /// Whether the wallet's code is still the one that the order was placed under, or minted.
    pub(crate) code_of_the_order: bool,
    /// Credits of the order's product that can be spent now.
    pub(crate) balance: i64,
}

/// Finds an order.
pub(crate) struct FindOrder(pub(crate) OrderSerial);

impl Verb for FindOrder {
    type Answer = OrderParts;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<OrderParts, Error> {
        let wallet = turn.wallet()?;
        let archived = match wallet.order(self.0) {
            Some(_) => None,
            None => turn.prior(Lookup::Order(self.0))?,
        };
        let archived = archived.as_ref().and_then(Record::order);
        let archived = archived.map(|archived| &archived.order);
        let order = wallet.order(self.0).or(archived);
        let order = order.ok_or(Rejection::OrderNotFound)?;
        Ok(OrderParts {
            wallet: wallet.id,
            owner: wallet.owner.clone(),
            code_of_the_order: wallet.opens_with_the_code_of(order),
            balance: wallet.available(order.terms.fills),
            order: order.clone(),
        })
    }
}
