//! Which subscriptions of a wallet the provider should have told more of by now.

use domain::{Timestamp, text::SubscriptionId};

use super::{Turn, Verb};
use crate::answer::Error;

/// Asks for those whose periods ended at this instant or before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lapsed(pub(crate) Timestamp);

impl Verb for Lapsed {
    type Answer = Vec<SubscriptionId>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Vec<SubscriptionId>, Error> {
        let all = turn.wallet()?.subscriptions();
        let lapsed = all.filter(|known| known.current_period_end <= self.0);
        Ok(lapsed.map(|known| known.id.clone()).collect())
    }
}
