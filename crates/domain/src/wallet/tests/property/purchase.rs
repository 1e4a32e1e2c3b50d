//! Random acts of buyers and the provider, given to the wallet and its model alike.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{
    super::shop::{CLUB, pack, paying, payment, placed, sub, switch},
    Run,
    command::QUARTER,
    model::Outcome,
    orders::{CYCLE, Item, ModelReport, TIERS, TRIAL, rolls_over, tier_name},
};
use crate::{
    Timestamp,
    catalog::Interval,
    id::{OrderSerial, PriceId},
    terms::Terms,
    text::Feature,
    wallet::{
        OrderStatus, Reversal, SubscriptionStatus,
        bill::{Bill, Pays},
        pay::{PaidCycle, Pay},
        purchase::{OrderReport, Purchase},
        update_subscription::UpdateSubscription,
    },
};

/// Orders and subscriptions by index, times in quarters of a day.
#[derive(Debug, Clone)]
pub(super) enum RandomPurchase {
    Order {
        order: u128,
        product: usize,
        coins: i64,
        days: Option<i64>,
        feature: bool,
    },
    OrderTier {
        order: u128,
        subscription: u128,
        tier: usize,
    },
    Pay {
        order: u128,
        cents: i64,
    },
    End {
        order: u128,
        failed: bool,
    },
    Reverse {
        order: u128,
        refunded: i64,
        disputed: i64,
        age: i64,
    },
    Renew {
        order: u128,
        subscription: u128,
        tier: usize,
        /// Quarters since its cycle began.
        since: i64,
        age: i64,
        free: bool,
        trial: bool,
        paused: bool,
    },
    Switch {
        order: u128,
        subscription: u128,
        tiers: (usize, usize),
        /// Quarters since its cycle began, and from then to the switch.
        since: i64,
        after: i64,
        free: bool,
        trial: bool,
        paused: bool,
    },
    Report {
        subscription: u128,
        tier: usize,
        status: SubscriptionStatus,
        canceling: bool,
        ahead: i64,
        age: i64,
    },
}

pub(super) fn purchase(most: i64) -> impl Strategy<Value = RandomPurchase> {
    let order = 0..4_u128;
    // Renewals have orders of their own; refunds are of any order.
    let renewal = || 4..10_u128;
    let since = || -1..9_i64;
    let seldom = || prop::bool::weighted(0.15);
    let any_order = 0..10_u128;
    let subscription = 0..3_u128;
    let tier = 0..3_usize;
    let days = proptest::option::of(1..5_i64);
    let ahead = prop::sample::select(vec![0, 4, 4, 8, 40]);
    let age = prop_oneof![3 => Just(0), 1 => -1..8_i64];
    let cents = || prop_oneof![1 => Just(0), 2 => 0..10_i64];
    let status = prop::sample::select(vec![
        SubscriptionStatus::Active,
        SubscriptionStatus::Active,
        SubscriptionStatus::Active,
        SubscriptionStatus::PastDue,
        SubscriptionStatus::Paused,
        SubscriptionStatus::Canceled,
    ]);
    prop_oneof![
        3 => (order.clone(), 0..3_usize, 0..=most, days, any::<bool>()).prop_map(
            |(order, product, coins, days, feature)| RandomPurchase::Order {
                order, product, coins, days, feature
            }
        ),
        3 => (order.clone(), subscription.clone(), tier.clone()).prop_map(
            |(order, subscription, tier)| RandomPurchase::OrderTier { order, subscription, tier }
        ),
        6 => (order.clone(), 0..9_i64).prop_map(|(order, cents)| RandomPurchase::Pay { order, cents }),
        1 => (order, any::<bool>()).prop_map(|(order, failed)| RandomPurchase::End { order, failed }),
        7 => (any_order, cents(), cents(), age.clone()).prop_map(
            |(order, refunded, disputed, age)| RandomPurchase::Reverse { order, refunded, disputed, age }
        ),
        4 => (
            (renewal(), subscription.clone(), tier.clone(), since(), age.clone()),
            (seldom(), seldom(), seldom())
        )
            .prop_map(|((order, subscription, tier, since, age), (free, trial, paused))| {
                RandomPurchase::Renew { order, subscription, tier, since, age, free, trial, paused }
            }),
        4 => (
            (renewal(), subscription.clone(), (tier.clone(), tier.clone()), since(), 0..4_i64),
            (seldom(), seldom(), seldom())
        )
            .prop_map(|((order, subscription, tiers, since, after), (free, trial, paused))| {
                RandomPurchase::Switch { order, subscription, tiers, since, after, free, trial, paused }
            }),
        4 => (subscription, tier, status, any::<bool>(), ahead, age).prop_map(
            |(subscription, tier, status, canceling, ahead, age)| RandomPurchase::Report {
                subscription, tier, status, canceling, ahead, age
            }
        ),
    ]
}

impl Run {
    /// The wallet's answer and the model's.
    pub(super) fn both_buy(&mut self, purchase: &RandomPurchase) -> (Outcome, Outcome) {
        self.driver.touch();
        let now = self.driver.now;
        match *purchase {
            RandomPurchase::Order {
                order,
                product,
                coins,
                days,
                feature,
            } => {
                let item = Item {
                    fills: self.product(product),
                    coins,
                    days,
                    feature: feature.then(|| format!("bought.{order}")),
                    starts: None,
                };
                self.both_order(order, item)
            }
            RandomPurchase::OrderTier {
                order,
                subscription,
                tier,
            } => {
                let item = self.tier(subscription, tier);
                self.both_order(order, item)
            }
            RandomPurchase::Pay { order, cents } => {
                let price = self.model.purchases.orders.get(&order);
                let cents = self.exact(cents, price.map_or(0, |order| order.item.coins));
                let orders = self.driver.orders();
                let existing = orders.get(&OrderSerial(order));
                let starts = self.model.purchases.orders.get(&order);
                let starts = starts.and_then(|order| order.item.starts);
                let report = ModelReport {
                    subscription: starts.unwrap_or(0),
                    tier: existing.map_or(0, |order| tier_of(&order.terms)),
                    start: now.0,
                    period_end: now.0 + CYCLE * QUARTER,
                    trial: false,
                    paused: false,
                    reported: now.0,
                };
                let pay = Pay {
                    billing: starts.map(|_| billing(report)),
                    ..paying(order, cents)
                };
                let real = self.both_purchase(Purchase::Pay(Box::new(pay)));
                (real, self.model.pay(order, cents, report))
            }
            RandomPurchase::End { order, failed } => {
                let serial = OrderSerial(order);
                let (command, end) = if failed {
                    (
                        Purchase::Report(serial, OrderReport::Failed),
                        OrderStatus::Failed,
                    )
                } else {
                    (
                        Purchase::Report(serial, OrderReport::Expired),
                        OrderStatus::Expired,
                    )
                };
                (
                    self.both_purchase(command),
                    self.model.end_order(order, end),
                )
            }
            RandomPurchase::Reverse {
                order,
                refunded,
                disputed,
                age,
            } => {
                // In full or not at all, where a coin is many credits.
                let [refunded, disputed] =
                    [refunded, disputed].map(|cents| self.exact(cents, cents.signum() * i64::MAX));
                let as_of = now.0 - age * QUARTER;
                let reversal = Reversal {
                    refunded_cents: refunded,
                    disputed_cents: disputed,
                    dispute: None,
                    as_of: Timestamp(as_of),
                };
                let real = self.both_purchase(Purchase::Reverse(OrderSerial(order), reversal));
                (real, self.model.reverse(order, (refunded, disputed, as_of)))
            }
            RandomPurchase::Renew {
                order,
                subscription,
                tier,
                since,
                age,
                free,
                trial,
                paused,
            } => {
                let item = self.tier(subscription, tier);
                let report = ModelReport {
                    start: now.0 - since * QUARTER,
                    period_end: now.0 + (CYCLE - since) * QUARTER,
                    trial,
                    paused,
                    ..self.report(subscription, tier, 0, age)
                };
                let cents = if free { 0 } else { item.coins };
                let cycle = Bill {
                    order: OrderSerial(order),
                    is_add_on: false,
                    pays: Pays::Cycle,
                    terms: Some(self.terms(&item)),
                    quantity: crate::Quantity::ONE,
                    payment: payment(order, cents),
                    billing: billing(report),
                };
                let real = self.both_purchase(Purchase::Bill(Box::new(cycle)));
                (real, self.model.renew(order, item, cents, report))
            }
            RandomPurchase::Switch {
                order,
                subscription,
                tiers: (old, tier),
                since,
                after,
                free,
                trial,
                paused,
            } => {
                let item = self.tier(subscription, tier);
                let report = ModelReport {
                    start: now.0 - since * QUARTER,
                    period_end: now.0 + (CYCLE - since) * QUARTER,
                    trial,
                    paused,
                    ..self.report(subscription, tier, 0, 0)
                };
                let at = report.start + after * QUARTER;
                let cents = if free { 0 } else { item.coins };
                let (billing, terms) = (billing(report), self.terms(&item));
                let old_terms = self.terms(&self.tier(subscription, old));
                let switch = Bill {
                    order: OrderSerial(order),
                    is_add_on: false,
                    pays: switch(old_terms, terms.clone(), Timestamp(at), &billing),
                    terms: Some(terms),
                    quantity: crate::Quantity::ONE,
                    payment: payment(order, cents),
                    billing,
                };
                let real = self.both_purchase(Purchase::Bill(Box::new(switch)));
                (
                    real,
                    self.model.switch(order, (item, cents), (old, at), report),
                )
            }
            RandomPurchase::Report {
                subscription,
                tier,
                status,
                canceling,
                ahead,
                age,
            } => {
                let report = self.report(subscription, tier, ahead, age);
                let update = UpdateSubscription {
                    subscription: sub(subscription),
                    first: None,
                    terms: Some(self.terms(&self.tier(subscription, tier))),
                    status,
                    open_invoice: None,
                    collection_paused: false,
                    current_period_end: Timestamp(report.period_end),
                    cancel_at_period_end: canceling,
                    grace_days: 7,
                    reported_at: Timestamp(report.reported),
                };
                let real = self.both_purchase(Purchase::Update(Box::new(update)));
                (real, self.model.report(report, status, canceling))
            }
        }
    }

    fn both_order(&mut self, order: u128, item: Item) -> (Outcome, Outcome) {
        let placing = placed(order, self.terms(&item));
        let real = self.both_purchase(Purchase::Place(placing));
        (real, self.model.order(order, item))
    }

    fn both_purchase(&mut self, command: Purchase) -> Outcome {
        match self.driver.purchase(command) {
            Ok(true) => Outcome::Applied,
            Ok(false) => Outcome::Unchanged,
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    fn report(&self, subscription: u128, tier: usize, ahead: i64, age: i64) -> ModelReport {
        let now = self.driver.now.0;
        ModelReport {
            subscription,
            tier,
            start: now,
            period_end: now + ahead * QUARTER,
            trial: false,
            paused: false,
            reported: now - age * QUARTER,
        }
    }

    fn tier(&self, subscription: u128, tier: usize) -> Item {
        Item {
            fills: self.product(0),
            coins: TIERS[tier],
            days: None,
            feature: Some(tier_name(tier)),
            starts: Some(subscription),
        }
    }

    /// A coin's price is a cent.
    fn terms(&self, item: &Item) -> Terms {
        let feature = item.feature.iter();
        Terms {
            product: if item.starts.is_some() {
                CLUB
            } else {
                item.fills
            },
            fills: item.fills,
            credits: item.coins * self.model.worth,
            expire_after_days: item.days.map(|days| u32::try_from(days).unwrap()),
            rollover: item.starts.is_some_and(rolls_over),
            features: feature
                .map(|f| Feature::new(f.as_str()).unwrap())
                .collect::<BTreeSet<_>>(),
            interval: match item.starts {
                Some(_) => Interval::Month,
                None => Interval::OneTime,
            },
            trial_credits: TRIAL * self.model.worth,
            amount_cents: item.coins,
            price: PriceId(TIERS.iter().position(|&t| t == item.coins).unwrap_or(0) as u128),
            ..pack()
        }
    }

    /// Where a coin is many credits, whole coins have to go back: an order costs its price and is refunded in full.
    fn exact(&self, cents: i64, instead: i64) -> i64 {
        if self.model.worth > 1 { instead } else { cents }
    }
}

fn tier_of(terms: &Terms) -> usize {
    usize::try_from(terms.price.0).unwrap()
}

fn billing(report: ModelReport) -> PaidCycle {
    PaidCycle {
        subscription: sub(report.subscription),
        invoice: None,
        cycle_start: Timestamp(report.start),
        current_period_end: Timestamp(report.period_end),
        trial: report.trial,
        after_end: false,
        paused: report.paused,
        reported_at: Timestamp(report.reported),
    }
}
