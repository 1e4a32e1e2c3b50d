//! The invariants of every wallet. A wallet that breaks one was damaged, or the rules are wrong.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Wallet,
    account::Account,
    commerce::{Commerce, MAX_UNKNOWN_ORDERS},
    debt::Debt,
    lots::Lot,
    order::{Order, OrderKind, Reversal, Stage},
    owner::Owner,
    subscription::{MAX_STEPS, Subscription, SubscriptionStatus},
};
use crate::{
    MAX_CREDITS,
    id::{OrderSerial, ProductId},
    time::Timestamp,
};

impl Wallet {
    /// The invariants that are broken, a plain sentence each.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let is_sorted = self.created_at <= self.used_at && self.used_at <= self.touched_at;
        if self.version <= self.records || !is_sorted {
            faults.push("its counts or timestamps contradict each other".into());
        }
        let mut products = BTreeSet::new();
        for account in &self.accounts {
            let product = account.product;
            if !products.insert(product) {
                faults.push(format!("{product} has two accounts"));
            }
            faults.extend(account.faults());
        }
        faults.extend(self.faults_of_holds());
        faults.extend(self.faults_of_debts());
        faults.extend(self.limits.iter().filter_map(|limits| limits.fault()));
        faults.extend(self.top_up.iter().filter_map(|top_up| top_up.fault()));
        if let Some(commerce) = &self.commerce {
            faults.extend(commerce.faults());
            let mut orders = commerce.orders.values();
            if orders.any(|order| order.rotations > self.rotations) {
                faults.push("an order is of a recovery code that the wallet never had".into());
            }
        }
        faults
    }

    /// Checks that accounts count what their open holds drew and reserved, and that only users owe.
    fn faults_of_debts(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut of_holds = BTreeMap::<ProductId, (i64, i64)>::new();
        for hold in self.holds().values() {
            let (drawn, reserved) = of_holds.entry(hold.product).or_default();
            *drawn = drawn.saturating_add(hold.drawn);
            *reserved = reserved.saturating_add(hold.max_overrun);
        }
        for account in &self.accounts {
            let (product, debt) = (account.product, account.debt());
            let (drawn, reserved) = of_holds.remove(&product).unwrap_or_default();
            if (drawn, reserved) != (debt.drawn, debt.reserved) {
                faults.push(format!(
                    "open holds of {product} drew or reserve something else than is counted"
                ));
            }
            if !debt.is_sound() || account.debt.as_deref() == Some(&Debt::default()) {
                faults.push(format!("the debt of {product} is out of bounds"));
            }
            let owes = debt.owed > 0 || debt.reserved > 0 || debt.limit.is_some();
            if owes && !matches!(self.owner, Owner::External(_)) {
                faults.push(format!("a wallet without a user owes {product}"));
            }
        }
        faults
    }

    /// Checks that open holds pin what the lots count as held, each the amount that it set aside.
    fn faults_of_holds(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut pinned = BTreeMap::<(ProductId, u64), i64>::new();
        for (id, hold) in self.holds() {
            let mut sum = 0_i64;
            for &(lot, credits) in &hold.pins {
                if credits <= 0 {
                    faults.push(format!("{id} pins no credits of a lot"));
                }
                sum = sum.saturating_add(credits);
                let of_lot = pinned.entry((hold.product, lot)).or_default();
                *of_lot = of_lot.saturating_add(credits);
            }
            if hold.rotations > self.rotations {
                faults.push(format!(
                    "{id} is of a recovery code that the wallet never had"
                ));
            }
            if hold.drawn < 0 || hold.max_overrun < 0 {
                faults.push(format!("{id} drew or may owe a negative number of credits"));
            }
            if sum != hold.pinned() {
                faults.push(format!("{id} does not pin the amount that it sets aside"));
            }
        }
        for account in &self.accounts {
            let product = account.product;
            let mut lots = account.lots().into_iter();
            let same = lots
                .all(|lot| pinned.remove(&(product, lot.number)).unwrap_or_default() == lot.held);
            if !same {
                faults.push(format!(
                    "open holds of {product} do not pin what its lots count as held"
                ));
            }
        }
        if faults.is_empty() && !pinned.is_empty() {
            faults.push("a hold pins a lot that is gone".into());
        }
        faults
    }
}

impl Account {
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self
            .last_taken
            .is_some_and(|last| last.lot >= self.next_lot)
        {
            faults.push(format!(
                "{} was taken from a lot that it never had",
                self.product
            ));
        }
        let mut wrong = |what: &str| faults.push(format!("the lots of {} {what}", self.product));
        let lots = self.lots();
        let sound = |lot: &&Lot| {
            lot.left > 0 && (0..=lot.left).contains(&lot.held) && lot.number < self.next_lot
        };
        if !lots.iter().all(sound) {
            wrong("have values out of bounds");
        }
        // A saturated sum exceeds any balance.
        let sum = |of: fn(&Lot) -> i64| lots.iter().map(|lot| of(lot)).fold(0, i64::saturating_add);
        if sum(|lot| lot.left) != self.balance || !(0..=MAX_CREDITS).contains(&self.balance) {
            wrong("do not add up to its balance");
        }
        if sum(|lot| lot.held) != self.held {
            wrong("do not add up to what is held");
        }
        let mut numbers: Vec<_> = lots.iter().map(|lot| lot.number).collect();
        numbers.sort_unstable();
        if numbers.array_windows().any(|[one, next]| one == next) {
            wrong("have a number twice");
        }
        faults
    }
}

impl Commerce {
    fn faults(&self) -> Vec<String> {
        let orders = self.orders.iter();
        let orders = orders.flat_map(|(serial, order)| order.faults(*serial));
        let subscriptions = self.subscriptions.iter().flat_map(Subscription::faults);
        let mut faults: Vec<String> = orders.chain(subscriptions).collect();
        if self.early.len() > MAX_UNKNOWN_ORDERS {
            faults.push("reversals of too many unknown orders are kept".into());
        }
        if self.unlocked.values().any(|&count| count == 0) {
            faults.push("a feature is unlocked by no order".into());
        }
        let mut names = BTreeSet::new();
        if !self
            .subscriptions
            .iter()
            .all(|existing| names.insert(&existing.id))
        {
            faults.push("a subscription is listed twice".into());
        }
        faults
    }
}

impl Order {
    /// The invariants that an order breaks, pending or archived.
    #[must_use]
    pub fn faults(&self, serial: OrderSerial) -> Vec<String> {
        let mut faults = Vec::new();
        let mut wrong = |what: &str| faults.push(format!("{serial:?} {what}"));
        if !(0..=self.granted_credits).contains(&self.reclaimed_credits) {
            wrong("lost more credits than it brought, or a negative number");
        }
        if self.reclaimed_credits > self.worth(self.reversal)
            && self.reversal == Reversal::default()
        {
            wrong("lost credits although no money went back");
        }
        let paid = self.stage == Stage::Paid;
        if !paid && (self.granted_credits > 0 || self.reclaimed_credits > 0 || self.lot.is_some()) {
            wrong("brought credits without being paid");
        }
        if self
            .pending_refunds
            .is_some_and(|it| !paid || it.cents < 1 || it.cents > self.amount_cents)
        {
            wrong("has requested refunds of more than was paid, or of nothing");
        }
        if paid != self.paid_at.is_some() {
            wrong("is paid without a time of payment, or has one without being paid");
        }
        if self.kind != OrderKind::Checkout && self.checkout.is_some() {
            wrong("comes from an invoice and has a checkout");
        }
        faults
    }
}

impl Subscription {
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut wrong = |what: &str| faults.push(format!("{} {what}", self.id.as_str()));
        let late = self.status == SubscriptionStatus::PastDue;
        if late != self.past_due_since.is_some() || late != self.grace_ends_at.is_some() {
            wrong("is past due without days of grace, or has some without being past due");
        }
        if self.status == SubscriptionStatus::Paused
            && self.features(Timestamp::default()).next().is_some()
        {
            wrong("is paused and unlocks features");
        }
        if self.steps.len() > MAX_STEPS {
            wrong("remembers too many switches");
        }
        if self.order.is_none() && self.reversed {
            wrong("has a reversed payment that was never reported");
        }
        faults
    }
}
