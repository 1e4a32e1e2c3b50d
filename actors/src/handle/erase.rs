//! Erases personal data of a wallet's orders, and finds wallets by it.

use domain::{
    Rejection,
    id::WalletKey,
    text::Email,
    wallet::{
        purchase::{OrderReport, Purchase},
        top_up::{SetEmail, SetTopUp},
    },
};
use persistence::{OrderPosition, WalletName};

use super::{Address, Handle, Scope, orders::looked_up};
use crate::answer::Error;

const PAGE_SIZE: usize = 100;

impl Handle {
    /// Erases a wallet's own address and its card with all that it was to be charged for, and then the buyer's address and
    /// the metadata of all orders, one by one, so that a repeat finishes an interrupted call. Returns how many orders.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn erase(&self, scope: &Scope, address: &Address) -> Result<usize, Error> {
        let wallet = self.read(scope, address).await?.key;
        let off = SetTopUp {
            rule: None,
            charge_now: false,
            needs_fresh_card: false,
        };
        self.set_top_up(scope, address, off).await?;
        self.remove_card(scope, address, None).await?;
        self.ask_at(scope, address, SetEmail(None)).await?;
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
