//! What a project's orders come to, by the sums that are kept by product and time: orders are walked only where a
//! range of time begins or ends within what is kept.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{OrderSerial, PriceId, ProductId, ProjectId, WalletKey},
    time::Span,
};

use super::{
    books::Books,
    order_queries::{AT_ONCE, OrderFilter, OrderState},
};
use crate::{
    error::Error,
    lookups::{OrderRow, order_lists::currency_code},
    usage::{Interval, OTHER_PRICES, Sales, SalesCell, SalesSum},
};

/// The most orders that are looked through for who bought most: some tens of milliseconds' work.
const MAX_SCANNED: usize = 200_000;

/// The intervals that sums are taken of, the longest first.
const MAX_FIRST: [Interval; 3] = [Interval::Month, Interval::Day, Interval::Hour];

/// What sold most, and to whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BestSellers {
    /// How often each price was paid, and what for, less refunds; the highest sum first. Where so many prices were
    /// bought that they are not counted apart, they are left out.
    pub prices: Vec<(PriceId, Takings)>,
    /// The same by wallet.
    pub wallets: Vec<(WalletKey, Takings)>,
    /// Whether there were more orders than are looked through for wallets.
    pub is_partial: bool,
}

/// What was paid for some orders of one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Takings {
    /// How many orders were paid.
    pub count: u64,
    /// What was paid and not refunded, in the minor unit.
    pub cents: i64,
    currency: [u8; 3],
}

impl Takings {
    fn of(cell: &SalesCell, sum: &SalesSum) -> Self {
        Self {
            count: u64::try_from(sum.count).unwrap_or(0),
            cents: sum.amount_cents.saturating_sub(sum.refunded_cents),
            currency: cell.currency,
        }
    }

    /// The currency's ISO 4217 code.
    pub fn currency(&self) -> &str {
        currency_code(&self.currency)
    }
}

/// The sum of some orders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderTotals {
    /// How many there are.
    pub count: u64,
    /// What they come to, by currency.
    pub currencies: BTreeMap<String, CurrencyTotals>,
}

/// The sum of some orders of one currency, in its minor unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CurrencyTotals {
    /// How many there are.
    pub count: u64,
    /// All amounts, paid or not.
    pub amount_cents: i64,
    /// The amounts of those that were paid, refunded since or not.
    pub paid_cents: i64,
    /// What was refunded of them.
    pub refunded_cents: i64,
}

impl OrderTotals {
    /// The totals of sales in this state.
    fn of(sales: &Sales, state: Option<OrderState>) -> Self {
        let mut totals = Self::default();
        let is_in = |cell: &SalesCell| state.is_none_or(|state| state.has(cell));
        // Prices together: a sum that keeps no price apart may have less than nothing of one.
        let sales = sales.of_all_prices();
        for (cell, sum) in sales.cells().filter(|(cell, _)| is_in(cell)) {
            totals.add(cell, sum);
        }
        totals
    }

    fn add(&mut self, cell: &SalesCell, more: &SalesSum) {
        let count = u64::try_from(more.count).unwrap_or(0);
        self.count += count;
        let sum = self.currencies.entry(cell.currency().to_owned());
        let sum = sum.or_default();
        sum.count += count;
        sum.amount_cents = sum.amount_cents.saturating_add(more.amount_cents);
        if cell.is_paid() {
            sum.paid_cents = sum.paid_cents.saturating_add(more.amount_cents);
        }
        sum.refunded_cents = sum.refunded_cents.saturating_add(more.refunded_cents);
    }
}

impl dyn Books + '_ {
    /// Counts a project's orders and adds up their amounts; `products` are the project's. A filter by buyer or amount reads
    /// every entry of the smallest list that has all matching orders. Otherwise whole intervals are stored sums, and only
    /// entries at both ends of the range are read: less than an hour each, less than a day where that was more than 90 days
    /// ago, less than a month where that was more than three years ago.
    /// # Errors
    /// The books cannot be read.
    pub fn order_totals(
        &self,
        project: ProjectId,
        products: &[ProductId],
        filter: &OrderFilter,
    ) -> Result<OrderTotals, Error> {
        let sales = self.sales_of(project, products, filter)?;
        Ok(OrderTotals::of(&sales, filter.state))
    }

    /// The same of each of these states, in their order.
    /// # Errors
    /// The books cannot be read.
    pub fn order_totals_by_state<const N: usize>(
        &self,
        project: ProjectId,
        products: &[ProductId],
        states: [OrderState; N],
    ) -> Result<[OrderTotals; N], Error> {
        let sales = self.sales_of(project, products, &OrderFilter::default())?;
        Ok(states.map(|state| OrderTotals::of(&sales, Some(state))))
    }

    /// [`filtered_orders`](dyn Books::filtered_orders) and [`order_totals`](dyn Books::order_totals), for which orders
    /// are walked once where both have to.
    /// # Errors
    /// The books cannot be read.
    pub fn orders_and_totals(
        &self,
        project: ProjectId,
        products: &[ProductId],
        filter: &OrderFilter,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<(Vec<OrderRow>, OrderTotals), Error> {
        if !filter.is_by_order() {
            let rows = self.filtered_orders(project, filter, before, limit)?;
            return Ok((rows, self.order_totals(project, products, filter)?));
        }
        let (mut rows, mut sales) = (Vec::new(), Sales::default());
        self.each_order(project, filter, None, AT_ONCE, &mut |row| {
            sales.add_order(&row.summary);
            let is_before = before.is_none_or(|before| row.position.place() < before);
            if is_before && rows.len() < limit {
                rows.push(row);
            }
            true
        })?;
        Ok((rows, OrderTotals::of(&sales, filter.state)))
    }

    /// The prices and the wallets that brought most of a project's orders that were placed within a range of time, at
    /// most `most` of each; wallets among the newest 200,000 orders.
    /// # Errors
    /// The books cannot be read.
    pub fn best_sellers(
        &self,
        project: ProjectId,
        products: &[ProductId],
        within: Span,
        most: usize,
    ) -> Result<BestSellers, Error> {
        let filter = OrderFilter {
            from: Some(within.start),
            to: Some(within.end),
            ..OrderFilter::default()
        };
        let sales = self.sales_of(project, products, &filter)?;
        let paid = sales.cells().filter(|(cell, _)| cell.is_paid());
        let paid = paid.filter(|(cell, _)| cell.price != OTHER_PRICES);
        let prices = paid.map(|(cell, sum)| (cell.price, Takings::of(cell, sum)));
        let prices = prices.collect();
        let mut wallets = Vec::new();
        let mut looked_at = 0_usize;
        self.each_order(project, &filter, None, AT_ONCE, &mut |row| {
            looked_at += 1;
            let (cell, sum) = (SalesCell::of(&row.summary), SalesSum::of(&row.summary, 1));
            if cell.is_paid() {
                wallets.push((row.position.order.wallet, Takings::of(&cell, &sum)));
            }
            looked_at < MAX_SCANNED
        })?;
        Ok(BestSellers {
            prices: best(prices, most),
            wallets: best(wallets, most),
            is_partial: looked_at >= MAX_SCANNED,
        })
    }
}

/// The orders to add up; sums that are kept have them in any state.
struct SalesQuery<'a> {
    project: ProjectId,
    products: Vec<ProductId>,
    filter: &'a OrderFilter,
}

impl dyn Books + '_ {
    /// The sales of the orders that a filter lets through, of any state where it can be.
    fn sales_of(
        &self,
        project: ProjectId,
        products: &[ProductId],
        filter: &OrderFilter,
    ) -> Result<Sales, Error> {
        let products = products.iter().copied();
        let is_wanted = |product: &ProductId| filter.product.is_none_or(|it| it == *product);
        let query = SalesQuery {
            project,
            products: products.filter(is_wanted).collect(),
            filter,
        };
        let from = filter.from.unwrap_or(Timestamp(i64::MIN));
        let to = filter.to.unwrap_or(Timestamp(i64::MAX));
        let intervals: &[Interval] = if filter.is_by_order() {
            &[]
        } else {
            &MAX_FIRST
        };
        let mut sales = Sales::default();
        self.add_sales(&query, intervals, (from, to), &mut sales)?;
        Ok(sales)
    }

    /// Adds orders that were placed within a range of time: the intervals within it, as far as they are kept,
    /// and what is left before and behind them.
    fn add_sales(
        &self,
        query: &SalesQuery<'_>,
        intervals: &[Interval],
        within: (Timestamp, Timestamp),
        sales: &mut Sales,
    ) -> Result<(), Error> {
        let (from, to) = within;
        if from >= to {
            return Ok(());
        }
        let Some((&interval, shorter)) = intervals.split_first() else {
            let filter = OrderFilter {
                from: Some(from),
                to: Some(to),
                ..query.filter.clone()
            };
            return self.each_order(query.project, &filter, None, AT_ONCE, &mut |row| {
                sales.add_order(&row.summary);
                true
            });
        };
        if let Some((first, end)) = whole(interval, within)
            && let Some(kept) = self.kept_sales(query, interval, (first, end))?
        {
            sales.merge(&kept);
            self.add_sales(query, shorter, (from, first), sales)?;
            return self.add_sales(query, shorter, (end, to), sales);
        }
        self.add_sales(query, shorter, within, sales)
    }

    /// The sales of whole intervals; `None` where one is not kept any more.
    fn kept_sales(
        &self,
        query: &SalesQuery<'_>,
        interval: Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Option<Sales>, Error> {
        let mut sales = Sales::default();
        for &product in &query.products {
            let is_kept = || -> Result<bool, Error> {
                let kept_after = self.usage_kept_after(product, interval)?;
                Ok(kept_after.is_none_or(|at| within.0 > at))
            };
            if !is_kept()? {
                return Ok(None);
            }
            let periods = self.usage(product, interval, within)?;
            // A checkpoint may have removed some of them since.
            if !is_kept()? {
                return Ok(None);
            }
            periods.iter().for_each(|(_, it)| sales.merge(&it.sales));
        }
        Ok(Some(sales))
    }
}

/// The range of whole intervals within another, if there are any: its first instant, and the first after it.
fn whole(interval: Interval, (from, to): (Timestamp, Timestamp)) -> Option<(Timestamp, Timestamp)> {
    // Nothing was placed outside of the calendar: a range that begins before it, or ends after it, has all.
    let first = match interval.span(from) {
        Some(span) if span.start == from => from,
        Some(span) => span.end,
        None if from.0 < 0 => Timestamp(i64::MIN),
        None => return None,
    };
    let end = match interval.span(to) {
        Some(span) => span.start,
        None if to.0 > 0 => Timestamp(i64::MAX),
        None => return None,
    };
    (first < end).then_some((first, end))
}

/// The highest sums of what has the same key and currency, those of one currency together.
fn best<K: Copy + Ord>(mut sums: Vec<(K, Takings)>, most: usize) -> Vec<(K, Takings)> {
    // Sorted: to look each of many up in a map would wait for the memory.
    sums.sort_unstable_by_key(|(key, sum)| (*key, sum.currency));
    sums.dedup_by(|(key, more), (first, sum)| {
        let is_same = key == first && more.currency == sum.currency;
        if is_same {
            sum.count += more.count;
            sum.cents = sum.cents.saturating_add(more.cents);
        }
        is_same
    });
    sums.retain(|(_, sum)| sum.count > 0);
    sums.sort_unstable_by_key(|(key, sum)| (std::cmp::Reverse(sum.cents), sum.currency, *key));
    sums.truncate(most);
    sums
}
