//! A wallet as an operator sees it: more than its owner sees, with lists limited to a page.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{HoldId, ProductId},
    wallet::{Hold, Lot, Wallet, debt_limit::DebtState},
};

use super::{Command, SubscriptionDetail, Turn, read::view};
use crate::answer::{Error, WalletView};

pub(crate) struct InspectWallet {
    /// The most lots of an account, and holds, to answer with.
    pub(crate) limit: usize,
}

/// A wallet as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletDetail {
    /// The wallet as its owner sees it.
    pub view: WalletView,
    /// Credits with their lots, in the order in which products were first filled.
    pub accounts: Vec<AccountDetail>,
    /// The first open holds, and the number of further ones.
    pub holds: (Vec<(HoldId, Hold)>, usize),
    /// Unlocked features, each with the reasons for it.
    pub access: BTreeMap<String, Vec<FeatureSource>>,
    /// Subscriptions that are not over, in the order in which they started.
    pub subscriptions: Vec<SubscriptionDetail>,
}

/// A product's credits in a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountDetail {
    /// The product that the credits are for.
    pub product: ProductId,
    /// Credits that can be spent now.
    pub balance: i64,
    /// Credits that open holds set aside.
    pub held: i64,
    /// What is owed, and may be.
    pub debt: DebtState,
    /// Whether the limit of that is the wallet's own.
    pub own_limit: bool,
    /// The first lots, in the order in which they are used up, and the number of further ones.
    pub lots: (Vec<Lot>, usize),
}

/// Why a feature is unlocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureSource {
    /// It was granted manually.
    Manual,
    /// A subscription to the tier with this label unlocks it.
    Subscription(Option<Box<str>>),
    /// A one-time purchase unlocked it.
    Order,
}

impl Command for InspectWallet {
    type Answer = WalletDetail;

    fn run(self, turn: &mut Turn<'_>) -> Result<WalletDetail, Error> {
        let wallet = turn.wallet()?;
        let limits = turn.debt_limits();
        let accounts = wallet.accounts().iter().map(|account| {
            let lots = account.lots();
            let besides = lots.len().saturating_sub(self.limit);
            AccountDetail {
                product: account.product,
                balance: account.available(),
                held: account.set_aside(),
                debt: wallet.debt_state(account.product, limits),
                own_limit: account.debt().limit.is_some(),
                lots: (
                    lots.into_iter().take(self.limit).cloned().collect(),
                    besides,
                ),
            }
        });
        let holds = wallet.holds().iter().take(self.limit);
        let holds: Vec<_> = holds.map(|(id, hold)| (*id, hold.clone())).collect();
        let held_besides = wallet.holds().len().saturating_sub(holds.len());
        let subscriptions = wallet.subscriptions();
        let subscriptions = subscriptions.map(|it| SubscriptionDetail::of(wallet, it, turn.now()));
        Ok(WalletDetail {
            view: view(wallet, turn.now()),
            accounts: accounts.collect(),
            holds: (holds, held_besides),
            access: access(wallet, turn.now()),
            subscriptions: subscriptions.collect(),
        })
    }
}

fn access(wallet: &Wallet, now: Timestamp) -> BTreeMap<String, Vec<FeatureSource>> {
    let mut access: BTreeMap<String, Vec<FeatureSource>> = BTreeMap::new();
    let mut add = |feature: &str, by| access.entry(feature.to_owned()).or_default().push(by);
    for feature in wallet.manual_features() {
        add(feature.as_str(), FeatureSource::Manual);
    }
    for subscription in wallet.subscriptions() {
        for feature in subscription.features(now) {
            let label = subscription.tier().label.clone();
            add(feature.as_str(), FeatureSource::Subscription(label));
        }
    }
    for feature in wallet.unlocked_by_orders() {
        add(feature.as_str(), FeatureSource::Order);
    }
    access
}
