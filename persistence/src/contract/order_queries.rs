//! A project's orders, filtered and added up from what lists have of them: no wallet is woken.

use std::collections::{BTreeMap, HashMap, hash_map::Entry};

use domain::{
    Timestamp,
    id::{OrderSerial, PriceId, ProductId, ProjectId, WalletKey},
    text::Email,
    time::Span,
    wallet::OrderStatus,
};

use super::books::Books;
use crate::{
    error::Error,
    lookups::{
        LookUp, LookUpRange, OrderRow, OrderSummary,
        order_lists::{OrderGroup, first_in, key_of},
    },
};

/// Entries that are read at once: what is appended meanwhile waits for no more than these.
const AT_ONCE: usize = 1024;

/// The most orders that are looked through for what sold most: some tens of milliseconds' work.
const LOOKED_AT: usize = 200_000;

/// Which orders to list. Empty: all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Only those in this state.
    pub state: Option<OrderState>,
    /// Only those that buy this product.
    pub product: Option<ProductId>,
    /// Only those of the buyer with this address; case is ignored.
    pub email: Option<Email>,
    /// Only those placed then or later.
    pub from: Option<Timestamp>,
    /// Only those placed before.
    pub to: Option<Timestamp>,
    /// Only those of at least this amount, in the minor unit of their currency.
    pub min_cents: Option<i64>,
    /// Only those of at most this amount.
    pub max_cents: Option<i64>,
}

/// A state that orders are filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderState {
    /// They have this status.
    Is(OrderStatus),
    /// Their money is on its way.
    Processing,
    /// They are disputed, and the bank awaits an answer.
    Disputed,
}

/// What sold most, and to whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BestSellers {
    /// How often each price was paid, and what for, less refunds; the highest sum first.
    pub prices: Vec<(PriceId, Takings)>,
    /// The same by wallet.
    pub wallets: Vec<(WalletKey, Takings)>,
    /// Whether there were more orders than are looked through.
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
    /// The currency's ISO 4217 code.
    #[must_use]
    pub fn currency(&self) -> &str {
        str::from_utf8(&self.currency).unwrap_or("XXX")
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
    /// The amounts of those that were paid, whatever was refunded since.
    pub paid_cents: i64,
    /// What was refunded of them.
    pub refunded_cents: i64,
}

impl OrderFilter {
    /// The smallest list that has all that are wanted: that of a buyer, of a state that few orders are in, of a product.
    const fn group(&self) -> OrderGroup<'_> {
        match (&self.email, self.state, self.product) {
            (Some(email), ..) => OrderGroup::Buyer(email),
            (None, Some(OrderState::Processing), _) => OrderGroup::Processing,
            (None, Some(OrderState::Disputed), _) => OrderGroup::Disputed,
            (None, Some(OrderState::Is(OrderStatus::Paid)), Some(product)) => {
                OrderGroup::Product(product)
            }
            (None, Some(OrderState::Is(status)), _) => OrderGroup::Status(status),
            (None, None, Some(product)) => OrderGroup::Product(product),
            (None, None, None) => OrderGroup::All,
        }
    }

    /// Whether an order of its list is wanted.
    fn fits(&self, row: &OrderRow) -> bool {
        let summary = &row.summary;
        let is_in = |state| match state {
            OrderState::Is(status) => summary.status == status,
            OrderState::Processing => summary.processing,
            OrderState::Disputed => summary.disputed,
        };
        self.state.is_none_or(is_in)
            && self.product.is_none_or(|it| summary.product == it)
            && self.min_cents.is_none_or(|it| summary.amount_cents >= it)
            && self.max_cents.is_none_or(|it| summary.amount_cents <= it)
    }
}

impl OrderTotals {
    fn add(&mut self, row: &OrderRow) {
        let summary = &row.summary;
        self.count = self.count.saturating_add(1);
        let currency = summary.currency();
        if !self.currencies.contains_key(currency) {
            let none = CurrencyTotals::default();
            self.currencies.insert(currency.to_owned(), none);
        }
        let Some(sum) = self.currencies.get_mut(currency) else {
            return;
        };
        sum.count = sum.count.saturating_add(1);
        let (cents, refunded) = (summary.amount_cents, summary.refunded_cents);
        sum.amount_cents = sum.amount_cents.saturating_add(cents);
        if matches!(summary.status, OrderStatus::Paid | OrderStatus::Refunded) {
            sum.paid_cents = sum.paid_cents.saturating_add(cents);
        }
        sum.refunded_cents = sum.refunded_cents.saturating_add(refunded);
    }
}

impl dyn Books + '_ {
    /// At most `limit` orders of a project, the newest first: those strictly before the place `before`, or the newest
    /// of all. Fewer than `limit`: there are no more. The next page is asked for with the last one's place.
    ///
    /// # Errors
    ///
    /// The books cannot be read.
    pub fn filtered_orders(
        &self,
        project: ProjectId,
        filter: &OrderFilter,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderRow>, Error> {
        let mut found = Vec::new();
        if limit > 0 {
            // A page of all orders needs no more than it has.
            let at_once = limit.saturating_add(1).clamp(16, AT_ONCE);
            self.each_order(project, filter, before, at_once, &mut |row| {
                found.push(row);
                found.len() < limit
            })?;
        }
        Ok(found)
    }

    /// How many orders of a project there are, and what they come to. Reads as many entries as the smallest list has
    /// that all of them are in.
    ///
    /// # Errors
    ///
    /// The books cannot be read.
    pub fn order_totals(
        &self,
        project: ProjectId,
        filter: &OrderFilter,
    ) -> Result<OrderTotals, Error> {
        let mut totals = OrderTotals::default();
        self.each_order(project, filter, None, AT_ONCE, &mut |row| {
            totals.add(&row);
            true
        })?;
        Ok(totals)
    }

    /// The prices and the wallets that brought most, at most `most` of each, among the newest 200,000 orders that were
    /// placed within a stretch of time.
    ///
    /// # Errors
    ///
    /// The books cannot be read.
    pub fn best_sellers(
        &self,
        project: ProjectId,
        within: Span,
        most: usize,
    ) -> Result<BestSellers, Error> {
        let filter = OrderFilter {
            from: Some(within.start),
            to: Some(within.end),
            ..OrderFilter::default()
        };
        let (mut prices, mut wallets) = (HashMap::new(), HashMap::new());
        let mut looked_at = 0_usize;
        self.each_order(project, &filter, None, AT_ONCE, &mut |row| {
            looked_at = looked_at.saturating_add(1);
            let summary = &row.summary;
            if matches!(summary.status, OrderStatus::Paid | OrderStatus::Refunded) {
                let wallet = row.position.order.wallet;
                take(prices.entry((summary.price, summary.currency)), summary);
                take(wallets.entry((wallet, summary.currency)), summary);
            }
            looked_at < LOOKED_AT
        })?;
        Ok(BestSellers {
            prices: best(prices, most),
            wallets: best(wallets, most),
            is_partial: looked_at >= LOOKED_AT,
        })
    }

    fn each_order(
        &self,
        project: ProjectId,
        filter: &OrderFilter,
        before: Option<(Timestamp, OrderSerial)>,
        at_once: usize,
        each: &mut dyn FnMut(OrderRow) -> bool,
    ) -> Result<(), Error> {
        let group = filter.group().hash(project);
        let end = filter.to.map(|to| (to, OrderSerial(0)));
        let (at, serial) = [before, end]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or((Timestamp::NEVER, OrderSerial(u128::MAX)));
        let first = first_in(group, filter.from);
        let mut key = key_of(&group, at, serial);
        let mut at_once = at_once;
        loop {
            let stretch = LookUpRange::Before(key);
            let entries = self.stretch(LookUp::Orders, &stretch, at_once)?;
            let is_last = entries.len() < at_once;
            at_once = AT_ONCE;
            for (key, value) in &entries {
                if *key < first {
                    return Ok(());
                }
                let row = OrderRow::read(key, value)?;
                if filter.fits(&row) && !each(row) {
                    return Ok(());
                }
            }
            match entries.into_iter().next_back() {
                Some((last, _)) if !is_last => key = last,
                _ => return Ok(()),
            }
        }
    }
}

fn take<K>(sum: Entry<'_, K, Takings>, order: &OrderSummary) {
    let takings = sum.or_insert(Takings {
        count: 0,
        cents: 0,
        currency: order.currency,
    });
    let kept = order.amount_cents.saturating_sub(order.refunded_cents);
    takings.count = takings.count.saturating_add(1);
    takings.cents = takings.cents.saturating_add(kept);
}

/// The highest sums, those of one currency together.
fn best<K: Copy + Ord>(sums: HashMap<(K, [u8; 3]), Takings>, most: usize) -> Vec<(K, Takings)> {
    let mut sums: Vec<_> = sums.into_iter().map(|((key, _), sum)| (key, sum)).collect();
    sums.sort_unstable_by_key(|(key, sum)| (std::cmp::Reverse(sum.cents), sum.currency, *key));
    sums.truncate(most);
    sums
}
