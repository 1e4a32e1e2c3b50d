//! What a project's own servers are told of its wallets: that an order was paid, that credits came, that
//! they ran low. A notice follows from events of one wallet and is logged with them, so that a crash loses
//! none and invents none.
//!
//! It is a fact: all that it says is fixed when it is logged, and everybody who reads it later reads the same.
//! What one step of a wallet changes becomes visible together, so that it is told as it stands after the step.

use crate::{
    history::{Reason, Record},
    id::{OrderSerial, PriceId, ProductId, ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, Feature},
    time::Timestamp,
    wallet::{
        Change, Dispute, Event, OpenInvoice, Order, Owner, Subscription, SubscriptionStatus,
        Wallet, event::SubscriptionNews,
    },
};
use serde::{Deserialize, Serialize};

/// One thing to tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Whose servers are told.
    pub project: ProjectId,
    /// When it happened, by the project's clock. A wallet that nobody touches learns late of what time did
    /// to it: it may be long before it was recorded.
    pub at: Timestamp,
    /// When it was recorded, by the server's clock: it is kept from then on.
    pub recorded: Timestamp,
    /// Where the wallet is stored.
    pub key: WalletKey,
    /// What callers see of the wallet.
    pub wallet: WalletId,
    /// Whose wallet it is, where it is a user's.
    pub user: Option<ExternalUserId>,
    /// What there is to tell.
    pub news: News,
}

impl Notice {
    /// Whether it is for somebody who knows all up to this instant: they cannot have heard of what was recorded
    /// since, and a sandbox's clock may be ahead of the server's.
    #[must_use]
    pub fn is_since(&self, instant: Timestamp) -> bool {
        self.at.max(self.recorded) >= instant
    }
}

/// What happened to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OrderNews {
    /// It was paid.
    Paid,
    /// Its payment failed.
    Failed,
    /// It was not paid in time.
    Expired,
    /// All of its money went back by refunds.
    Refunded,
    /// A buyer's bank asks for its money back, or what it was for.
    Disputed,
    /// That is decided.
    DisputeClosed,
}

/// An order as it stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderFacts {
    /// Names it within the wallet.
    pub serial: OrderSerial,
    /// The order, without what it unlocks and its price's name: nobody is told those with it, and an append
    /// of the log has little room.
    pub order: Order,
    /// Credits of the product that it fills that could be spent.
    pub balance: i64,
    /// What opened an anonymous wallet, encrypted under the server key. `None` with no user either: until
    /// then nobody could use the wallet.
    pub code: Option<Box<[u8]>>,
}

/// A subscription, as far as a notice tells of it: when it is told, the wallet may not have it any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The bill that waits for the buyer.
    pub open_invoice: Option<Box<OpenInvoice>>,
    /// Whether nothing is collected for it for the time being.
    pub collection_paused: bool,
}

/// What there is to tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum News {
    /// A wallet came to be that somebody can use.
    WalletCreated,
    /// Of an order of the wallet.
    Order(OrderNews, Box<OrderFacts>),
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
        /// All that it unlocks since, sorted; `None`: it is more than a notice carries.
        features: Option<Vec<Feature>>,
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
            open_invoice: subscription.open_invoice.clone(),
            collection_paused: subscription.collection_paused,
        }
    }
}

/// The longest list of all features of a wallet that a notice carries, in bytes.
const MAX_FEATURES_BYTES: usize = 12 * 1024;

/// What a step of a wallet changes that there is something to tell about. A step is one event or several that
/// become visible together: nobody can spend what comes and goes within it, so that only the balances and
/// features before the step and after it count.
#[derive(Debug, Default)]
pub struct Watch {
    news: Vec<News>,
    /// Before the step. Nearly always there is one at most, which costs no allocation.
    balance: Option<Balance>,
    others: Vec<Balance>,
    features: Option<Vec<Feature>>,
}

/// What could be spent before a step.
#[derive(Debug, Clone, Copy)]
struct Balance {
    product: ProductId,
    credits: i64,
    /// At so many or fewer it is low.
    low: Option<i64>,
}

/// What one event is about, as it was before.
#[derive(Debug, Default)]
pub struct Subject {
    created: bool,
    order: Option<(OrderSerial, Step)>,
    subscription: Option<(SubscriptionNews, Box<SubscriptionFacts>)>,
}

#[derive(Debug)]
enum Step {
    News(OrderNews),
    /// How much of it went back is not as it was.
    Reversed {
        was_refunded: bool,
        dispute: Option<Dispute>,
    },
}

impl Watch {
    /// To be asked before an event of the step is applied.
    pub fn before(
        &mut self,
        wallet: Option<&Wallet>,
        event: &Event,
        thresholds: &[LowBalance],
    ) -> Subject {
        let mut subject = Subject::default();
        let product = match &event.change {
            Change::Deducted { product, .. }
            | Change::Granted { product, .. }
            | Change::FreeGranted { product, .. }
            | Change::LotExpired { product, .. }
            | Change::HoldPlaced { product, .. } => Some(*product),
            Change::HoldSettled { hold, .. }
            | Change::HoldReleased { hold }
            | Change::HoldExpired { hold } => wallet
                .and_then(|wallet| wallet.hold(hold))
                .map(|hold| hold.product),
            Change::Created(created) => {
                subject.created = created.owner != Owner::Order;
                None
            }
            // A payment minted it: until then there was nobody who could use the wallet.
            Change::CodeRotated { former, .. } => {
                subject.created = former.is_none();
                None
            }
            Change::FeatureGranted { .. } | Change::FeatureRevoked { .. } => {
                self.features(wallet, event.at);
                None
            }
            Change::OrderPaid(paid) => {
                self.features(wallet, event.at);
                subject.order = Some((paid.order, Step::News(OrderNews::Paid)));
                fills(wallet, paid.order)
            }
            Change::OrderFailed(closed) => {
                subject.order = Some((closed.order, Step::News(OrderNews::Failed)));
                None
            }
            Change::OrderExpired(closed) => {
                subject.order = Some((closed.order, Step::News(OrderNews::Expired)));
                None
            }
            Change::OrderReversed { order, .. } => {
                self.features(wallet, event.at);
                let known = wallet.and_then(|wallet| wallet.order(*order));
                let step = Step::Reversed {
                    was_refunded: known.is_none_or(Order::is_refunded),
                    dispute: known.and_then(|order| order.reversal.dispute),
                };
                subject.order = Some((*order, step));
                fills(wallet, *order)
            }
            Change::SubscriptionChanged(changed) => {
                self.features(wallet, event.at);
                let facts = || Box::new((&changed.subscription).into());
                subject.subscription = changed.news.map(|news| (news, facts()));
                None
            }
            Change::HoldExtended { .. }
            | Change::OrderPlaced(_)
            | Change::OrderProcessing { .. }
            | Change::SubscriptionGone { .. }
            | Change::CycleEnded { .. }
            | Change::OrderArchived { .. }
            | Change::Instructed(_)
            | Change::OrderRecalled(_) => None,
        };
        if let Some(product) = product {
            self.balance(wallet, product, thresholds);
        }
        subject
    }

    fn balance(&mut self, wallet: Option<&Wallet>, product: ProductId, thresholds: &[LowBalance]) {
        let mut known = self.balance.iter().chain(&self.others);
        if known.any(|known| known.product == product) {
            return;
        }
        let low = thresholds.iter().find(|rule| rule.product == product);
        let before = Balance {
            product,
            credits: wallet.map_or(0, |wallet| wallet.available(product)),
            low: low.map(|rule| rule.credits),
        };
        match self.balance {
            None => self.balance = Some(before),
            Some(_) => self.others.push(before),
        }
    }

    fn features(&mut self, wallet: Option<&Wallet>, at: Timestamp) {
        if self.features.is_none() {
            self.features = Some(wallet.map_or_else(Vec::new, |wallet| features(wallet, at)));
        }
    }

    /// To be told of the event once it is applied, and left this record.
    pub fn after(&mut self, subject: Subject, wallet: &Wallet, record: Option<&Record>) {
        if subject.created {
            // Whatever else the step brought it.
            self.news.insert(0, News::WalletCreated);
        }
        let order = subject.order;
        if let Some((order, (serial, step))) = order.and_then(|it| Some((wallet.order(it.0)?, it)))
        {
            let is_refunded = order.is_refunded();
            let dispute = order.reversal.dispute;
            let (news, refunded, disputed) = match step {
                // What went back may have been heard of before the payment.
                Step::News(OrderNews::Paid) => {
                    let disputed = Dispute::news(None, dispute);
                    (Some(OrderNews::Paid), is_refunded, disputed)
                }
                Step::News(news) => (Some(news), false, None),
                Step::Reversed {
                    was_refunded,
                    dispute: former,
                } => {
                    let disputed = Dispute::news(former, dispute);
                    (None, is_refunded && !was_refunded, disputed)
                }
            };
            let refunded = refunded.then_some(OrderNews::Refunded);
            for news in news.into_iter().chain(disputed).chain(refunded) {
                let facts = OrderFacts::of(serial, order);
                self.news.push(News::Order(news, Box::new(facts)));
            }
        }
        if let Some((news, facts)) = subject.subscription {
            self.news.push(News::Subscription(news, facts));
        }
        let entry = record.and_then(Record::entry).filter(|it| it.delta > 0);
        let mut watched = self.balance.iter().chain(&self.others);
        let entry = entry.filter(|entry| watched.any(|it| it.product == entry.product));
        self.news.extend(entry.map(|entry| News::Credited {
            product: entry.product,
            delta: entry.delta,
            reason: entry.reason,
            order: entry.order,
            balance: 0,
        }));
    }

    /// What happened so far, as it stands now. What balances and features came to only the step's end shows:
    /// [`Watch::end`].
    pub fn news(&mut self, wallet: &Wallet) -> Vec<News> {
        let mut all = std::mem::take(&mut self.news);
        for news in &mut all {
            match news {
                News::Order(_, facts) => {
                    facts.balance = wallet.available(facts.order.terms.fills);
                    facts.code = match &wallet.owner {
                        Owner::Code { sealed, .. } => Some(sealed.clone()),
                        Owner::External(_) | Owner::Order => None,
                    };
                }
                News::Credited {
                    product, balance, ..
                } => *balance = wallet.available(*product),
                _ => {}
            }
        }
        all
    }

    /// All that is left to tell at the end of a step. A deduction that crosses no threshold tells nothing.
    /// Where the step goes on after all, it goes on from here: nothing is told twice.
    pub fn end(&mut self, wallet: &Wallet, at: Timestamp) -> Vec<News> {
        let mut all = self.news(wallet);
        for before in self.balance.iter_mut().chain(&mut self.others) {
            before.crossed(wallet, &mut all);
        }
        if let Some(before) = &mut self.features {
            let now = features(wallet, at);
            let missing = |of: &[Feature], from: &[Feature]| -> Vec<Feature> {
                let missing = of.iter().filter(|it| from.binary_search(it).is_err());
                missing.cloned().collect()
            };
            let (added, removed) = (missing(&now, before), missing(before, &now));
            if !added.is_empty() || !removed.is_empty() {
                let bytes: usize = now.iter().map(|it| it.as_str().len()).sum();
                all.push(News::Features {
                    features: (bytes <= MAX_FEATURES_BYTES).then(|| now.clone()),
                    added,
                    removed,
                });
            }
            *before = now;
        }
        all
    }
}

impl Balance {
    fn crossed(&mut self, wallet: &Wallet, all: &mut Vec<News>) {
        let (product, balance) = (self.product, wallet.available(self.product));
        if balance >= self.credits {
            return;
        }
        let was_above = |low: &i64| self.credits > *low && balance <= *low;
        if self.low.as_ref().is_some_and(was_above) {
            all.push(News::BalanceLow { product, balance });
        }
        if balance == 0 {
            all.push(News::Depleted { product });
        }
        self.credits = balance;
    }
}

impl OrderFacts {
    /// What it says of the wallet is filled in once the step is over.
    fn of(serial: OrderSerial, order: &Order) -> Self {
        let mut order = order.clone();
        order.terms.features.clear();
        order.terms.label = None;
        Self {
            serial,
            order,
            balance: 0,
            code: None,
        }
    }
}

/// The product that an order fills.
fn fills(wallet: Option<&Wallet>, order: OrderSerial) -> Option<ProductId> {
    Some(wallet?.order(order)?.terms.fills)
}

fn features(wallet: &Wallet, at: Timestamp) -> Vec<Feature> {
    wallet.unlocked(at).into_iter().cloned().collect()
}

impl News {
    /// Addresses it: from a wallet after its step, recorded now.
    #[must_use]
    pub fn of(self, wallet: &Wallet, at: Timestamp, recorded: Timestamp) -> Notice {
        let user = match &wallet.owner {
            Owner::External(user) => Some(user.clone()),
            Owner::Code { .. } | Owner::Order => None,
        };
        Notice {
            project: wallet.project,
            at,
            recorded,
            key: wallet.key,
            wallet: wallet.id,
            user,
            news: self,
        }
    }
}
