//! Ends a wallet's pending orders and subscriptions of its project's former provider.

use domain::Rejection;

use super::{Command, Turn};
use crate::answer::Error;

#[derive(Debug, Clone, Copy)]
pub(crate) struct EndWithProvider;

impl Command for EndWithProvider {
    /// How many were ended.
    type Answer = usize;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    /// A repeated call finds the rest.
    fn run(self, turn: &mut Turn<'_>) -> Result<usize, Error> {
        let mut ended: usize = 0;
        while let Some(events) = turn.wallet()?.end_with_provider(turn.now())? {
            turn.together(events)?;
            ended = ended.saturating_add(1);
        }
        Ok(ended)
    }
}
