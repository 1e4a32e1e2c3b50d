//! An order as it stands. It is named by itself: whatever keeps its wallet away, it is the order that
//! is not found.

use domain::{
    Rejection, Timestamp,
    history::Record,
    id::{OrderSerial, WalletId},
    wallet::{Order, Owner, Wallet},
};

use super::{Caller, Rules, state::WalletState};
use crate::answer::Error;

/// An order, and what its wallet says beside it.
pub(crate) struct OrderParts {
    pub(crate) order: Order,
    pub(crate) wallet: WalletId,
    pub(crate) owner: Owner,
    /// Credits of the order's product that can be spent now.
    pub(crate) balance: i64,
}

impl WalletState {
    pub(super) fn order(
        &mut self,
        caller: Caller,
        rules: &Rules,
        order: OrderSerial,
    ) -> Result<OrderParts, Error> {
        self.at_order(caller, rules)?;
        let wallet = self.existing()?;
        let archived = match wallet.order(order) {
            Some(_) => None,
            None => self.archived_order(Some(order))?,
        };
        let archived = archived.as_ref().and_then(Record::order);
        let archived = archived.map(|archived| &archived.order);
        let order = wallet.order(order).or(archived);
        let order = order.ok_or(Rejection::OrderNotFound)?;
        Ok(OrderParts {
            wallet: wallet.id,
            owner: wallet.owner.clone(),
            balance: wallet.available(order.terms.fills),
            order: order.clone(),
        })
    }

    pub(super) fn at_order(&mut self, caller: Caller, rules: &Rules) -> Result<Timestamp, Error> {
        self.up_to_date(caller, rules).map_err(|error| match error {
            Error::Rejected(Rejection::WalletNotFound) => Rejection::OrderNotFound.into(),
            other => other,
        })
    }

    pub(super) fn existing(&self) -> Result<&Wallet, Error> {
        let wallet = self.wallet.as_ref();
        wallet.ok_or_else(|| Rejection::WalletNotFound.into())
    }
}
