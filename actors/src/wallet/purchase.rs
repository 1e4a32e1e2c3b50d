//! Purchases as the provider, a buyer or the clock tell of them. What such a report changes becomes
//! durable, and so visible, together; one that changes nothing is answered like one that did.

use domain::{
    Rejection,
    history::{Lookup, Record},
    id::{CodeHash, OrderSerial},
    text::SubscriptionId,
    wallet::{Archived, Change, Created, Event, Wallet, purchase::Purchase},
};

use super::{Caller, Rules, state::WalletState};
use crate::answer::Error;

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Purchased {
    /// Whether anything changed.
    pub(crate) changed: bool,
    /// The code that opens the wallet from now on, where this payment minted one.
    pub(crate) minted: Option<CodeHash>,
}

impl WalletState {
    /// A wallet that does not exist is made by `created`, together with what is decided for it.
    pub(super) fn purchase(
        &mut self,
        caller: Caller,
        rules: &Rules,
        command: Purchase,
        created: Option<Created>,
    ) -> Result<Purchased, Error> {
        let events = match &self.wallet {
            Some(_) => {
                let now = self.at_order(caller, rules)?;
                let order = self.archived_order(command.order())?;
                let archived = Archived {
                    order: order.as_ref().and_then(Record::order),
                    subscription_over: self.is_over(command.subscription())?,
                };
                self.existing()?.purchase(command, archived, now)?
            }
            None => self.begin(rules, command, created)?,
        };
        let minted = events.iter().find_map(|event| match &event.change {
            Change::CodeRotated { hash, .. } => Some(*hash),
            _ => None,
        });
        let changed = !events.is_empty();
        if changed {
            self.log_together(events)?;
        }
        Ok(Purchased { changed, minted })
    }

    /// The last record of an order that was settled.
    pub(super) fn archived_order(
        &self,
        order: Option<OrderSerial>,
    ) -> Result<Option<Record>, Error> {
        let found = order.map(|order| self.prior(Lookup::Order(order)));
        found.transpose().map(Option::flatten)
    }

    fn is_over(&self, subscription: Option<&SubscriptionId>) -> Result<bool, Error> {
        let lookup = subscription.map(|id| Lookup::Subscription(id.as_str()));
        let found = lookup.map(|lookup| self.prior(lookup));
        Ok(found.transpose()?.flatten().is_some())
    }

    /// Decides on a wallet as it would be. One for which there is nothing to do is not made.
    fn begin(
        &self,
        rules: &Rules,
        command: Purchase,
        created: Option<Created>,
    ) -> Result<Vec<Event>, Error> {
        let created = created.ok_or(Rejection::OrderNotFound)?;
        let now = self.now(rules);
        let first = Event {
            at: now,
            change: Change::Created(Box::new(created)),
        };
        let replayed = Wallet::replay(None, self.key, first.clone());
        // A first event fits whatever it says; were it otherwise, nothing has happened yet.
        let (wallet, _) = replayed.map_err(|_| Error::Unavailable)?;
        let mut events = wallet.purchase(command, Archived::default(), now)?;
        if !events.is_empty() {
            events.insert(0, first);
        }
        Ok(events)
    }
}
