//! What a project's own servers are told of its wallets: that an order was paid, that credits came, that
//! they ran low. A notice follows from one event of one wallet and is logged with it, so that a crash
//! loses none and invents none.
//!
//! It says what the event alone can say. How an order stands is read when it is told, as everything else
//! that is asked for: what counts is how things stand.

use crate::{
    history::{Reason, Record},
    id::{HoldId, OrderSerial, PriceId, ProductId, ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, Feature},
    time::Timestamp,
    wallet::{
        Change, Event, OrderStatus, Owner, Subscription, SubscriptionStatus, Wallet,
        event::SubscriptionNews,
    },
};

/// One thing to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Whose servers are told.
    pub project: ProjectId,
    /// When it happened.
    pub at: Timestamp,
    /// Where the wallet is stored.
    pub key: WalletKey,
    /// What callers see of the wallet.
    pub wallet: WalletId,
    /// Whose wallet it is, where it is a user's.
    pub user: Option<ExternalUserId>,
    /// What there is to tell.
    pub news: News,
}

/// What happened to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderNews {
    /// It was paid.
    Paid,
    /// Its payment failed.
    Failed,
    /// It was not paid in time.
    Expired,
    /// All of its money went back.
    Refunded,
}

/// A subscription, as far as a notice tells of it: when it is told, the wallet may not have it any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionFacts {
    /// Of which product.
    pub product: ProductId,
    /// The tier in force.
    pub price: PriceId,
    /// What that is called.
    pub label: Option<Box<str>>,
    /// How it stands.
    pub status: SubscriptionStatus,
    /// When its period ends.
    pub current_period_end: Timestamp,
    /// Whether it ends with that.
    pub cancel_at_period_end: bool,
}

/// What there is to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A wallet came to be that somebody can use.
    WalletCreated,
    /// Of an order of the wallet.
    Order(OrderNews, OrderSerial),
    /// Of a subscription of the wallet.
    Subscription(SubscriptionNews, Box<SubscriptionFacts>),
    /// Credits came.
    Credited {
        /// Whose.
        product: ProductId,
        /// How many, more than none.
        delta: i64,
        /// Why.
        reason: Reason,
        /// The order behind it.
        order: Option<OrderSerial>,
        /// What can be spent since.
        balance: i64,
    },
    /// What can be spent fell from above the product's threshold to it or below.
    BalanceLow {
        /// Whose.
        product: ProductId,
        /// What is left.
        balance: i64,
    },
    /// What can be spent fell to nothing.
    Depleted {
        /// Whose.
        product: ProductId,
    },
    /// What the wallet unlocks changed.
    Features {
        /// What it did not unlock before, sorted.
        added: Vec<Feature>,
        /// What it does not unlock any more, sorted.
        removed: Vec<Feature>,
    },
}

/// A product's threshold: at so many credits or fewer a balance is low.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LowBalance {
    /// Whose credits.
    pub product: ProductId,
    /// How many.
    pub credits: i64,
}

impl From<&Subscription> for SubscriptionFacts {
    fn from(subscription: &Subscription) -> Self {
        let tier = subscription.tier();
        Self {
            product: tier.product,
            price: tier.price,
            label: tier.label.as_deref().map(Box::from),
            status: subscription.status,
            current_period_end: subscription.current_period_end,
            cancel_at_period_end: subscription.cancel_at_period_end,
        }
    }
}

/// What of a wallet an event may change that there is something to tell about, as it was before.
#[derive(Debug, Default)]
pub struct Watch {
    /// A balance, and what of it could be spent.
    spendable: Option<(ProductId, i64)>,
    /// What was unlocked.
    features: Option<Vec<Feature>>,
    order: Option<(OrderSerial, Seen)>,
    subscription: Option<(SubscriptionNews, Box<SubscriptionFacts>)>,
    created: bool,
}

#[derive(Debug)]
enum Seen {
    News(OrderNews),
    /// How much of it went back is not as it was.
    Reversed {
        was_refunded: bool,
    },
}

impl Watch {
    /// To be asked before the event is applied.
    #[must_use]
    pub fn before(wallet: Option<&Wallet>, event: &Event) -> Self {
        let mut watch = Self::default();
        match &event.change {
            Change::Deducted { product, .. }
            | Change::Granted { product, .. }
            | Change::FreeGranted { product, .. }
            | Change::LotExpired { product, .. }
            | Change::HoldPlaced { product, .. } => watch.balance(wallet, *product),
            Change::HoldSettled { hold, .. }
            | Change::HoldReleased { hold }
            | Change::HoldExpired { hold } => watch.balance_of_hold(wallet, hold),
            Change::Created(created) => watch.created = created.owner != Owner::Order,
            // A payment minted it: until then there was nobody who could use the wallet.
            Change::CodeRotated { former, .. } => watch.created = former.is_none(),
            Change::FeatureGranted { .. } | Change::FeatureRevoked { .. } => {
                watch.features(wallet, event.at);
            }
            Change::OrderPaid(paid) => {
                watch.order(wallet, paid.order, Seen::News(OrderNews::Paid));
                watch.features(wallet, event.at);
            }
            Change::OrderFailed(closed) => {
                watch.order = Some((closed.order, Seen::News(OrderNews::Failed)));
            }
            Change::OrderExpired(closed) => {
                watch.order = Some((closed.order, Seen::News(OrderNews::Expired)));
            }
            Change::OrderReversed { order, .. } => {
                let known = wallet.and_then(|wallet| wallet.order(*order));
                let was_refunded = known.is_none_or(|it| it.status() == OrderStatus::Refunded);
                watch.order(wallet, *order, Seen::Reversed { was_refunded });
                watch.features(wallet, event.at);
            }
            Change::SubscriptionChanged(changed) => {
                let facts = || Box::new((&changed.subscription).into());
                watch.subscription = changed.news.map(|news| (news, facts()));
                watch.features(wallet, event.at);
            }
            Change::HoldExtended { .. }
            | Change::OrderPlaced(_)
            | Change::OrderProcessing { .. }
            | Change::SubscriptionGone { .. }
            | Change::CycleEnded { .. }
            | Change::OrderArchived { .. }
            | Change::Instructed(_)
            | Change::OrderRecalled(_) => {}
        }
        watch
    }

    fn balance(&mut self, wallet: Option<&Wallet>, product: ProductId) {
        let spendable = wallet.map_or(0, |wallet| wallet.available(product));
        self.spendable = Some((product, spendable));
    }

    fn balance_of_hold(&mut self, wallet: Option<&Wallet>, hold: &HoldId) {
        if let Some(hold) = wallet.and_then(|wallet| wallet.hold(hold)) {
            self.balance(wallet, hold.product);
        }
    }

    fn order(&mut self, wallet: Option<&Wallet>, serial: OrderSerial, seen: Seen) {
        if let Some(order) = wallet.and_then(|wallet| wallet.order(serial)) {
            self.balance(wallet, order.terms.fills);
        }
        self.order = Some((serial, seen));
    }

    fn features(&mut self, wallet: Option<&Wallet>, at: Timestamp) {
        self.features = Some(wallet.map_or_else(Vec::new, |wallet| features(wallet, at)));
    }

    /// What there is to tell once the event is applied, and left this record. A deduction that crosses
    /// no threshold tells nothing.
    #[must_use]
    pub fn after(
        self,
        wallet: &Wallet,
        at: Timestamp,
        record: Option<&Record>,
        thresholds: &[LowBalance],
    ) -> Vec<News> {
        let mut all = Vec::new();
        if self.created {
            all.push(News::WalletCreated);
        }
        if let Some((serial, seen)) = self.order {
            let order = wallet.order(serial);
            let refunded = order.is_some_and(|order| order.status() == OrderStatus::Refunded);
            let refunded = refunded.then_some(News::Order(OrderNews::Refunded, serial));
            match seen {
                Seen::News(news) => all.push(News::Order(news, serial)),
                Seen::Reversed { was_refunded: true } => {}
                Seen::Reversed {
                    was_refunded: false,
                } => all.extend(refunded.clone()),
            }
            // The refund was heard of before the payment.
            if matches!(seen, Seen::News(OrderNews::Paid)) {
                all.extend(refunded);
            }
        }
        if let Some((news, facts)) = self.subscription {
            all.push(News::Subscription(news, facts));
        }
        if let Some((product, before)) = self.spendable {
            balances(&mut all, (product, before), wallet, record, thresholds);
        }
        if let Some(before) = self.features {
            let now = features(wallet, at);
            let missing = |of: &[Feature], from: &[Feature]| -> Vec<Feature> {
                let missing = of.iter().filter(|it| from.binary_search(it).is_err());
                missing.cloned().collect()
            };
            let (added, removed) = (missing(&now, &before), missing(&before, &now));
            if !added.is_empty() || !removed.is_empty() {
                all.push(News::Features { added, removed });
            }
        }
        all
    }
}

fn balances(
    all: &mut Vec<News>,
    (product, before): (ProductId, i64),
    wallet: &Wallet,
    record: Option<&Record>,
    thresholds: &[LowBalance],
) {
    let balance = wallet.available(product);
    let entry = record.and_then(Record::entry).filter(|it| it.delta > 0);
    all.extend(entry.map(|entry| News::Credited {
        product: entry.product,
        delta: entry.delta,
        reason: entry.reason,
        order: entry.order,
        balance,
    }));
    if balance >= before {
        return;
    }
    let crossed = |rule: &&LowBalance| {
        rule.product == product && before > rule.credits && balance <= rule.credits
    };
    if thresholds.iter().any(|rule| crossed(&rule)) {
        all.push(News::BalanceLow { product, balance });
    }
    if balance == 0 {
        all.push(News::Depleted { product });
    }
}

fn features(wallet: &Wallet, at: Timestamp) -> Vec<Feature> {
    wallet.unlocked(at).into_iter().cloned().collect()
}

impl News {
    /// Addresses it: from a wallet after its event.
    #[must_use]
    pub fn of(self, wallet: &Wallet, at: Timestamp) -> Notice {
        let user = match &wallet.owner {
            Owner::External(user) => Some(user.clone()),
            Owner::Code { .. } | Owner::Order => None,
        };
        Notice {
            project: wallet.project,
            at,
            key: wallet.key,
            wallet: wallet.id,
            user,
            news: self,
        }
    }
}
