//! The end of what a wallet has open with a provider that its project has no more.

use domain::{Rejection, wallet::Archived};

use super::{Turn, Verb};
use crate::answer::Error;

/// See [`Wallet::open_with_provider`](domain::wallet::Wallet::open_with_provider).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leave;

/// What was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Pending orders, which expired.
    pub orders: usize,
    /// Subscriptions.
    pub subscriptions: usize,
}

impl Verb for Leave {
    type Answer = Left;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    /// Each by itself: an append takes no more than so many events, and what is not ended yet is found
    /// again.
    fn run(self, turn: &mut Turn<'_>) -> Result<Left, Error> {
        let open = turn.wallet()?.open_with_provider();
        for &order in &open.orders {
            let wallet = turn.wallet()?;
            let events = wallet.expire_order(order, Archived::default(), turn.now())?;
            turn.together(events)?;
        }
        for subscription in &open.subscriptions {
            let events = turn.wallet()?.end_subscription(subscription, turn.now());
            turn.together(events)?;
        }
        Ok(Left {
            orders: open.orders.len(),
            subscriptions: open.subscriptions.len(),
        })
    }
}
