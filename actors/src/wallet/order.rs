//! Reads an order. The caller names the order and not its wallet: without a wallet, it is the order that
//! is not found.

use domain::{
    Rejection,
    history::{Record, RecordKey},
    id::{OrderSerial, WalletId},
    wallet::{Order, Owner},
};

use super::{Command, Turn};
use crate::answer::Error;

/// An order, and its wallet's present state.
pub(crate) struct OrderInWallet {
    pub(crate) order: Order,
    pub(crate) wallet: WalletId,
    pub(crate) owner: Owner,
    /// Whether the wallet's code is still the one that the order was placed under, or minted.
    pub(crate) code_of_the_order: bool,
    /// Credits of the order's product that can be spent now.
    pub(crate) balance: i64,
}

pub(crate) struct FindOrder(pub(crate) OrderSerial);

impl Command for FindOrder {
    type Answer = OrderInWallet;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<OrderInWallet, Error> {
        let wallet = turn.wallet()?;
        let archived = match wallet.order(self.0) {
            Some(_) => None,
            None => turn.prior(RecordKey::Order(self.0))?,
        };
        let archived = archived.as_ref().and_then(Record::order);
        let archived = archived.map(|archived| &archived.order);
        let order = wallet.order(self.0).or(archived);
        let order = order.ok_or(Rejection::OrderNotFound)?;
        Ok(OrderInWallet {
            wallet: wallet.id,
            owner: wallet.owner.clone(),
            code_of_the_order: wallet.has_code_of_order(order),
            balance: wallet.available(order.terms.fills),
            order: order.clone(),
        })
    }
}
