//! What an event did to its wallet. Project events, the rows of lists and the ledger are made from it, so that none of
//! them compares wallets. A deduction allocates nothing for it.

use crate::{
    history::Record,
    id::{OrderSerial, ProductId},
    limit::LimitAlert,
    text::{Feature, SubscriptionId},
    time::Timestamp,
    top_up::{AttemptOutcome, Decline, Suspension, TopUpChange, TopUpPlace},
    wallet::state::{
        Wallet,
        account::Account,
        event::{Change, SubscriptionEvent},
        order::Order,
        owner::Owner,
    },
};

/// What an event did to its wallet, where the new state does not say it: mostly what was there before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// The record that it left in the history.
    pub record: Option<Record>,
    /// When the wallet had last been used; `None` if nobody could use it yet.
    pub last_used: Option<Timestamp>,
    /// The account whose credits it may have changed, and how it was; `None` for a new one.
    pub account: Option<(ProductId, Option<AccountCredits>)>,
    /// The order that it may have changed, and how it was; `None` for a new one.
    pub order: Option<(OrderSerial, Option<Box<Order>>)>,
    /// The features that were unlocked, if others are now; sorted.
    pub features: Option<Vec<Feature>>,
    /// What it visibly changed about a subscription.
    pub subscription: Option<(SubscriptionEvent, SubscriptionId)>,
    /// The alerts of limits that it is the reason for.
    pub limit_alerts: Vec<LimitAlert>,
    /// Whether the wallet was frozen or unfrozen, or the reason changed.
    pub is_freeze: bool,
    /// What happened to its automatic top-up, and when somebody had to look at it before.
    pub top_up: Option<Box<TopUpApplied>>,
}

/// What an event did to a wallet's automatic top-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopUpApplied {
    /// The change, if it is reported to others.
    pub event: Option<TopUpEvent>,
    /// Its place in lists before.
    pub before: TopUpPlace,
}

/// What project events tell of an automatic top-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopUpEvent {
    /// An attempt was paid by this order.
    Succeeded(OrderSerial),
    /// The attempt with this order failed.
    Failed(OrderSerial, Decline),
    /// It was suspended.
    Suspended(Suspension),
}

/// An account's credits at one moment; none of an account that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountCredits {
    /// Credits that can be spent.
    pub available: i64,
    /// What was left of the lots, as [`Account::least_left`] says.
    pub least_left: i64,
    /// Credits that are owed.
    pub owed: i64,
}

impl Applied {
    pub(super) fn before(wallet: &Wallet, at: Timestamp, change: &Change) -> Self {
        let order = |serial| (serial, wallet.order(serial).cloned().map(Box::new));
        Self {
            record: None,
            last_used: wallet.is_usable().then_some(wallet.used_at),
            account: product(wallet, change).map(|product| {
                let account = wallet.account(product);
                (product, account.map(AccountCredits::of))
            }),
            order: change.order().map(order),
            features: may_unlock(change)
                .then(|| wallet.unlocked(at).into_iter().cloned().collect()),
            subscription: match change {
                Change::SubscriptionChanged(changed) => changed
                    .subscription_event
                    .map(|event| (event, changed.subscription.id.clone())),
                _ => None,
            },
            limit_alerts: match change.counted() {
                Some(counted) => counted.alerts.clone(),
                None => Vec::new(),
            },
            top_up: top_up(wallet, change),
            is_freeze: matches!(change, Change::Frozen { .. } | Change::Unfrozen),
        }
    }

    pub(super) fn after(self, wallet: &Wallet, at: Timestamp, record: Option<Record>) -> Self {
        let changed = |former: &Vec<Feature>| !former.iter().eq(wallet.unlocked(at));
        Self {
            record,
            features: self.features.filter(changed),
            ..self
        }
    }
}

impl AccountCredits {
    pub(crate) fn of(account: &Account) -> Self {
        Self {
            available: account.available(),
            least_left: account.least_left(),
            owed: account.debt().owed,
        }
    }
}

impl Wallet {
    /// Whether somebody can use it: one that an order opened waits for the payment that gives it a code.
    pub fn is_usable(&self) -> bool {
        self.owner != Owner::Order
    }
}

/// The only product whose credits a change may change.
fn product(wallet: &Wallet, change: &Change) -> Option<ProductId> {
    let fills = |order| Some(wallet.order(order)?.terms.fills);
    match change {
        Change::Deducted { product, .. }
        | Change::Granted { product, .. }
        | Change::FreeGranted { product, .. }
        | Change::Forgiven { product, .. }
        | Change::LotExpired { product, .. }
        | Change::DebtLimitChanged { product, .. }
        | Change::HoldPlaced { product, .. } => Some(*product),
        Change::Charged(charged) => Some(charged.product),
        Change::DeductionReversed(reversed) => Some(reversed.product),
        Change::HoldSettled { hold, .. }
        | Change::HoldDrawn { hold, .. }
        | Change::HoldReleased { hold }
        | Change::HoldExpired { hold } => wallet.hold(hold).map(|hold| hold.product),
        Change::OrderPaid(paid) => fills(paid.order),
        Change::OrderReversed { order, .. } => fills(*order),
        _ => None,
    }
}

fn top_up(wallet: &Wallet, change: &Change) -> Option<Box<TopUpApplied>> {
    // A refund ends what a needed attempt waits for.
    let (Change::TopUp(_) | Change::OrderReversed { .. }) = change else {
        return None;
    };
    let open = wallet.top_up().and_then(|top_up| top_up.open.as_ref());
    let event = match change {
        Change::TopUp(change) => match &**change {
            TopUpChange::Ended(_, AttemptOutcome::Succeeded) => {
                open.map(|open| TopUpEvent::Succeeded(open.order))
            }
            TopUpChange::Ended(_, AttemptOutcome::Failed(decline)) => {
                open.map(|open| TopUpEvent::Failed(open.order, decline.clone()))
            }
            TopUpChange::Suspended(reason) => Some(TopUpEvent::Suspended(reason.clone())),
            _ => None,
        },
        _ => None,
    };
    Some(Box::new(TopUpApplied {
        event,
        before: wallet.top_up_place(),
    }))
}

const fn may_unlock(change: &Change) -> bool {
    matches!(
        change,
        Change::FeatureGranted { .. }
            | Change::FeatureRevoked { .. }
            | Change::OrderPaid(_)
            | Change::OrderReversed { .. }
            | Change::SubscriptionChanged(_)
    )
}
