//! Ends a wallet's pending orders and subscriptions of its project's former provider.

use domain::{
    Rejection,
    wallet::{Archive, leave_provider::Open},
};

use super::{Command, Turn};
use crate::answer::Error;

#[derive(Debug, Clone, Copy)]
pub(crate) struct EndWithProvider;

impl Command for EndWithProvider {
    /// What was ended.
    type Answer = Open;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    /// Ends each separately: an append holds a limited number of events, and a repeated call finds the rest.
    fn run(self, turn: &mut Turn<'_>) -> Result<Open, Error> {
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
        Ok(open)
    }
}
