//! Reads a subscription, current or ended.

use domain::{
    Rejection, Timestamp,
    history::{Record, RecordKey},
    project_event::SubscriptionSnapshot,
    text::SubscriptionId,
    wallet::{Subscription, Wallet, loss::Loss},
};

use super::{Command, Turn};
use crate::answer::Error;

pub(crate) struct FindSubscription(pub(crate) SubscriptionId);

/// A subscription as an administrator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionDetail {
    /// The provider's name for it.
    pub id: SubscriptionId,
    /// The subscription as its owner sees it.
    pub subscription: SubscriptionSnapshot,
    /// When it ended; `None`: it has not.
    pub ended_at: Option<Timestamp>,
    /// What the wallet would lose if it ended now; empty if it has ended.
    pub loss: Loss,
}

impl Command for FindSubscription {
    type Answer = SubscriptionDetail;
    const ABSENT: Rejection = Rejection::SubscriptionNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<SubscriptionDetail, Error> {
        let now = turn.now();
        let wallet = turn.wallet()?;
        if let Some(current) = wallet.subscription(&self.0) {
            return Ok(SubscriptionDetail::of(wallet, current, now));
        }
        let over = turn.prior(RecordKey::Subscription(self.0.as_str()))?;
        let over = over.as_ref().and_then(SubscriptionDetail::from_record);
        over.ok_or(Error::Rejected(Rejection::SubscriptionNotFound))
    }
}

impl SubscriptionDetail {
    pub(crate) fn of(wallet: &Wallet, current: &Subscription, now: Timestamp) -> Self {
        Self {
            id: current.id.clone(),
            subscription: current.into(),
            ended_at: None,
            loss: wallet.loss_by_cancellation(&current.id, now),
        }
    }

    /// The ended subscription of a record, if it is the record of an end and there was a paid cycle.
    pub(crate) fn from_record(record: &Record) -> Option<Self> {
        let over = record.subscription_over()?;
        let last = over.last.as_ref()?;
        Some(Self {
            id: over.id.clone(),
            subscription: last.into(),
            ended_at: Some(record.at),
            loss: Loss::default(),
        })
    }
}
