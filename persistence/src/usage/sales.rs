//! Counts orders by when they were placed and by their status: each change of an order's status takes it out with
//! the former status and adds it with the new one.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{PriceId, ProductId},
    wallet::OrderStatus,
};
use serde::{Deserialize, Serialize};

use crate::lookups::{
    ListChange, OrderSummary, list_change::ListedOrder, order_lists::currency_code,
};

/// The most cells that are stored together: so many fit a record beside all else that it has.
const CELLS: usize = 800;

/// What prices are counted as where a range of time has more than [`CELLS`].
pub(crate) const OTHER_PRICES: PriceId = PriceId(0);

/// Orders that were placed within a range of time, by price and how they stand: as many cells as prices that were
/// bought, times the states (eight at most) that their orders are in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sales(BTreeMap<SalesCell, SalesSum>);

/// What orders that are counted together have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SalesCell {
    pub(crate) price: PriceId,
    pub(crate) currency: [u8; 3],
    pub(crate) status: OrderStatus,
    pub(crate) processing: bool,
    pub(crate) disputed: bool,
}

/// The sum of some orders, or the difference of two sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SalesSum {
    pub(crate) count: i64,
    pub(crate) amount_cents: i64,
    pub(crate) refunded_cents: i64,
}

/// Money in a currency's minor unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Money {
    /// The amount that was charged.
    pub paid: i64,
    /// The part of it that was refunded.
    pub returned: i64,
}

/// How an event changed an order's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SalesChange {
    pub(crate) product: ProductId,
    pub(crate) placed_at: Timestamp,
    pub(crate) before: Option<OrderSummary>,
    pub(crate) after: Option<OrderSummary>,
}

impl SalesChange {
    /// What an entry says of that, if it says something.
    pub(crate) fn of(moved: &ListChange) -> Option<Self> {
        let change = moved.order.as_ref()?;
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let listed = after.or(before)?;
        let summary = |order: Option<&ListedOrder>| order.map(|order| order.summary);
        let (before, after) = (summary(before), summary(after));
        (before != after).then_some(Self {
            product: listed.summary.product,
            placed_at: listed.placed_at,
            before,
            after,
        })
    }
}

impl SalesCell {
    pub(crate) const fn of(order: &OrderSummary) -> Self {
        Self {
            price: order.price,
            currency: order.currency,
            status: order.status,
            processing: order.processing,
            disputed: order.disputed,
        }
    }

    pub(crate) fn currency(&self) -> &str {
        currency_code(&self.currency)
    }

    pub(crate) const fn is_paid(&self) -> bool {
        matches!(self.status, OrderStatus::Paid | OrderStatus::Refunded)
    }
}

impl SalesSum {
    /// One order, added (1) or taken out (-1).
    pub(crate) const fn of(order: &OrderSummary, by: i64) -> Self {
        Self {
            count: by,
            amount_cents: order.amount_cents.saturating_mul(by),
            refunded_cents: order.refunded_cents.saturating_mul(by),
        }
    }

    const fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.amount_cents = self.amount_cents.saturating_add(other.amount_cents);
        self.refunded_cents = self.refunded_cents.saturating_add(other.refunded_cents);
    }
}

impl Sales {
    /// All orders that were placed.
    pub fn placed(&self) -> i64 {
        self.count(|_| true)
    }

    /// Orders that have this status now.
    pub fn in_status(&self, status: OrderStatus) -> i64 {
        self.count(|cell| cell.status == status)
    }

    /// What was paid for them, by currency.
    pub fn money(&self) -> BTreeMap<&str, Money> {
        let mut money: BTreeMap<&str, Money> = BTreeMap::new();
        for (cell, sum) in self.0.iter().filter(|(cell, _)| cell.is_paid()) {
            let total = money.entry(cell.currency()).or_default();
            total.paid = total.paid.saturating_add(sum.amount_cents);
            total.returned = total.returned.saturating_add(sum.refunded_cents);
        }
        money
    }

    fn count(&self, is_wanted: impl Fn(&SalesCell) -> bool) -> i64 {
        let cells = self.0.iter().filter(|(cell, _)| is_wanted(cell));
        cells.fold(0, |sum, (_, cell)| sum.saturating_add(cell.count))
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(cell, sum)| self.add(*cell, *sum));
    }

    pub(crate) fn add_order(&mut self, order: &OrderSummary) {
        self.add(SalesCell::of(order), SalesSum::of(order, 1));
    }

    pub(crate) fn change(&mut self, change: &SalesChange) {
        if let Some(before) = &change.before {
            self.add(SalesCell::of(before), SalesSum::of(before, -1));
        }
        if let Some(after) = &change.after {
            self.add_order(after);
        }
    }

    pub(crate) fn add(&mut self, cell: SalesCell, more: SalesSum) {
        let sum = self.0.entry(cell).or_default();
        sum.add(more);
        if *sum == SalesSum::default() {
            self.0.remove(&cell);
        }
    }

    pub(crate) fn cells(&self) -> impl ExactSizeIterator<Item = (&SalesCell, &SalesSum)> {
        self.0.iter()
    }

    /// Counts all prices as one where there are too many for a record. All but what each price brought stays exact,
    /// also once an order changes that was counted by its price before: sums have signs.
    pub(crate) fn bounded(self) -> Self {
        match self.0.len() > CELLS {
            true => self.of_all_prices(),
            false => self,
        }
    }

    /// The same, all prices counted as one.
    pub(crate) fn of_all_prices(&self) -> Self {
        let mut all = Self::default();
        for (cell, sum) in &self.0 {
            let price = OTHER_PRICES;
            all.add(SalesCell { price, ..*cell }, *sum);
        }
        all
    }

    /// Whether another says the same, as far as prices were counted apart.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let is_bounded = self.0.keys().any(|cell| cell.price == OTHER_PRICES);
        self == other || is_bounded && self.of_all_prices() == other.of_all_prices()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(price: u128, status: OrderStatus) -> OrderSummary {
        OrderSummary {
            status,
            processing: false,
            disputed: false,
            product: ProductId(1),
            price: PriceId(price),
            amount_cents: 100,
            refunded_cents: 0,
            currency: *b"EUR",
        }
    }

    fn change(before: Option<OrderSummary>, after: OrderSummary) -> SalesChange {
        SalesChange {
            product: ProductId(1),
            placed_at: Timestamp(0),
            before,
            after: Some(after),
        }
    }

    #[test]
    fn an_order_counts_once_as_it_stands() {
        let mut sales = Sales::default();
        let placed = order(1, OrderStatus::Pending);
        sales.change(&change(None, placed));
        assert_eq!(
            (sales.placed(), sales.in_status(OrderStatus::Pending)),
            (1, 1)
        );
        assert!(sales.money().is_empty());
        let paid = OrderSummary {
            amount_cents: 90,
            ..order(1, OrderStatus::Paid)
        };
        sales.change(&change(Some(placed), paid));
        let refunded = OrderSummary {
            refunded_cents: 40,
            ..paid
        };
        sales.change(&change(Some(paid), refunded));
        assert_eq!(
            (
                sales.placed(),
                sales.in_status(OrderStatus::Pending),
                sales.in_status(OrderStatus::Paid)
            ),
            (1, 0, 1)
        );
        let money = Money {
            paid: 90,
            returned: 40,
        };
        assert_eq!(sales.money(), BTreeMap::from([("EUR", money)]));
        assert_eq!(sales.cells().len(), 1, "what is zero is not kept");
    }

    #[test]
    fn of_very_many_prices_all_but_the_prices_stays_exact() {
        let (mut all, mut bounded) = (Sales::default(), Sales::default());
        for price in 1..=2000 {
            for sales in [&mut all, &mut bounded] {
                sales.change(&change(None, order(price, OrderStatus::Pending)));
            }
            bounded = bounded.bounded();
        }
        for price in 1..=500 {
            let paid = change(
                Some(order(price, OrderStatus::Pending)),
                order(price, OrderStatus::Paid),
            );
            all.change(&paid);
            bounded.change(&paid);
            bounded = bounded.bounded();
        }
        assert!(bounded.cells().len() <= CELLS && bounded.agrees_with(&all));
        assert_eq!(
            (bounded.placed(), bounded.in_status(OrderStatus::Paid)),
            (2000, 500)
        );
        assert_eq!(bounded.money(), all.money());
        bounded.add_order(&order(1, OrderStatus::Failed));
        assert!(!bounded.agrees_with(&all));
    }
}
