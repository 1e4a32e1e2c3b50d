//! Project events tell a project's servers about its wallets: an order was paid, credits were added, a balance is low.
//! They follow from events of one wallet and are logged with them, so that a crash loses none and invents none.
//!
//! Their content is fixed when they are logged. All changes of one step of a wallet become visible together, so a
//! project event shows the state after the step.

use crate::{
    history::{Reason, Record},
    id::{OrderSerial, PriceId, ProductId, ProjectId, PublicSubscriptionId, WalletId, WalletKey},
    text::{ExternalUserId, Feature, FreezeReason},
    time::Timestamp,
    wallet::{
        Change, Dispute, Event, OpenInvoice, Order, Owner, Subscription, SubscriptionOver,
        SubscriptionStatus, Wallet, event::SubscriptionEvent,
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
    #[must_use]
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
    /// The project event when the newest dispute of an order changes from `before` to `now`.
    #[must_use]
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
    #[must_use]
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
    #[must_use]
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
    /// The least that was left since credits were last added.
    left: i64,
    owed: i64,
    /// The product's threshold for a low balance.
    low: Option<i64>,
}

/// What one event is about, before the event.
#[derive(Debug, Default)]
pub struct Subject {
    created: bool,
    order: Option<(OrderSerial, Step)>,
    subscription: Option<(SubscriptionEvent, Box<SubscriptionSnapshot>)>,
    frozen: Option<Box<EventData>>,
}

#[derive(Debug)]
enum Step {
    News(OrderEvent),
    /// The refunded or disputed amount changed.
    Reversed {
        was_refunded: bool,
        dispute: Option<Dispute>,
    },
}

impl EventCollector {
    /// Notes the state that an event of the step may change. Call it before applying the event.
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
            | Change::Forgiven { product, .. }
            | Change::LotExpired { product, .. }
            | Change::HoldPlaced { product, .. } => Some(*product),
            Change::Charged(charged) => Some(charged.product),
            Change::DeductionReversed(reversed) => Some(reversed.product),
            Change::HoldSettled { hold, .. }
            | Change::HoldDrawn { hold, .. }
            | Change::HoldReleased { hold }
            | Change::HoldExpired { hold } => wallet
                .and_then(|wallet| wallet.hold(hold))
                .map(|hold| hold.product),
            Change::Created(created) => {
                subject.created = created.owner != Owner::Order;
                None
            }
            // A payment minted the code; until then nobody could use the wallet.
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
                subject.order = Some((paid.order, Step::News(OrderEvent::Paid)));
                fills(wallet, paid.order)
            }
            Change::OrderFailed(closed) => {
                subject.order = Some((closed.order, Step::News(OrderEvent::Failed)));
                None
            }
            Change::OrderExpired(closed) => {
                subject.order = Some((closed.order, Step::News(OrderEvent::Expired)));
                None
            }
            Change::OrderReversed { order, .. } => {
                self.features(wallet, event.at);
                let existing = wallet.and_then(|wallet| wallet.order(*order));
                let step = Step::Reversed {
                    was_refunded: existing.is_none_or(Order::is_refunded),
                    dispute: existing.and_then(|order| order.reversal.dispute),
                };
                subject.order = Some((*order, step));
                fills(wallet, *order)
            }
            Change::SubscriptionChanged(changed) => {
                self.features(wallet, event.at);
                let event = changed.subscription_event.zip(wallet);
                subject.subscription = event.map(|(data, wallet)| {
                    let facts = SubscriptionSnapshot::of(wallet.project, &changed.subscription);
                    (data, Box::new(facts))
                });
                None
            }
            Change::Frozen { reason } => {
                let reason = reason.clone();
                subject.frozen = Some(Box::new(EventData::Frozen { reason }));
                None
            }
            Change::Unfrozen => {
                subject.frozen = Some(Box::new(EventData::Unfrozen));
                None
            }
            Change::HoldExtended { .. }
            | Change::DebtLimitChanged { .. }
            | Change::OrderPlaced(_)
            | Change::OrderProcessing { .. }
            | Change::SubscriptionGone { .. }
            | Change::CycleEnded { .. }
            | Change::OrderArchived { .. }
            | Change::OrderErased(_)
            | Change::Instructed(_)
            | Change::ReversedInAll { .. }
            | Change::SessionsRevoked
            | Change::OrderRecalled(_) => None,
        };
        if let Some(product) = product {
            self.balance(wallet, product, thresholds);
        }
        subject
    }

    fn balance(&mut self, wallet: Option<&Wallet>, product: ProductId, thresholds: &[LowBalance]) {
        let mut balances = self.balance.iter().chain(&self.others);
        if balances.any(|balance| balance.product == product) {
            return;
        }
        let low = thresholds.iter().find(|rule| rule.product == product);
        let before = Balance {
            product,
            left: wallet.map_or(0, |wallet| wallet.least_left(product)),
            owed: wallet.map_or(0, |wallet| wallet.owed(product)),
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

    /// Collects the project events of an event. Call it after applying the event, with its record.
    pub fn after(&mut self, subject: Subject, wallet: &Wallet, record: Option<&Record>) {
        if subject.created {
            // It comes first among the step's events.
            self.data.insert(0, EventData::WalletCreated);
        }
        let order = subject.order;
        if let Some((order, (serial, step))) = order.and_then(|it| Some((wallet.order(it.0)?, it)))
        {
            let is_refunded = order.is_refunded();
            let dispute = order.reversal.dispute;
            let (data, refunded, disputed) = match step {
                // A refund or dispute may have been reported before the payment.
                Step::News(OrderEvent::Paid) => {
                    let disputed = OrderEvent::of_dispute(None, dispute);
                    (Some(OrderEvent::Paid), is_refunded, disputed)
                }
                Step::News(data) => (Some(data), false, None),
                Step::Reversed {
                    was_refunded,
                    dispute: former,
                } => {
                    let disputed = OrderEvent::of_dispute(former, dispute);
                    (None, is_refunded && !was_refunded, disputed)
                }
            };
            let refunded = refunded.then_some(OrderEvent::Refunded);
            for data in data.into_iter().chain(disputed).chain(refunded) {
                let facts = OrderSnapshot::of(serial, order);
                self.data.push(EventData::Order(data, Box::new(facts)));
            }
        }
        if let Some((data, facts)) = subject.subscription {
            self.data.push(EventData::Subscription(data, facts));
        }
        self.data.extend(subject.frozen.map(|data| *data));
        let comes = record.filter(|record| record.fact.brings_credits());
        let entry = comes.and_then(Record::entry);
        let mut watched = self.balance.iter().chain(&self.others);
        let entry = entry.filter(|entry| watched.any(|it| it.product == entry.product));
        self.data.extend(entry.map(|entry| EventData::Credited {
            product: entry.product,
            delta: entry.delta,
            reason: entry.reason,
            order: entry.order,
            balance: 0,
        }));
    }

    /// The project events so far, with current balances. Low balances and changed features are found only at the step's
    /// end, by [`EventCollector::end`].
    pub fn data(&mut self, wallet: &Wallet) -> Vec<EventData> {
        let mut all = std::mem::take(&mut self.data);
        for data in &mut all {
            match data {
                EventData::Order(_, facts) => {
                    facts.balance = wallet.available(facts.order.terms.fills);
                    facts.code = match &wallet.owner {
                        Owner::Code { sealed, .. } => Some(sealed.clone()),
                        Owner::External(_) | Owner::Order => None,
                    };
                }
                EventData::Credited {
                    product, balance, ..
                } => *balance = wallet.available(*product),
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
        let (product, balance) = (self.product, wallet.available(self.product));
        let owed = wallet.owed(product);
        match (self.owed, owed) {
            (0, 1..) => all.push(EventData::Owing {
                product,
                balance,
                owed,
            }),
            (1.., 0) => all.push(EventData::Repaid { product, balance }),
            _ => {}
        }
        self.owed = owed;
        let left = wallet.least_left(product);
        if left >= self.left {
            return;
        }
        let was_above = |low: &i64| self.left > *low && left <= *low;
        if self.low.as_ref().is_some_and(was_above) {
            all.push(EventData::BalanceLow { product, balance });
        }
        if left == 0 {
            all.push(EventData::Depleted { product });
        }
        self.left = left;
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

fn fills(wallet: Option<&Wallet>, order: OrderSerial) -> Option<ProductId> {
    Some(wallet?.order(order)?.terms.fills)
}

fn features(wallet: &Wallet, at: Timestamp) -> Vec<Feature> {
    wallet.unlocked(at).into_iter().cloned().collect()
}

impl EventData {
    /// The project event of this, for the wallet after the step.
    #[must_use]
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
