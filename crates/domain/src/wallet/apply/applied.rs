//! What an event did to its wallet. Project events, the rows of lists and the ledger are made from it, so that none of
//! them compares wallets. A deduction allocates nothing for it.

use crate::{
    history::Record,
    id::{OrderSerial, ProductId},
    limit::LimitAlert,
    text::{Feature, SubscriptionId},
    time::Timestamp,
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
