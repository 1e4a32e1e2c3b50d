//! The naive model's purchases: orders, refunds, disputes and subscriptions, told coin by coin.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    command::QUARTER,
    model::{Model, Outcome},
    purse::Tag,
};
use crate::{
    Rejection,
    history::Reason,
    id::ProductId,
    wallet::{OrderStatus, SubscriptionStatus},
};

/// Coins of the three tiers.
pub(super) const TIERS: [i64; 3] = [1, 4, 9];
pub(super) const DAY: i64 = 4 * QUARTER;

/// Something for sale. Tiers of the odd subscriptions roll over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ware {
    pub(super) fills: ProductId,
    pub(super) coins: i64,
    pub(super) days: Option<i64>,
    pub(super) feature: Option<String>,
    /// Which subscription it starts.
    pub(super) starts: Option<u128>,
}

pub(super) type Away = (i64, i64, i64);

#[derive(Debug)]
pub(super) struct ModelOrder {
    pub(super) ware: Ware,
    pub(super) stage: OrderStatus,
    pub(super) end: i64,
    pub(super) cents: i64,
    /// Refunded, disputed, as asked when.
    pub(super) away: Away,
    pub(super) granted: i64,
    pub(super) taken: i64,
    credits_end: i64,
    subscription: Option<u128>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelSubscription {
    pub(super) tier: usize,
    pub(super) status: SubscriptionStatus,
    pub(super) period_end: i64,
    pub(super) canceling: bool,
    pub(super) grace_end: Option<i64>,
    order: u128,
    fills: ProductId,
    granted: i64,
    reported: i64,
}

/// What the provider says about a subscription's tier and cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) subscription: u128,
    pub(super) tier: usize,
    pub(super) period_end: i64,
    pub(super) reported: i64,
}

#[derive(Debug, Default)]
pub(super) struct Till {
    pub(super) orders: BTreeMap<u128, ModelOrder>,
    pub(super) subscriptions: BTreeMap<u128, ModelSubscription>,
    early: BTreeMap<u128, Away>,
    gone: BTreeSet<u128>,
}

impl ModelOrder {
    pub(super) fn status(&self) -> OrderStatus {
        if self.stage == OrderStatus::Paid && self.all_back() {
            return OrderStatus::Refunded;
        }
        self.stage
    }

    fn all_back(&self) -> bool {
        self.cents_away() > 0 && self.cents_away() >= self.cents
    }

    fn cents_away(&self) -> i64 {
        let (refunded, disputed, _) = self.away;
        refunded.saturating_add(disputed)
    }

    /// The most whole coins that cost no more than what went back.
    fn worth(&self) -> i64 {
        if self.all_back() {
            return self.granted;
        }
        if self.cents_away() == 0 {
            return 0;
        }
        let covered = |coins: &i64| coins * self.cents <= self.granted * self.cents_away();
        (0..=self.granted).rev().find(covered).unwrap()
    }
}

impl ModelSubscription {
    fn is_current(&self) -> bool {
        self.status != SubscriptionStatus::Canceled
    }
}

pub(super) fn tier_name(tier: usize) -> String {
    format!("tier.{tier}")
}

pub(super) fn rolls_over(subscription: u128) -> bool {
    subscription % 2 == 1
}

impl Model {
    pub(super) fn order(&mut self, serial: u128, ware: Ware) -> Outcome {
        self.touch();
        if self.till.orders.contains_key(&serial) {
            return Outcome::Unchanged;
        }
        let mut known = self.till.subscriptions.values();
        if ware.starts.is_some() && known.any(ModelSubscription::is_current) {
            return Outcome::Refused(Rejection::AlreadySubscribed);
        }
        self.place_order(serial, ware);
        Outcome::Applied
    }

    pub(super) fn pay(&mut self, serial: u128, cents: i64, told: Told) -> Outcome {
        self.touch();
        let Some(order) = self.till.orders.get(&serial) else {
            return Outcome::Refused(Rejection::OrderNotFound);
        };
        if order.stage == OrderStatus::Paid {
            return Outcome::Unchanged;
        }
        let subscription = order.ware.starts;
        self.fulfil(serial, cents, subscription);
        if subscription.is_some() {
            self.start(serial, told);
        }
        Outcome::Applied
    }

    pub(super) fn end_order(&mut self, serial: u128, end: OrderStatus) -> Outcome {
        self.touch();
        let now = self.now;
        match self.till.orders.get_mut(&serial) {
            None => Outcome::Refused(Rejection::OrderNotFound),
            Some(order) if order.stage == OrderStatus::Pending => {
                order.stage = end;
                self.date(now);
                Outcome::Applied
            }
            Some(_) => Outcome::Unchanged,
        }
    }

    pub(super) fn reverse(&mut self, serial: u128, next: Away) -> Outcome {
        self.touch();
        let early = self.till.early.get(&serial);
        let order = self.till.orders.get(&serial);
        let known = order.map(|order| order.away).or(early.copied());
        if known.is_some_and(|known| next.2 < known.2 || next == known) {
            return Outcome::Unchanged;
        }
        self.date(self.now);
        match self.till.orders.get_mut(&serial) {
            None => drop(self.till.early.insert(serial, next)),
            Some(order) => {
                order.away = next;
                self.move_coins(serial);
            }
        }
        Outcome::Applied
    }

    pub(super) fn renew(&mut self, serial: u128, ware: Ware, told: Told) -> Outcome {
        self.touch();
        if self.till.orders.contains_key(&serial) {
            return Outcome::Unchanged;
        }
        let known = self.till.subscriptions.get(&told.subscription).cloned();
        let renewed = known.filter(|k| k.is_current() && k.period_end <= told.period_end);
        if renewed.is_some() {
            self.end_cycle(told.subscription);
        }
        let cents = ware.coins;
        let fills = ware.fills;
        self.place_order(serial, ware);
        self.fulfil(serial, cents, Some(told.subscription));
        let Some(mut next) = renewed else {
            self.start(serial, told);
            return Outcome::Applied;
        };
        (next.order, next.period_end) = (serial, told.period_end);
        next.granted = TIERS[told.tier];
        if told.reported >= next.reported {
            (next.tier, next.fills) = (told.tier, fills);
            next.status = SubscriptionStatus::Active;
            (next.grace_end, next.reported) = (None, told.reported);
        }
        self.till.subscriptions.insert(told.subscription, next);
        self.raise(told.subscription);
        Outcome::Applied
    }

    pub(super) fn report(
        &mut self,
        told: Told,
        status: SubscriptionStatus,
        canceling: bool,
    ) -> Outcome {
        self.touch();
        let id = told.subscription;
        let over = status == SubscriptionStatus::Canceled;
        let Some(known) = self.till.subscriptions.get(&id) else {
            if over && self.till.gone.insert(id) {
                self.date(self.now);
                return Outcome::Applied;
            }
            return Outcome::Unchanged;
        };
        let grace = known.grace_end.unwrap_or(self.now + 7 * DAY);
        let next = ModelSubscription {
            tier: told.tier,
            status,
            period_end: told.period_end,
            canceling,
            grace_end: (status == SubscriptionStatus::PastDue).then_some(grace),
            reported: told.reported,
            ..known.clone()
        };
        if !known.is_current() || told.reported < known.reported || next == *known {
            return Outcome::Unchanged;
        }
        self.date(self.now);
        self.till.subscriptions.insert(id, next);
        if over {
            self.end_cycle(id);
        }
        self.raise(id);
        Outcome::Applied
    }

    /// What pending orders come to at an instant; whether there were any.
    pub(super) fn expire_orders(&mut self, instant: i64) -> bool {
        let pending = |o: &&mut ModelOrder| o.stage == OrderStatus::Pending && o.end <= instant;
        let due = self.till.orders.values_mut().filter(pending);
        due.map(|order| order.stage = OrderStatus::Expired).count() > 0
    }

    pub(super) fn all_features(&self) -> BTreeSet<String> {
        let mut all = self.features.clone();
        let orders = self.till.orders.values();
        let bought = orders.filter(|o| o.status() == OrderStatus::Paid && o.subscription.is_none());
        all.extend(bought.filter_map(|order| order.ware.feature.clone()));
        let unlocks = |s: &&ModelSubscription| match s.status {
            SubscriptionStatus::Active => true,
            SubscriptionStatus::PastDue => s.grace_end.unwrap() > self.now,
            SubscriptionStatus::Canceled => false,
        };
        let kept =
            |s: &&ModelSubscription| self.till.orders[&s.order].status() != OrderStatus::Refunded;
        let subscriptions = self
            .till
            .subscriptions
            .values()
            .filter(unlocks)
            .filter(kept);
        all.extend(subscriptions.map(|s| tier_name(s.tier)));
        all
    }

    fn place_order(&mut self, serial: u128, ware: Ware) {
        let away = self.till.early.remove(&serial).unwrap_or_default();
        self.date(self.now);
        let order = ModelOrder {
            cents: ware.coins,
            ware,
            stage: OrderStatus::Pending,
            end: self.now + DAY,
            away,
            granted: 0,
            taken: 0,
            credits_end: i64::MAX,
            subscription: None,
        };
        self.till.orders.insert(serial, order);
    }

    fn fulfil(&mut self, serial: u128, cents: i64, subscription: Option<u128>) {
        let ware = self.till.orders[&serial].ware.clone();
        let granted = ware.coins.min(self.room(ware.fills));
        let end = ware.days.map_or(i64::MAX, |days| self.now + days * DAY);
        let order = self.till.orders.get_mut(&serial).unwrap();
        (order.stage, order.cents) = (OrderStatus::Paid, cents);
        (order.granted, order.credits_end) = (granted, end);
        order.subscription = subscription;
        self.date(self.now);
        self.bring(ware.fills, Tag { serial, own: true }, granted, end);
        self.move_coins(serial);
    }

    fn bring(&mut self, product: ProductId, tag: Tag, coins: i64, end: i64) {
        if coins > 0 {
            self.purse.mint_for(product, tag, coins, end);
            self.write_for(product, Reason::Purchase, coins, tag.serial);
        }
    }

    /// Takes or gives back what the order's refunds and dispute come to.
    fn move_coins(&mut self, serial: u128) {
        let order = &self.till.orders[&serial];
        if order.stage != OrderStatus::Paid {
            return;
        }
        let (product, end, missing) = (
            order.ware.fills,
            order.credits_end,
            order.worth() - order.taken,
        );
        let tag = Tag { serial, own: true };
        let moved = if missing > 0 {
            -self.purse.take(product, tag, missing)
        } else {
            let back = (-missing).min(self.room(product));
            self.purse.mint_for(product, tag, back, end);
            back
        };
        if moved != 0 {
            self.till.orders.get_mut(&serial).unwrap().taken -= moved;
            self.write_for(product, Reason::Refund, moved, serial);
        }
    }

    fn start(&mut self, order: u128, told: Told) {
        let id = told.subscription;
        let known = self.till.subscriptions.get(&id);
        let over = known.is_some_and(|known| known.status == SubscriptionStatus::Canceled);
        if over || self.till.gone.contains(&id) {
            return self.end_cycle(id);
        }
        if self.till.subscriptions.contains_key(&id) {
            return;
        }
        let started = ModelSubscription {
            tier: told.tier,
            status: SubscriptionStatus::Active,
            period_end: told.period_end,
            canceling: false,
            grace_end: None,
            order,
            fills: self.till.orders[&order].ware.fills,
            granted: TIERS[told.tier],
            reported: told.reported,
        };
        self.till.subscriptions.insert(id, started);
    }

    fn raise(&mut self, id: u128) {
        let known = &self.till.subscriptions[&id];
        let lacking = TIERS[known.tier] - known.granted;
        let (product, serial) = (known.fills, known.order);
        let coins = lacking.min(self.room(product));
        if known.status == SubscriptionStatus::Active && coins > 0 {
            self.till.subscriptions.get_mut(&id).unwrap().granted += coins;
            self.bring(product, Tag { serial, own: false }, coins, i64::MAX);
        }
    }

    fn end_cycle(&mut self, id: u128) {
        self.date(self.now);
        if rolls_over(id) {
            return;
        }
        let now = self.now;
        for (&serial, order) in &mut self.till.orders {
            if order.subscription == Some(id) {
                order.credits_end = order.credits_end.min(now);
                self.purse.end(serial, now);
            }
        }
        self.expire_coins(now);
    }
}
