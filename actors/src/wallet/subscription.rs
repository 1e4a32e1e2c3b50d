//! A subscription as it stands, also one that is over.

use domain::{
    Rejection, Timestamp,
    history::{Lookup, Record},
    text::SubscriptionId,
    wallet::ending::Ending,
};

use super::{Turn, Verb};
use crate::answer::{Error, Subscription};

/// Finds a subscription by the provider's name for it.
pub(crate) struct FindSubscription(pub(crate) SubscriptionId);

/// The same, with what an administrator wants to know before and after it ends.
pub(crate) struct LookAtSubscription(pub(crate) SubscriptionId);

/// A subscription, when it ended, and what goes when it ends now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionInside {
    /// As its owner sees it.
    pub subscription: Subscription,
    /// When it ended; `None`: it has not.
    pub ended_at: Option<Timestamp>,
    /// What the wallet loses should it end now; nothing where it has ended.
    pub ending: Ending,
}

impl Verb for FindSubscription {
    type Answer = Subscription;
    const ABSENT: Rejection = Rejection::SubscriptionNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<Subscription, Error> {
        Ok(LookAtSubscription(self.0).run(turn)?.subscription)
    }
}

impl Verb for LookAtSubscription {
    type Answer = SubscriptionInside;
    const ABSENT: Rejection = Rejection::SubscriptionNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<SubscriptionInside, Error> {
        let now = turn.now();
        let wallet = turn.wallet()?;
        if let Some(current) = wallet.subscription(&self.0) {
            return Ok(SubscriptionInside {
                subscription: current.into(),
                ended_at: None,
                ending: wallet.ending(&self.0, now),
            });
        }
        let over = turn.prior(Lookup::Subscription(self.0.as_str()))?;
        let over = over.as_ref().and_then(SubscriptionInside::over);
        over.ok_or(Error::Rejected(Rejection::SubscriptionNotFound))
    }
}

impl SubscriptionInside {
    /// The one that is over in a record, if the record says so and there was a paid cycle.
    pub(crate) fn over(record: &Record) -> Option<Self> {
        let last = record.subscription_over()?.last.as_ref()?;
        Some(Self {
            subscription: last.into(),
            ended_at: Some(record.at),
            ending: Ending::default(),
        })
    }
}
