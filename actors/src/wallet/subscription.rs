//! Reads a subscription, current or ended.

use domain::{
    Rejection, Timestamp,
    history::{Record, RecordKey},
    id::{ProjectId, WalletId, WalletKey},
    project_event::SubscriptionSnapshot,
    text::{ExternalUserId, SubscriptionId},
    wallet::{Owner, Subscription, Wallet, loss::Loss},
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
    /// When it ended, if it did.
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
        let project = wallet.project;
        if let Some(current) = wallet.subscription(&self.0) {
            return Ok(SubscriptionDetail::of(wallet, current, now));
        }
        let over = turn.prior(RecordKey::Subscription(self.0.as_str()))?;
        let over = over
            .as_ref()
            .and_then(|record| SubscriptionDetail::from_record(project, record));
        over.ok_or(Error::Rejected(Rejection::SubscriptionNotFound))
    }
}

pub(crate) struct FindDoubled;

/// A wallet with several continuing subscriptions to one product: their buyer pays for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubledWallet {
    /// The wallet's address in the store.
    pub key: WalletKey,
    /// The wallet's identifier for callers.
    pub id: WalletId,
    /// The user whose wallet it is; `None` for an anonymous one.
    pub user: Option<ExternalUserId>,
    /// These subscriptions, in the order in which they started.
    pub subscriptions: Vec<SubscriptionSnapshot>,
}

impl Command for FindDoubled {
    type Answer = Option<DoubledWallet>;
    const READ_ONLY: bool = true;

    fn run(self, turn: &mut Turn<'_>) -> Result<Self::Answer, Error> {
        let wallet = turn.wallet()?;
        let doubled = wallet.doubled_subscriptions().into_iter();
        let subscriptions: Vec<_> = doubled
            .map(|stored| SubscriptionSnapshot::of(wallet.project, stored))
            .collect();
        Ok((!subscriptions.is_empty()).then(|| DoubledWallet {
            key: wallet.key,
            id: wallet.id,
            user: match &wallet.owner {
                Owner::External(user) => Some(user.clone()),
                Owner::Code { .. } | Owner::Order => None,
            },
            subscriptions,
        }))
    }
}

impl SubscriptionDetail {
    pub(crate) fn of(wallet: &Wallet, current: &Subscription, now: Timestamp) -> Self {
        Self {
            id: current.id.clone(),
            subscription: SubscriptionSnapshot::of(wallet.project, current),
            ended_at: None,
            loss: wallet.loss_by_cancellation(&current.id, now),
        }
    }

    /// The ended subscription of a record, if the record is of an end and there was a paid cycle.
    pub(crate) fn from_record(project: ProjectId, record: &Record) -> Option<Self> {
        let over = record.subscription_over()?;
        Some(Self {
            id: over.id.clone(),
            subscription: SubscriptionSnapshot::over(project, over)?,
            ended_at: Some(record.at),
            loss: Loss::default(),
        })
    }
}
