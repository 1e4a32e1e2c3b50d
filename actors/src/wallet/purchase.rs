//! Purchases as the provider, a buyer or the clock tell of them. What such a report changes becomes
//! durable, and so visible, together; one that changes nothing is answered like one that did.

use domain::{
    Rejection,
    id::WalletKey,
    wallet::{Change, Created, Event, Wallet, purchase::Purchase},
};

use super::{Turn, Verb};
use crate::answer::Error;

/// A report of a purchase. A wallet that does not exist is made by `created`, together with what is
/// decided for it.
pub(crate) struct Report {
    pub(crate) key: WalletKey,
    pub(crate) purchase: Purchase,
    pub(crate) created: Option<Created>,
}

impl Verb for Report {
    /// Whether anything changed.
    type Answer = bool;
    const ABSENT: Rejection = Rejection::OrderNotFound;
    const CREATES_ALONG: bool = true;

    fn creates(&self) -> Option<&Created> {
        self.created.as_ref()
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<bool, Error> {
        let events = match turn.wallet() {
            Ok(wallet) => wallet.purchase(self.purchase, turn.now())?,
            Err(_) => self.begin(turn)?,
        };
        let changed = !events.is_empty();
        if changed {
            turn.together(events)?;
        }
        Ok(changed)
    }
}

impl Report {
    /// Decides on a wallet as it would be. One for which there is nothing to do is not made.
    fn begin(self, turn: &Turn<'_>) -> Result<Vec<Event>, Error> {
        let created = self.created.ok_or(Rejection::OrderNotFound)?;
        let now = turn.now();
        let wallet = Wallet::born(self.key, now, created.clone());
        let mut events = wallet.purchase(self.purchase, now)?;
        if !events.is_empty() {
            let change = Change::Created(Box::new(created));
            events.insert(0, Event { at: now, change });
        }
        Ok(events)
    }
}
