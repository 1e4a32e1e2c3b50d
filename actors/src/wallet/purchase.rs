//! Applies reports about purchases, from the provider, a buyer or the clock. All changes of one report become durable
//! and visible together; a report without changes succeeds too.

use domain::{
    Rejection,
    history::{Record, RecordKey},
    wallet::{Archive, Change, Event, Wallet, purchase::Purchase},
};

use super::{Command, Turn};
use crate::answer::Error;

/// A report of a purchase. A missing wallet is created in the same append.
pub(crate) struct ReportPurchase {
    pub(crate) key: domain::id::WalletKey,
    pub(crate) purchase: Purchase,
}

impl Command for ReportPurchase {
    /// Whether anything changed.
    type Answer = bool;
    const ABSENT: Rejection = Rejection::OrderNotFound;
    const CREATES_WALLET: bool = true;

    fn run(self, turn: &mut Turn<'_>) -> Result<bool, Error> {
        let events = match turn.wallet() {
            Ok(wallet) => {
                let order = self.purchase.order().map(RecordKey::Order);
                let order = order.map(|order| turn.prior(order)).transpose()?.flatten();
                let over = self.purchase.subscription();
                let over = over.map(|over| turn.prior(RecordKey::Subscription(over.as_str())));
                let archived = Archive {
                    order: order.as_ref().and_then(Record::order),
                    subscription_over: over.transpose()?.flatten().is_some(),
                };
                wallet.purchase(self.purchase, archived, turn.now())?
            }
            Err(_) => self.begin(turn)?,
        };
        let changed = !events.is_empty();
        if changed {
            turn.together(events)?;
        }
        Ok(changed)
    }
}

impl ReportPurchase {
    /// Decides on a wallet that does not exist yet; it is created only if something changes.
    fn begin(self, turn: &Turn<'_>) -> Result<Vec<Event>, Error> {
        let created = turn.created().ok_or(Rejection::OrderNotFound)?;
        let now = turn.now();
        let wallet = Wallet::born(self.key, now, created.clone());
        let mut events = wallet.purchase(self.purchase, Archive::default(), now)?;
        if !events.is_empty() {
            let change = Change::Created(Box::new(created.clone()));
            events.insert(0, Event { at: now, change });
        }
        Ok(events)
    }
}
