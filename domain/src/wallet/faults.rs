//! What must hold in every wallet, whatever it has lived through. For whoever checks the books: a wallet
//! that has a fault was damaged, or its rules are wrong.

use std::collections::BTreeMap;

use super::{
    Order, OrderKind, Reversal, Stage, Subscription, SubscriptionStatus, Wallet,
    commerce::Commerce, reverse::MAX_EARLY, switch::MAX_STEPS,
};
use crate::{id::OrderSerial, time::Timestamp};

impl Wallet {
    /// What does not hold, a plain sentence each.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for account in &self.accounts {
            let product = account.product;
            let (left, held) = account
                .lots()
                .iter()
                .fold((0_i64, 0_i64), |(left, held), lot| {
                    (left.saturating_add(lot.left), held.saturating_add(lot.held))
                });
            if left != account.balance {
                faults.push(format!(
                    "the lots of {product} do not add up to its balance"
                ));
            }
            if held != account.held || held > left {
                faults.push(format!(
                    "the lots of {product} do not add up to what is held"
                ));
            }
            let mut pinned = BTreeMap::<u64, i64>::new();
            let holds = self.holds().values().filter(|hold| hold.product == product);
            for (lot, credits) in holds.flat_map(|hold| &hold.pins) {
                let sum = pinned.entry(*lot).or_default();
                *sum = sum.saturating_add(*credits);
            }
            let same = account
                .lots()
                .iter()
                .all(|lot| pinned.remove(&lot.number).unwrap_or_default() == lot.held);
            if !same || !pinned.is_empty() {
                faults.push(format!(
                    "open holds of {product} do not pin what its lots hold"
                ));
            }
        }
        let commerce = self.commerce.iter();
        faults.extend(commerce.flat_map(|commerce| commerce.faults()));
        faults
    }
}

impl Commerce {
    /// What does not hold of its purchases.
    pub(super) fn faults(&self) -> Vec<String> {
        let orders = self.orders.iter();
        let orders = orders.flat_map(|(serial, order)| order.faults(*serial));
        let subscriptions = self.subscriptions.iter().flat_map(Subscription::faults);
        let mut faults: Vec<String> = orders.chain(subscriptions).collect();
        if self.early.len() > MAX_EARLY {
            faults.push("reversals are kept of too many orders that are not known".into());
        }
        faults
    }
}

impl Order {
    /// What does not hold in an order, also in one that the history keeps.
    #[must_use]
    pub fn faults(&self, serial: OrderSerial) -> Vec<String> {
        let mut faults = Vec::new();
        let mut wrong = |what: &str| faults.push(format!("{serial:?} {what}"));
        if !(0..=self.granted).contains(&self.taken) {
            wrong("gave back more than it brought, or less than nothing");
        }
        if self.taken > self.worth(self.reversal) && self.reversal == Reversal::default() {
            wrong("gave back credits although no money went back");
        }
        let paid = self.stage == Stage::Paid;
        if !paid && (self.granted > 0 || self.taken > 0 || self.lot.is_some()) {
            wrong("brought credits without being paid");
        }
        if self
            .asked
            .is_some_and(|it| !paid || it.cents < 1 || it.cents > self.amount_cents)
        {
            wrong("is to give back more than was paid, or nothing");
        }
        if paid != self.paid_at.is_some() {
            wrong("does not know when it was paid, or was not");
        }
        if self.kind != OrderKind::Checkout && self.checkout.is_some() {
            wrong("was made by an invoice and has a checkout");
        }
        if self.kind == OrderKind::Switch && self.granted > self.credits() {
            wrong("is a switch that brought more than a whole cycle of its tier");
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
            wrong("is past due without days of grace, or has some without being that");
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
            wrong("gave back a payment that was not heard of");
        }
        faults
    }
}
