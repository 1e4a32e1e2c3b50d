//! The naive model's purchases: orders, refunds, disputes and subscriptions, coin by coin.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    balances::CoinOrigin,
    command::QUARTER,
    model::{Model, Outcome},
};
use crate::{
    Rejection,
    history::Reason,
    id::ProductId,
    wallet::{OrderStatus, SubscriptionStatus},
};

/// Coins of the three tiers, so far apart that a quarter of each difference is whole: cycles are four quarters long.
pub(super) const TIERS: [i64; 3] = [1, 5, 9];
pub(super) const TRIAL: i64 = 2;
pub(super) const CYCLE: i64 = 4;
pub(super) const DAY: i64 = 4 * QUARTER;

/// Something for sale. Tiers of the odd subscriptions roll over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) fills: ProductId,
    pub(super) coins: i64,
    pub(super) days: Option<i64>,
    pub(super) feature: Option<String>,
    /// The subscription that it starts.
    pub(super) starts: Option<u128>,
}

pub(super) type ModelReversal = (i64, i64, i64);

#[derive(Debug)]
pub(super) struct ModelOrder {
    pub(super) item: Item,
    pub(super) stage: OrderStatus,
    pub(super) end: i64,
    pub(super) cents: i64,
    /// Refunded cents, disputed cents, and when they were read.
    pub(super) away: ModelReversal,
    /// What is refunded in total once all requested refunds went through, and when the last was requested.
    pub(super) pending_refunds: Option<(i64, i64)>,
    pub(super) granted: i64,
    pub(super) taken: i64,
    pub(super) credits_end: i64,
    /// Its cycle ended.
    ended: bool,
    subscription: Option<u128>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelSubscription {
    paid: usize,
    /// Paid switches of the cycle: order, from which tier, to which, when.
    switches: Vec<(u128, usize, usize, i64)>,
    /// The highest of them: order, tier, when.
    top: Option<(u128, usize, i64)>,
    reported_tier: Option<usize>,
    pub(super) status: SubscriptionStatus,
    /// When its cycle began.
    start: i64,
    pub(super) period_end: i64,
    pub(super) canceling: bool,
    pub(super) grace_end: Option<i64>,
    order: Option<u128>,
    fills: ProductId,
    reported: i64,
}

/// A payment or a report of a subscription's tier and cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelReport {
    pub(super) subscription: u128,
    pub(super) tier: usize,
    pub(super) start: i64,
    pub(super) period_end: i64,
    pub(super) trial: bool,
    pub(super) paused: bool,
    pub(super) reported: i64,
}

#[derive(Debug, Default)]
pub(super) struct ModelPurchases {
    pub(super) orders: BTreeMap<u128, ModelOrder>,
    pub(super) subscriptions: BTreeMap<u128, ModelSubscription>,
    early: BTreeMap<u128, ModelReversal>,
    ended_subscriptions: BTreeSet<u128>,
}

impl ModelOrder {
    pub(super) fn status(&self) -> OrderStatus {
        if self.stage == OrderStatus::Paid && self.all_back() {
            return OrderStatus::Refunded;
        }
        self.stage
    }

    fn all_back(&self) -> bool {
        let (refunded, disputed, _) = self.away;
        // A bank's sum may differ a little from what was charged.
        let nearly = disputed > 0
            && i128::from(disputed) * 10 >= i128::from(self.cents - refunded.max(0)) * 9;
        nearly || self.cents_away() > 0 && self.cents_away() >= self.cents
    }

    fn cents_away(&self) -> i64 {
        let (refunded, disputed, _) = self.away;
        refunded.saturating_add(disputed)
    }

    /// Recalls it for another change: what is given back is over if its cycle is, even if the clock stepped back.
    pub(super) fn recalled(&mut self, over: bool, now: i64) {
        if over || self.ended {
            self.credits_end = self.credits_end.min(now);
        }
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

    /// Whether a payment of a whole cycle is for one before the known cycle, for that, or for a later one.
    fn compare(&self, report: ModelReport) -> Ordering {
        let switched = self.switches.iter().map(|&(.., at)| at).max();
        match switched.filter(|_| self.order.is_none()) {
            Some(at) if report.period_end <= at => Ordering::Less,
            Some(at) if report.start <= at => Ordering::Equal,
            None if report.start < self.start => Ordering::Less,
            _ => Ordering::Greater,
        }
    }

    fn begin(&mut self, paid: usize, start: i64) {
        (self.paid, self.start, self.order) = (paid, start, None);
        self.switches.clear();
        self.top = None;
    }

    /// Takes the status of an invoice that is newer than all reports.
    fn bill(&mut self, report: ModelReport) {
        if report.reported > self.reported {
            self.status = report.status();
            (self.reported_tier, self.grace_end, self.canceling) = (None, None, false);
            (self.period_end, self.reported) = (report.period_end, report.reported);
        }
    }
}

impl ModelReport {
    fn status(self) -> SubscriptionStatus {
        if self.paused {
            SubscriptionStatus::Paused
        } else {
            SubscriptionStatus::Active
        }
    }

    fn started(self, paid: usize, fills: ProductId) -> ModelSubscription {
        ModelSubscription {
            paid,
            switches: Vec::new(),
            top: None,
            reported_tier: None,
            status: self.status(),
            start: self.start,
            period_end: self.period_end,
            canceling: false,
            grace_end: None,
            order: None,
            fills,
            reported: i64::MIN,
        }
    }

    fn coins(self, cents: i64) -> i64 {
        match (self.trial, self.paused && cents == 0) {
            (true, _) => TRIAL,
            (_, true) => 0,
            _ => TIERS[self.tier],
        }
    }
}

pub(super) fn tier_name(tier: usize) -> String {
    format!("tier.{tier}")
}

pub(super) fn rolls_over(subscription: u128) -> bool {
    subscription % 2 == 1
}

impl Model {
    pub(super) fn order(&mut self, serial: u128, item: Item) -> Outcome {
        self.touch();
        if self.purchases.orders.contains_key(&serial) {
            return Outcome::Unchanged;
        }
        if let Err(refusal) = self.not_frozen() {
            return Outcome::Refused(refusal);
        }
        let mut existing = self.purchases.subscriptions.values();
        if item.starts.is_some() && existing.any(ModelSubscription::is_current) {
            return Outcome::Refused(Rejection::AlreadySubscribed { open_invoice: None });
        }
        self.place_order(serial, item);
        Outcome::Applied
    }

    pub(super) fn pay(&mut self, serial: u128, cents: i64, report: ModelReport) -> Outcome {
        self.touch();
        let Some(order) = self.purchases.orders.get(&serial) else {
            return Outcome::Refused(Rejection::OrderNotFound);
        };
        if order.stage == OrderStatus::Paid {
            return Outcome::Unchanged;
        }
        let subscription = order.item.starts;
        if subscription.is_none() {
            let coins = order.item.coins;
            self.fulfil(serial, cents, coins, None, false);
            return Outcome::Applied;
        }
        let existing = self.current(report.subscription);
        // The first cycle comes before all others.
        let over = self.is_over(report.subscription)
            || existing.is_some_and(|existing| existing.compare(report) != Ordering::Equal);
        self.fulfil(serial, cents, report.coins(cents), subscription, over);
        if !over {
            self.take_cycle(serial, report);
        }
        Outcome::Applied
    }

    pub(super) fn end_order(&mut self, serial: u128, end: OrderStatus) -> Outcome {
        self.touch();
        let now = self.now;
        match self.purchases.orders.get_mut(&serial) {
            None => Outcome::Refused(Rejection::OrderNotFound),
            Some(order) if order.stage == OrderStatus::Pending => {
                order.stage = end;
                self.date(now);
                Outcome::Applied
            }
            Some(_) => Outcome::Unchanged,
        }
    }

    pub(super) fn reverse(&mut self, serial: u128, next: ModelReversal) -> Outcome {
        self.touch();
        let early = self.purchases.early.get(&serial);
        let order = self.purchases.orders.get(&serial);
        let existing = order.map(|order| order.away).or(early.copied());
        if existing.is_some_and(|existing| next.2 < existing.2 || next == existing) {
            return Outcome::Unchanged;
        }
        self.date(self.now);
        let over = self.order_is_over(serial);
        let now = self.now;
        match self.purchases.orders.get_mut(&serial) {
            None => drop(self.purchases.early.insert(serial, next)),
            Some(order) => {
                order.away = next;
                order.see();
                order.recalled(over, now);
                self.move_coins(serial);
            }
        }
        Outcome::Applied
    }

    pub(super) fn renew(
        &mut self,
        serial: u128,
        item: Item,
        cents: i64,
        report: ModelReport,
    ) -> Outcome {
        self.touch();
        if self.purchases.orders.contains_key(&serial) {
            return Outcome::Unchanged;
        }
        let existing = self.current(report.subscription);
        let place = existing.map(|existing| existing.compare(report));
        let over = self.is_over(report.subscription) || place == Some(Ordering::Less);
        if place == Some(Ordering::Greater) {
            self.end_cycle(report.subscription);
        }
        self.place_order(serial, item);
        let coins = report.coins(cents);
        self.fulfil(serial, cents, coins, Some(report.subscription), over);
        if !over {
            self.take_cycle(serial, report);
        }
        Outcome::Applied
    }

    /// A switch from a tier to the given one, so long after the cycle's start.
    pub(super) fn switch(
        &mut self,
        serial: u128,
        (item, cents): (Item, i64),
        (old, at): (usize, i64),
        report: ModelReport,
    ) -> Outcome {
        self.touch();
        if self.purchases.orders.contains_key(&serial) {
            return Outcome::Unchanged;
        }
        let id = report.subscription;
        let existing = self.current(id).cloned();
        let end = |existing: &ModelSubscription| existing.start + CYCLE * QUARTER;
        let before = existing
            .as_ref()
            .is_some_and(|existing| at < existing.start);
        let after = existing
            .as_ref()
            .is_some_and(|existing| at >= end(existing));
        let over = self.is_over(id) || before;
        if after {
            self.end_cycle(id);
        }
        let same = existing.clone().filter(|_| !before && !after);
        let coins = if report.trial || report.paused && cents == 0 {
            0
        } else {
            self.brought(same.as_ref(), (old, report.tier), (at, report.start))
        };
        let fills = item.fills;
        self.place_order(serial, item);
        self.fulfil(serial, cents, coins, Some(id), over);
        if over {
            return Outcome::Applied;
        }
        let mut next = existing.unwrap_or_else(|| report.started(old, fills));
        if after {
            next.begin(old, report.start);
        }
        next.switches.push((serial, old, report.tier, at));
        let place = |(order, tier, at)| (!self.went_back(order), tier, at, order);
        let to = (serial, report.tier, at);
        if report.tier >= old && next.top.is_none_or(|top| place(top) <= place(to)) {
            next.top = Some(to);
        }
        self.purchases.subscriptions.insert(id, next);
        Outcome::Applied
    }

    /// The credits of a switch: for each coin that the new tier has over the old one, the worth of its time beyond
    /// the time that was paid before.
    fn brought(
        &self,
        existing: Option<&ModelSubscription>,
        (old, new): (usize, usize),
        (at, start): (i64, i64),
    ) -> i64 {
        let whole = CYCLE * QUARTER;
        let left = |at: i64| (start + whole - at).clamp(0, whole);
        let base = existing.filter(|existing| existing.order.is_some());
        let base = base.map_or(0, |existing| TIERS[existing.paid]);
        let mut time = 0;
        for coin in TIERS[old]..TIERS[new] {
            if coin < base {
                continue;
            }
            let switches = existing.map_or(&[][..], |existing| &existing.switches);
            let paid = switches.iter().filter(|(order, from, to, _)| {
                !self.went_back(*order) && TIERS[*from] <= coin && coin < TIERS[*to]
            });
            let had = paid.map(|&(.., at)| left(at)).max().unwrap_or(0);
            time += (left(at) - had).max(0);
        }
        assert_eq!(time % whole, 0);
        time / whole
    }

    fn went_back(&self, order: u128) -> bool {
        self.purchases.orders[&order].status() == OrderStatus::Refunded
    }

    fn current(&self, id: u128) -> Option<&ModelSubscription> {
        let existing = self.purchases.subscriptions.get(&id);
        existing.filter(|existing| existing.is_current())
    }

    /// Whether an order's subscription is over, and its credits with that.
    pub(super) fn order_is_over(&self, serial: u128) -> bool {
        let order = self.purchases.orders.get(&serial);
        let of = order.and_then(|order| order.subscription);
        of.is_some_and(|id| !rolls_over(id) && self.is_over(id))
    }

    fn is_over(&self, id: u128) -> bool {
        let existing = self.purchases.subscriptions.get(&id);
        self.purchases.ended_subscriptions.contains(&id)
            || existing.is_some_and(|existing| !existing.is_current())
    }

    /// The tier in force: the highest that is paid, or a higher one that was named and not refunded.
    pub(super) fn tier_of(&self, existing: &ModelSubscription) -> usize {
        let top = existing.top.filter(|&(order, ..)| !self.went_back(order));
        let paid = top.map_or(existing.paid, |(_, tier, _)| tier.max(existing.paid));
        let reversed = existing.top.filter(|&(order, ..)| self.went_back(order));
        let reversed = reversed.map(|(_, tier, _)| tier);
        let reported = existing
            .reported_tier
            .filter(|&tier| reversed != Some(tier))
            .unwrap_or(0);
        if existing.status == SubscriptionStatus::Active {
            paid.max(reported)
        } else {
            paid
        }
    }

    pub(super) fn report(
        &mut self,
        report: ModelReport,
        status: SubscriptionStatus,
        canceling: bool,
    ) -> Outcome {
        self.touch();
        let id = report.subscription;
        let over = status == SubscriptionStatus::Canceled;
        let Some(existing) = self.purchases.subscriptions.get(&id) else {
            if over && self.purchases.ended_subscriptions.insert(id) {
                self.date(self.now);
                return Outcome::Applied;
            }
            return Outcome::Unchanged;
        };
        let grace = existing.grace_end.unwrap_or(self.now + 7 * DAY);
        let next = ModelSubscription {
            reported_tier: Some(report.tier),
            status,
            period_end: report.period_end,
            canceling,
            grace_end: (status == SubscriptionStatus::PastDue).then_some(grace),
            reported: report.reported,
            ..existing.clone()
        };
        if !existing.is_current() || report.reported < existing.reported || next == *existing {
            return Outcome::Unchanged;
        }
        self.date(self.now);
        self.purchases.subscriptions.insert(id, next);
        if over {
            self.end_cycle(id);
        }
        Outcome::Applied
    }

    /// Expires pending orders as of an instant; whether there were any.
    pub(super) fn expire_orders(&mut self, instant: i64) -> bool {
        let pending = |o: &&mut ModelOrder| o.stage == OrderStatus::Pending && o.end <= instant;
        let due = self.purchases.orders.values_mut().filter(pending);
        due.map(|order| order.stage = OrderStatus::Expired).count() > 0
    }

    pub(super) fn all_features(&self) -> BTreeSet<String> {
        let mut all = self.features.clone();
        let orders = self.purchases.orders.values();
        let bought = orders.filter(|o| o.status() == OrderStatus::Paid && o.subscription.is_none());
        all.extend(bought.filter_map(|order| order.item.feature.clone()));
        let unlocks = |s: &&ModelSubscription| match s.status {
            SubscriptionStatus::Active => true,
            SubscriptionStatus::PastDue => s.grace_end.unwrap() > self.now,
            SubscriptionStatus::Paused | SubscriptionStatus::Canceled => false,
        };
        let kept = |s: &&ModelSubscription| {
            let order = s.order.map(|order| self.purchases.orders[&order].status());
            order != Some(OrderStatus::Refunded)
        };
        let subscriptions = self
            .purchases
            .subscriptions
            .values()
            .filter(unlocks)
            .filter(kept);
        all.extend(subscriptions.map(|s| tier_name(self.tier_of(s))));
        all
    }

    fn place_order(&mut self, serial: u128, item: Item) {
        let away = self.purchases.early.remove(&serial).unwrap_or_default();
        self.date(self.now);
        let order = ModelOrder {
            cents: item.coins,
            item,
            stage: OrderStatus::Pending,
            end: self.now + DAY,
            away,
            pending_refunds: None,
            granted: 0,
            taken: 0,
            credits_end: i64::MAX,
            ended: false,
            subscription: None,
        };
        self.purchases.orders.insert(serial, order);
    }

    fn fulfil(
        &mut self,
        serial: u128,
        cents: i64,
        coins: i64,
        subscription: Option<u128>,
        over: bool,
    ) {
        let item = self.purchases.orders[&serial].item.clone();
        let granted = coins.min(self.room(item.fills));
        let ended = over && !subscription.is_some_and(rolls_over);
        let end = item.days.map_or(i64::MAX, |days| self.now + days * DAY);
        let end = if ended { self.now } else { end };
        let order = self.purchases.orders.get_mut(&serial).unwrap();
        (order.stage, order.cents) = (OrderStatus::Paid, cents);
        (order.granted, order.credits_end) = (granted, end);
        order.subscription = subscription;
        self.date(self.now);
        self.bring(item.fills, CoinOrigin { serial, own: true }, granted, end);
        self.move_coins(serial);
        if ended {
            self.expire_coins(self.now);
        }
    }

    fn bring(&mut self, product: ProductId, tag: CoinOrigin, coins: i64, end: i64) {
        if coins > 0 {
            let rest = self.debts.pay(product, coins);
            self.coins.mint_for(product, tag, rest, end);
            self.write_for(product, Reason::Purchase, coins, tag.serial);
        }
    }

    /// Takes or gives back what the order's refunds and dispute come to.
    fn move_coins(&mut self, serial: u128) {
        let order = &self.purchases.orders[&serial];
        if order.stage != OrderStatus::Paid {
            return;
        }
        let (product, end, missing) = (
            order.item.fills,
            order.credits_end,
            order.worth() - order.taken,
        );
        let tag = CoinOrigin { serial, own: true };
        let moved = if missing > 0 {
            -self.coins.take(product, tag, missing)
        } else {
            let back = (-missing).min(self.room(product));
            let rest = self.debts.pay(product, back);
            self.coins.mint_for(product, tag, rest, end);
            if back > 0 {
                self.coins.end(serial, end);
            }
            back
        };
        if moved != 0 {
            self.purchases.orders.get_mut(&serial).unwrap().taken -= moved;
            self.write_for(product, Reason::Refund, moved, serial);
        }
    }

    fn take_cycle(&mut self, order: u128, report: ModelReport) {
        let fills = self.purchases.orders[&order].item.fills;
        let existing = self.current(report.subscription).cloned();
        let mut next = existing.unwrap_or_else(|| report.started(report.tier, fills));
        if next.compare(report) != Ordering::Equal {
            next.begin(report.tier, report.start);
        }
        (next.paid, next.start, next.order) = (report.tier, report.start, Some(order));
        next.bill(report);
        self.purchases
            .subscriptions
            .insert(report.subscription, next);
    }

    fn end_cycle(&mut self, id: u128) {
        self.date(self.now);
        if rolls_over(id) {
            return;
        }
        let now = self.now;
        for (&serial, order) in &mut self.purchases.orders {
            if order.subscription == Some(id) {
                order.credits_end = order.credits_end.min(now);
                order.ended = true;
                self.coins.end(serial, now);
            }
        }
        self.expire_coins(now);
    }
}
