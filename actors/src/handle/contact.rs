//! Where the owner of a wallet is reached.

use domain::{id::WalletKey, text::Email};
use persistence::OrderPosition;

use super::{Handle, Scope, orders::looked_up};
use crate::{
    answer::Error,
    wallet::{Caller, FindMailContact, MailContact},
};

const PAGE_SIZE: usize = 100;

impl Handle {
    /// Where mails about a wallet go.
    /// # Errors
    /// [`domain::Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn mail_contact(
        &self,
        scope: &Scope,
        wallet: WalletKey,
    ) -> Result<MailContact, Error> {
        let place = (wallet, Caller::Administrator(scope.project));
        self.ask(scope, place, FindMailContact).await
    }

    /// All addresses that mails about a wallet may have gone to: its own and those of its orders.
    /// # Errors
    /// [`domain::Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn mail_addresses(
        &self,
        scope: &Scope,
        wallet: WalletKey,
    ) -> Result<Vec<Email>, Error> {
        let own = self.mail_contact(scope, wallet).await?.email;
        let (mut addresses, mut before): (Vec<_>, _) = (own.into_iter().collect(), None);
        loop {
            let places = looked_up(self.books().wallet_orders(wallet, before, PAGE_SIZE))?;
            before = places.last().map(OrderPosition::place);
            let orders = places.iter().map(|place| place.order).collect();
            for answer in self.orders_at(scope, orders).await? {
                let email = answer.order.email;
                addresses.extend(email.filter(|email| !addresses.contains(email)));
            }
            if places.len() < PAGE_SIZE {
                return Ok(addresses);
            }
        }
    }
}
