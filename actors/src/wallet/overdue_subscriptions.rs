//! Finds a wallet's overdue subscriptions, which the provider should have renewed or ended by now.

use domain::{Timestamp, text::SubscriptionId};

use super::{Command, Turn};
use crate::answer::Error;

/// Answers the subscriptions whose periods ended at this instant or before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FindOverdueSubscriptions(pub(crate) Timestamp);

impl Command for FindOverdueSubscriptions {
    type Answer = Vec<SubscriptionId>;
    const READ_ONLY: bool = true;

    fn run(self, turn: &mut Turn<'_>) -> Result<Vec<SubscriptionId>, Error> {
        let all = turn.wallet()?.subscriptions();
        let overdue = all.filter(|subscription| subscription.current_period_end <= self.0);
        Ok(overdue
            .map(|subscription| subscription.id.clone())
            .collect())
    }
}
