//! Erases a buyer's address from payments that lead to no order.

use catalog::ProjectCatalog;
use domain::id::WalletKey;

use super::UnfulfilledPayment;
use crate::{Error, Payments};

const WALLETS: usize = 100;

impl Payments {
    /// Erases the buyer's address from unfulfilled payments, open or decided, for this wallet: an order of it has the
    /// same checkout, subscription, customer or address. Returns how many. To be called before the wallet's orders lose
    /// their addresses; a repeat finishes an interrupted call.
    /// # Errors
    /// Stored data cannot be read, or a payment cannot be stored: see [`Error`].
    pub async fn erase_unfulfilled(
        &self,
        project: &ProjectCatalog,
        wallet: WalletKey,
    ) -> Result<usize, Error> {
        let (list, id) = (self.unfulfilled(), project.project.id);
        let mut erased = 0_usize;
        for entry in list.with_address(id) {
            if !self.is_for(project, &entry, wallet)? {
                continue;
            }
            let _turn = list.lock(id, &entry.payment).await;
            if list.erase(id, &entry.payment).await? {
                erased = erased.saturating_add(1);
            }
        }
        Ok(erased)
    }

    fn is_for(
        &self,
        project: &ProjectCatalog,
        entry: &UnfulfilledPayment,
        wallet: WalletKey,
    ) -> Result<bool, Error> {
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let mut orders = Vec::new();
        if let Some(checkout) = &entry.checkout {
            orders.extend(handle.order_of(scope, checkout)?);
        }
        if let Some(billing) = &entry.billing {
            orders.extend(handle.order_of(scope, &billing.subscription)?);
        }
        if let Some(customer) = &entry.paid.customer {
            orders.extend(handle.orders_of_customer(scope, customer, WALLETS)?);
        }
        if orders.iter().any(|order| order.wallet == wallet) {
            return Ok(true);
        }
        match &entry.paid.email {
            Some(email) => Ok(handle.has_buyer(scope, wallet, email)?),
            None => Ok(false),
        }
    }
}
