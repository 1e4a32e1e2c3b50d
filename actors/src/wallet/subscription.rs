//! A subscription as it stands, also one that is over.

use domain::{
    Rejection,
    history::{Lookup, Record},
    text::SubscriptionId,
};

use super::{Turn, Verb};
use crate::answer::{Error, Subscription};

/// Finds a subscription by the provider's name for it.
pub(crate) struct FindSubscription(pub(crate) SubscriptionId);

impl Verb for FindSubscription {
    type Answer = Subscription;
    const ABSENT: Rejection = Rejection::SubscriptionNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<Subscription, Error> {
        if let Some(current) = turn.wallet()?.subscription(&self.0) {
            return Ok(current.into());
        }
        let over = turn.prior(Lookup::Subscription(self.0.as_str()))?;
        let over = over.as_ref().and_then(Record::subscription_over);
        let last = over.and_then(|over| over.last.as_ref());
        Ok(last.ok_or(Rejection::SubscriptionNotFound)?.into())
    }
}
