//! Ends a wallet's pending orders and subscriptions of its project's former provider.

use domain::{Rejection, wallet::Archive};

use super::{Command, Turn};
use crate::answer::Error;

#[derive(Debug, Clone, Copy)]
pub(crate) struct EndWithProvider;

/// How much of a wallet was ended with its project's former provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedCounts {
    /// Pending orders that were expired.
    pub orders: usize,
    /// Subscriptions that were ended.
    pub subscriptions: usize,
}

impl Command for EndWithProvider {
    type Answer = EndedCounts;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    /// Ends each separately: an append holds a limited number of events, and a repeated call finds the rest.
    fn run(self, turn: &mut Turn<'_>) -> Result<EndedCounts, Error> {
        let open = turn.wallet()?.open_with_provider();
        for &order in &open.orders {
            let wallet = turn.wallet()?;
            let events = wallet.expire_order(order, Archive::default(), turn.now())?;
            turn.together(events)?;
        }
        for subscription in &open.subscriptions {
            let events = turn.wallet()?.end_subscription(subscription, turn.now());
            turn.together(events)?;
        }
        Ok(EndedCounts {
            orders: open.orders.len(),
            subscriptions: open.subscriptions.len(),
        })
    }
}
