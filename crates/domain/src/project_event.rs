//! Project events tell a project's servers about its wallets: an order was paid, credits were added, a balance is low.
//! They follow from events of one wallet and are logged with them, so that a crash loses none and invents none.
//!
//! Their content is fixed when they are logged. All changes of one step of a wallet become visible together, so a
//! project event shows the state after the step.

use crate::{
    history::{Reason, Record},
    id::{OrderSerial, PriceId, ProductId, ProjectId, PublicSubscriptionId, WalletId, WalletKey},
    limit::LimitAlert,
    text::{ExternalUserId, Feature, FreezeReason},
    time::Timestamp,
    top_up::{Decline, Suspension, TopUp},
    wallet::{
        AccountCredits, Applied, Dispute, Freeze, OpenInvoice, Order, Owner, Stage, Subscription,
        SubscriptionOver, SubscriptionStatus, TopUpEvent, Wallet, event::SubscriptionEvent,
    },
};
use serde::{Deserialize, Serialize};

/// One project event, with the wallet that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectEvent {
    /// The project whose servers are notified.
    pub project: ProjectId,
    /// When it happened, by the project's clock. It may be long before it was recorded: expiries are applied when the
    /// wallet is next used.
    pub at: Timestamp,
    /// When it was recorded, by the server's clock; retention counts from it.
    pub recorded: Timestamp,
    /// The wallet's address in the store.
    pub key: WalletKey,
    /// The wallet's identifier for callers.
    pub wallet: WalletId,
    /// The user whose wallet it is; `None` for an anonymous one.
    pub user: Option<ExternalUserId>,
    /// What happened to the wallet.
    pub data: EventData,
}

impl ProjectEvent {
    /// Whether it happened or was recorded at this instant or later, and so is new to a reader of everything before.
    /// Both times count, because a sandbox's clock may be ahead of the server's.
    pub fn is_since(&self, instant: Timestamp) -> bool {
        self.at.max(self.recorded) >= instant
    }
}

/// What happened to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OrderEvent {
    /// It was paid.
    Paid,
    /// Its payment failed.
    Failed,
    /// It was not paid in time.
    Expired,
    /// All of its money was refunded.
    Refunded,
    /// The buyer's bank opened a dispute or an inquiry, or opened it again.
    Disputed,
    /// The dispute or inquiry was closed.
    DisputeClosed,
}

impl OrderEvent {
    fn between(before: &Order, now: &Order) -> [Option<Self>; 3] {
        let stage = Some(now.stage).filter(|stage| *stage != before.stage);
        let (data, former) = match stage {
            // A refund or dispute may have been reported before the payment.
            Some(Stage::Paid) => (Some(Self::Paid), None),
            Some(Stage::Failed) => (Some(Self::Failed), before.reversal.dispute),
            Some(Stage::Expired) => (Some(Self::Expired), before.reversal.dispute),
            Some(Stage::Pending) | None => (None, before.reversal.dispute),
        };
        let refunded = now.is_refunded() && !before.is_refunded();
        let disputed = Self::of_dispute(former, now.reversal.dispute);
        [data, disputed, refunded.then_some(Self::Refunded)]
    }

    /// The project event when the newest dispute of an order changes from `before` to `now`.
    pub fn of_dispute(before: Option<Dispute>, now: Option<Dispute>) -> Option<Self> {
        let now = now?;
        let same = before.filter(|before| before.opened_at == now.opened_at);
        match (same, now.won) {
            (None, None) => Some(Self::Disputed),
            (None, Some(_)) => Some(Self::DisputeClosed),
            (Some(before), Some(_)) => before.won.is_none().then_some(Self::DisputeClosed),
            // It was reopened, or an inquiry became a dispute.
            (Some(before), None) => {
                (before.won.is_some() || before.inquiry && !now.inquiry).then_some(Self::Disputed)
            }
        }
    }
}

/// The state of an order, for a project event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderSnapshot {
    /// The order's serial, unique within the wallet.
    pub serial: OrderSerial,
    /// The order, without features and price label: project events do not show them, and an append of the log has
    /// little room.
    pub order: Order,
    /// The spendable credits of the product that the order fills.
    pub balance: i64,
    /// The recovery code of an anonymous wallet, encrypted under the server key. Without a user and a code, the wallet
    /// waits for its first payment.
    pub code: Option<Box<[u8]>>,
}

/// A subscription as its wallet's owner sees it, at the time of the project event: when that is sent, the wallet may no
/// longer have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct SubscriptionSnapshot {
    pub id: PublicSubscriptionId,
    pub product: ProductId,
    pub price: PriceId,
    pub label: Option<Box<str>>,
    pub status: SubscriptionStatus,
    pub current_period_end: Timestamp,
    pub cancel_at_period_end: bool,
    /// The invoice that the buyer has yet to pay, while it is past due.
    pub open_invoice: Option<Box<OpenInvoice>>,
    /// Whether payments for it are not collected at present.
    pub collection_paused: bool,
}

/// What happened to a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum EventData {
    /// A usable wallet was created.
    WalletCreated,
    /// An order of the wallet changed.
    Order(OrderEvent, Box<OrderSnapshot>),
    /// A subscription of the wallet changed.
    Subscription(SubscriptionEvent, Box<SubscriptionSnapshot>),
    /// Credits were added.
    Credited {
        product: ProductId,
        /// Credits added, at least 1.
        delta: i64,
        reason: Reason,
        order: Option<OrderSerial>,
        balance: i64,
    },
    /// What is left, held credits included, fell from above the product's threshold to it or below. Credits that a hold
    /// gives back do not count as a rise.
    BalanceLow { product: ProductId, balance: i64 },
    /// What is left, held credits included, fell to 0.
    Depleted { product: ProductId },
    /// The wallet, which owed none before, owes credits.
    Owing {
        product: ProductId,
        balance: i64,
        owed: i64,
    },
    /// The wallet's debt is paid.
    Repaid { product: ProductId, balance: i64 },
    /// The features that the wallet unlocks changed.
    Features {
        /// All features that it unlocks now, sorted; `None` if they are too many for a project event.
        features: Option<Vec<Feature>>,
        added: Vec<Feature>,
        removed: Vec<Feature>,
    },
    /// The wallet was frozen, or frozen for another reason.
    Frozen { reason: Option<FreezeReason> },
    /// The wallet is not frozen any more.
    Unfrozen,
    /// An automatic top-up was paid, by an order as it is now.
    TopUpSucceeded(Box<OrderSnapshot>),
    /// An attempt to top up failed.
    TopUpFailed {
        order: OrderSerial,
        decline: Decline,
        /// When the next attempt may be made; `None`: not by itself.
        next_attempt_at: Option<Timestamp>,
    },
    /// Automatic top-ups are suspended.
    TopUpSuspended(Suspension),
    /// A limit's threshold was passed, or it refused a use for the first time in its window.
    Limit(Box<LimitAlert>),
}

/// A product's threshold for a low balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LowBalance {
    /// The product that it is set for.
    pub product: ProductId,
    /// A balance of this many credits or fewer is low.
    pub credits: i64,
}

impl SubscriptionSnapshot {
    /// A subscription that a wallet of this project has.
    pub fn of(project: ProjectId, subscription: &Subscription) -> Self {
        let tier = subscription.tier();
        Self {
            id: PublicSubscriptionId::of(project, &subscription.id),
            product: tier.product,
            price: tier.price,
            label: tier.label.as_deref().map(Box::from),
            status: subscription.status,
            current_period_end: subscription.current_period_end,
            cancel_at_period_end: subscription.cancel_at_period_end,
            open_invoice: subscription
                .open_invoice
                .clone()
                .filter(|_| subscription.status == SubscriptionStatus::PastDue),
            collection_paused: subscription.collection_paused,
        }
    }

    /// A subscription that has ended; `None`: it was never paid.
    pub fn over(project: ProjectId, over: &SubscriptionOver) -> Option<Self> {
        let last = over.last.as_ref()?;
        Some(Self {
            id: PublicSubscriptionId::of(project, &over.id),
            product: last.product,
            price: last.price,
            label: last.label.clone(),
            status: SubscriptionStatus::Canceled,
            current_period_end: last.current_period_end,
            cancel_at_period_end: false,
            open_invoice: None,
            collection_paused: false,
        })
    }
}

impl EventData {
    fn of_top_up(event: TopUpEvent, wallet: &Wallet) -> Option<Self> {
        Some(match event {
            TopUpEvent::Succeeded(serial) => {
                let snapshot = OrderSnapshot::of(serial, wallet.order(serial)?);
                Self::TopUpSucceeded(Box::new(snapshot))
            }
            TopUpEvent::Failed(order, decline) => Self::TopUpFailed {
                order,
                decline,
                next_attempt_at: None,
            },
            TopUpEvent::Suspended(reason) => Self::TopUpSuspended(reason),
        })
    }
}

/// The most bytes of a wallet's features in a project event.
const MAX_FEATURES_BYTES: usize = 12 * 1024;

/// Collects the project events of one step of a wallet. A step is one event, or several that become visible together:
/// nobody can spend what comes and goes within it, so only the balances and features before and after it count.
#[derive(Debug, Default)]
pub struct EventCollector {
    data: Vec<EventData>,
    /// The balance before the step; rarely more than one, so that it costs no allocation.
    balance: Option<Balance>,
    others: Vec<Balance>,
    features: Option<Vec<Feature>>,
}

#[derive(Debug, Clone, Copy)]
struct Balance {
    product: ProductId,
    credits: AccountCredits,
    /// The product's threshold for a low balance.
    low: Option<i64>,
}

impl EventCollector {
    /// Collects the project events of an event that was applied to the wallet.
    pub fn add(&mut self, applied: Applied, wallet: &Wallet, thresholds: &[LowBalance]) {
        if applied.last_used.is_none() && wallet.is_usable() {
            // It comes first among the step's events.
            self.data.insert(0, EventData::WalletCreated);
        }
        if let Some((serial, Some(former))) = applied.order
            && let Some(order) = wallet.order(serial)
        {
            let snapshot = |event| {
                let snapshot = OrderSnapshot::of(serial, order);
                EventData::Order(event, Box::new(snapshot))
            };
            let events = OrderEvent::between(&former, order).into_iter();
            self.data.extend(events.flatten().map(snapshot));
        }
        if let Some((event, id)) = applied.subscription
            && let Some(subscription) = wallet.subscription(&id)
        {
            let snapshot = SubscriptionSnapshot::of(wallet.project, subscription);
            let data = EventData::Subscription(event, Box::new(snapshot));
            self.data.push(data);
        }
        if let Some(event) = applied.top_up.and_then(|applied| applied.event) {
            self.data.extend(EventData::of_top_up(event, wallet));
        }
        if applied.is_freeze {
            self.data.push(match wallet.frozen().cloned() {
                Some(Freeze { reason, .. }) => EventData::Frozen { reason },
                None => EventData::Unfrozen,
            });
        }
        let alerts = applied.limit_alerts.into_iter();
        self.data
            .extend(alerts.map(|alert| EventData::Limit(Box::new(alert))));
        let record = applied.record.filter(|it| it.fact.brings_credits());
        let entry = record.as_ref().and_then(Record::entry);
        self.data.extend(entry.map(|entry| EventData::Credited {
            product: entry.product,
            delta: entry.delta,
            reason: entry.reason,
            order: entry.order,
            balance: 0,
        }));
        if let Some((product, former)) = applied.account {
            self.balance(product, former, thresholds);
        }
        if self.features.is_none() {
            self.features = applied.features;
        }
    }

    fn balance(
        &mut self,
        product: ProductId,
        former: Option<AccountCredits>,
        thresholds: &[LowBalance],
    ) {
        let mut balances = self.balance.iter().chain(&self.others);
        if balances.any(|balance| balance.product == product) {
            return;
        }
        let low = thresholds.iter().find(|rule| rule.product == product);
        let before = Balance {
            product,
            credits: former.unwrap_or_default(),
            low: low.map(|rule| rule.credits),
        };
        match self.balance {
            None => self.balance = Some(before),
            Some(_) => self.others.push(before),
        }
    }

    /// The project events so far, with current balances. Low balances and changed features are found only at the step's
    /// end, by [`EventCollector::end`].
    pub fn data(&mut self, wallet: &Wallet) -> Vec<EventData> {
        let mut all = std::mem::take(&mut self.data);
        for data in &mut all {
            match data {
                EventData::Order(_, facts) | EventData::TopUpSucceeded(facts) => {
                    facts.balance = wallet.available(facts.order.terms.fills);
                    facts.code = match &wallet.owner {
                        Owner::Code { sealed, .. } => Some(sealed.clone()),
                        Owner::External(_) | Owner::Order => None,
                    };
                }
                EventData::Credited {
                    product, balance, ..
                } => *balance = wallet.available(*product),
                // A failure may suspend in the same step.
                EventData::TopUpFailed {
                    next_attempt_at, ..
                } => *next_attempt_at = wallet.top_up().and_then(TopUp::retries_at),
                _ => {}
            }
        }
        all
    }

    /// The remaining project events at the end of a step. A deduction that crosses no threshold has none. If the step
    /// continues after all, it is compared with the state at this call, so that nothing is reported twice.
    pub fn end(&mut self, wallet: &Wallet, at: Timestamp) -> Vec<EventData> {
        let mut all = self.data(wallet);
        for before in self.balance.iter_mut().chain(&mut self.others) {
            before.push_crossed_thresholds(wallet, &mut all);
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
                all.push(EventData::Features {
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
    fn push_crossed_thresholds(&mut self, wallet: &Wallet, all: &mut Vec<EventData>) {
        let (product, former) = (self.product, self.credits);
        let now = wallet.account(product).map(AccountCredits::of);
        let now = now.unwrap_or_default();
        let (balance, owed, left) = (now.available, now.owed, now.least_left);
        match (former.owed, owed) {
            (0, 1..) => all.push(EventData::Owing {
                product,
                balance,
                owed,
            }),
            (1.., 0) => all.push(EventData::Repaid { product, balance }),
            _ => {}
        }
        self.credits.owed = owed;
        if left >= former.least_left {
            return;
        }
        let was_above = |low: &i64| former.least_left > *low && left <= *low;
        if self.low.as_ref().is_some_and(was_above) {
            all.push(EventData::BalanceLow { product, balance });
        }
        if left == 0 {
            all.push(EventData::Depleted { product });
        }
        self.credits.least_left = left;
    }
}

impl OrderSnapshot {
    /// Balance and code are filled in after the step.
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

fn features(wallet: &Wallet, at: Timestamp) -> Vec<Feature> {
    wallet.unlocked(at).into_iter().cloned().collect()
}

impl EventData {
    /// The project event of this, for the wallet after the step.
    pub fn of(self, wallet: &Wallet, at: Timestamp, recorded: Timestamp) -> ProjectEvent {
        let user = match &wallet.owner {
            Owner::External(user) => Some(user.clone()),
            Owner::Code { .. } | Owner::Order => None,
        };
        ProjectEvent {
            project: wallet.project,
            at,
            recorded,
            key: wallet.key,
            wallet: wallet.id,
            user,
            data: self,
        }
    }
}
