//! Counts orders by when they were placed and how they stand now: an order is added when it is archived into its
//! wallet's history, and taken out when it is recalled.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    history::{Record, RecordContent},
    id::ProductId,
    wallet::{Change, Event, Order, OrderStatus},
};

/// Orders that were placed within a stretch of time, by how they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sales {
    /// All orders that were placed.
    pub placed: i64,
    /// Orders that were paid, and are not refunded or disputed in full.
    pub paid: i64,
    /// Orders that were paid, and are refunded or disputed in full.
    pub refunded: i64,
    /// Orders whose payment failed.
    pub failed: i64,
    /// Orders that were not paid in time.
    pub expired: i64,
    /// What was paid for them, by currency.
    pub money: BTreeMap<Box<str>, Money>,
}

/// Money in a currency's minor unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Money {
    /// The amount that was charged.
    pub paid: i64,
    /// The part of it that was refunded.
    pub returned: i64,
}

impl Sales {
    /// Orders that are neither paid nor given up.
    #[must_use]
    pub fn pending(&self) -> i64 {
        let settled = [self.paid, self.refunded, self.failed, self.expired];
        let settled = settled
            .iter()
            .fold(0, |sum: i64, count| sum.saturating_add(*count));
        self.placed.saturating_sub(settled)
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Self) {
        let add = |to: &mut i64, more: i64| *to = to.saturating_add(more);
        add(&mut self.placed, other.placed);
        add(&mut self.paid, other.paid);
        add(&mut self.refunded, other.refunded);
        add(&mut self.failed, other.failed);
        add(&mut self.expired, other.expired);
        for (currency, money) in &other.money {
            let total = self.money.entry(currency.clone()).or_default();
            add(&mut total.paid, money.paid);
            add(&mut total.returned, money.returned);
        }
    }

    /// The sales of a settled order: `by` is 1 to add it, -1 to take it out.
    fn settled(order: &Order, by: i64) -> Self {
        let mut sales = Self::default();
        match order.status() {
            OrderStatus::Paid => sales.paid = by,
            OrderStatus::Refunded => sales.refunded = by,
            OrderStatus::Failed => sales.failed = by,
            OrderStatus::Expired => sales.expired = by,
            OrderStatus::Pending => {}
        }
        if order.paid_at.is_some() {
            let money = Money {
                paid: order.amount_cents.saturating_mul(by),
                returned: order.reversal.refunded_cents.saturating_mul(by),
            };
            sales.money.insert(order.terms.currency.clone(), money);
        }
        sales
    }
}

/// What an event changes in sales: the product, when its order was placed, and the change.
pub(crate) fn sold(
    event: &Event,
    record: Option<&Record>,
) -> Option<(ProductId, Timestamp, Sales)> {
    let settled = |order: &Order, by| {
        let sales = Sales::settled(order, by);
        (order.terms.product, order.created_at, sales)
    };
    match (&event.change, record.map(|record| &record.fact)) {
        (Change::OrderPlaced(order), _) => {
            let placed = Sales {
                placed: 1,
                ..Sales::default()
            };
            Some((order.terms.product, event.at, placed))
        }
        (Change::OrderArchived { .. }, Some(RecordContent::Order(archived))) => {
            Some(settled(&archived.order, 1))
        }
        (Change::OrderRecalled(recalled), _) => Some(settled(&recalled.order, -1)),
        _ => None,
    }
}
