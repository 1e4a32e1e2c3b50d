//! Erases personal data of a wallet's orders, and finds wallets by it.

use domain::{
    Rejection,
    id::WalletKey,
    text::Email,
    wallet::purchase::{OrderReport, Purchase},
};
use persistence::{OrderPosition, WalletName};

use super::{Address, Handle, Scope, orders::looked_up};
use crate::answer::Error;

const PAGE_SIZE: usize = 100;

impl Handle {
    /// Erases the buyer's address and the metadata of all orders of a wallet, one by one, so that a repeat finishes an
    /// interrupted call. Returns how many.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn erase(&self, scope: &Scope, address: &Address) -> Result<usize, Error> {
        let wallet = self.read(scope, address).await?.key;
        let (mut erased, mut before) = (0_usize, None);
        loop {
            let places = looked_up(self.books().wallet_orders(wallet, before, PAGE_SIZE))?;
            for place in &places {
                let order = Purchase::Report(place.order.serial, OrderReport::Erased);
                match self.report(scope, wallet, order).await {
                    Ok(changed) => erased += usize::from(changed),
                    // It was looked up before its append, which failed.
                    Err(Error::Rejected(Rejection::OrderNotFound)) => {}
                    Err(error) => return Err(error),
                }
            }
            before = places.last().map(OrderPosition::place);
            if places.len() < PAGE_SIZE {
                return Ok(erased);
            }
        }
    }
    /// Whether a wallet is one of the first hundred with a paid order of this email address.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub fn has_buyer(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        email: &Email,
    ) -> Result<bool, Error> {
        let wallets = looked_up(self.books().wallets_of(
            scope.project,
            WalletName::Buyer(email),
            PAGE_SIZE,
        ))?;
        Ok(wallets.contains(&wallet))
    }
}
