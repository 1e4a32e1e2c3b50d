//! What an operator sees of a wallet: more than its owner does, and of nothing more than fits a page.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{HoldId, OrderId, ProductId, WalletId},
    text::ExternalUserId,
    wallet::{Hold, Lot, Owner, Wallet},
};

use super::{Turn, Verb};
use crate::answer::{Error, Subscription};

/// Lots of a product, and holds and pending orders of a wallet, that are shown.
const SHOWN: usize = 100;

/// Looks into a wallet.
pub(crate) struct Look;

/// A wallet as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    /// Its identifier.
    pub id: WalletId,
    /// The caller's own user; `None` for a code wallet.
    pub external_user: Option<ExternalUserId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Balances, in the order in which they were first filled.
    pub accounts: Vec<Purse>,
    /// Open holds, and how many there are besides.
    pub holds: (Vec<(HoldId, Hold)>, usize),
    /// What it unlocks, and by what.
    pub access: BTreeMap<String, Vec<Access>>,
    /// Subscriptions that are not over.
    pub subscriptions: Vec<Subscription>,
    /// Orders that wait for their payment, and how many there are besides.
    pub pending: (Vec<OrderId>, usize),
}

/// A product's credits in a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purse {
    /// Whose credits.
    pub product: ProductId,
    /// All of them, held ones too.
    pub balance: i64,
    /// Those that open holds set aside.
    pub held: i64,
    /// Where they came from, in the order in which they are used up, and how many lots there are
    /// besides.
    pub lots: (Vec<Lot>, usize),
}

/// Why a feature is unlocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// It was granted by hand.
    Manual,
    /// By a subscription to this tier.
    Subscription(Option<Box<str>>),
    /// By something that was bought once.
    Order,
}

impl Verb for Look {
    type Answer = Inside;

    fn run(self, turn: &mut Turn<'_>) -> Result<Inside, Error> {
        let wallet = turn.wallet()?;
        let accounts = wallet.accounts().iter().map(|account| {
            let lots = account.lots();
            let besides = lots.len().saturating_sub(SHOWN);
            Purse {
                product: account.product,
                balance: account.balance,
                held: account.held,
                lots: (lots.into_iter().take(SHOWN).cloned().collect(), besides),
            }
        });
        let holds = wallet.holds().iter().take(SHOWN);
        let holds: Vec<_> = holds.map(|(id, hold)| (*id, hold.clone())).collect();
        let held_besides = wallet.holds().len().saturating_sub(holds.len());
        Ok(Inside {
            id: wallet.id,
            external_user: match &wallet.owner {
                Owner::External(user) => Some(user.clone()),
                Owner::Code { .. } | Owner::Order => None,
            },
            created_at: wallet.created_at,
            accounts: accounts.collect(),
            holds: (holds, held_besides),
            access: access(wallet, turn.now()),
            subscriptions: wallet.subscriptions().map(Subscription::from).collect(),
            pending: pending(wallet),
        })
    }
}

fn access(wallet: &Wallet, now: Timestamp) -> BTreeMap<String, Vec<Access>> {
    let mut access: BTreeMap<String, Vec<Access>> = BTreeMap::new();
    let mut add = |feature: &str, by| access.entry(feature.to_owned()).or_default().push(by);
    for feature in wallet.manual_features() {
        add(feature.as_str(), Access::Manual);
    }
    for subscription in wallet.subscriptions() {
        for feature in subscription.features(now) {
            let label = subscription.tier().label.clone();
            add(feature.as_str(), Access::Subscription(label));
        }
    }
    for feature in wallet.unlocked_by_orders() {
        add(feature.as_str(), Access::Order);
    }
    access
}

fn pending(wallet: &Wallet) -> (Vec<OrderId>, usize) {
    let order = |serial| OrderId {
        serial,
        wallet: wallet.key,
    };
    let all = wallet.pending_orders();
    let shown: Vec<_> = all.clone().take(SHOWN).map(order).collect();
    let besides = all.count().saturating_sub(shown.len());
    (shown, besides)
}
