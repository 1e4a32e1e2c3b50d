//! What a world's orders come to, added up one by one.

use std::{cmp::Reverse, collections::BTreeMap};

use domain::{
    Timestamp,
    id::{OrderId, ProductId, ProjectId},
    text::Email,
    time::Span,
    wallet::{Order, OrderStatus},
};

use super::{Rng, World, shop::products};
use crate::{
    OrderSummary,
    contract::{BestSellers, Books, OrderFilter, OrderState, OrderTotals},
    usage::Interval,
};

const HOUR: i64 = 3_600_000;

/// An order's status.
pub(super) fn summary(order: &Order) -> OrderSummary {
    OrderSummary {
        status: order.status(),
        processing: order.is_processing(),
        disputed: is_disputed(order),
        product: order.terms.product,
        price: order.terms.price,
        amount_cents: order.amount_cents,
        refunded_cents: match order.paid_at {
            Some(_) => order.reversal.refunded_cents,
            None => 0,
        },
        currency: *order.terms.currency.as_bytes().first_chunk().unwrap(),
    }
}

fn is_disputed(order: &Order) -> bool {
    let dispute = order.reversal.dispute;
    dispute.is_some_and(|it| it.won.is_none() && it.respond_by.is_some())
}

fn is_wanted(order: &Order, filter: &OrderFilter) -> bool {
    let same = |one: &Email, two: &Email| one.as_str().eq_ignore_ascii_case(two.as_str());
    let by = order.email.as_ref();
    let email = filter.email.as_ref();
    filter.product.is_none_or(|it| order.terms.product == it)
        && email.is_none_or(|it| by.is_some_and(|by| same(by, it)))
        && filter.from.is_none_or(|it| order.created_at >= it)
        && filter.to.is_none_or(|it| order.created_at < it)
        && filter.min_cents.is_none_or(|it| order.amount_cents >= it)
        && filter.max_cents.is_none_or(|it| order.amount_cents <= it)
        && filter.state.is_none_or(|state| match state {
            OrderState::Is(status) => order.status() == status,
            OrderState::Processing => order.is_processing(),
            OrderState::Disputed => is_disputed(order),
        })
}

impl World {
    /// The orders that a filter lets through.
    pub(super) fn wanted(
        &self,
        project: ProjectId,
        filter: &OrderFilter,
    ) -> impl Iterator<Item = (OrderId, &Order)> {
        let orders = self.orders(project);
        orders.filter(|(_, order)| is_wanted(order, filter))
    }

    /// Checks the totals of the orders that a filter lets through.
    pub(super) fn check_totals_of(
        &self,
        books: &dyn Books,
        project: ProjectId,
        filter: &OrderFilter,
    ) {
        let mut expected = OrderTotals::default();
        for (_, order) in self.wanted(project, filter) {
            expected.count += 1;
            let currency = order.terms.currency.to_string();
            let sum = expected.currencies.entry(currency).or_default();
            sum.count += 1;
            sum.amount_cents += order.amount_cents;
            if order.paid_at.is_some() {
                sum.paid_cents += order.amount_cents;
                sum.refunded_cents += order.reversal.refunded_cents;
            }
        }
        let products = products(project);
        let totals = books.order_totals(project, &products, filter).unwrap();
        assert_eq!(totals, expected, "{filter:?}");
    }

    /// Checks totals by all that they are kept by, from some instant to another: those at which intervals begin and
    /// orders were placed, and others close by.
    pub(in super::super) fn check_totals(&self, books: &dyn Books, seed: u64, times: usize) {
        let mut rng = Rng(seed);
        for project in [1, 2].map(ProjectId) {
            let orders: Vec<_> = self.orders(project).map(|(_, it)| it.created_at).collect();
            for _ in 0..times {
                let state = match rng.below(12) {
                    0 => Some(OrderState::Processing),
                    1 => Some(OrderState::Disputed),
                    2 => Some(OrderState::Is(OrderStatus::Pending)),
                    3 => Some(OrderState::Is(OrderStatus::Paid)),
                    4 => Some(OrderState::Is(OrderStatus::Failed)),
                    5 => Some(OrderState::Is(OrderStatus::Refunded)),
                    6 => Some(OrderState::Is(OrderStatus::Expired)),
                    _ => None,
                };
                let [one, other] = products(project);
                let filter = OrderFilter {
                    state,
                    product: [None, None, Some(one), Some(other), Some(ProductId(1))]
                        [rng.below(5) as usize],
                    from: instant(&mut rng, &orders),
                    to: instant(&mut rng, &orders),
                    ..OrderFilter::default()
                };
                self.check_totals_of(books, project, &filter);
            }
        }
    }

    /// Checks the prices that brought most of all orders, and of some.
    pub(in super::super) fn check_best_sellers(&self, books: &dyn Books) {
        for project in [1, 2].map(ProjectId) {
            let orders: Vec<_> = self.orders(project).map(|(_, it)| it).collect();
            let middle = orders.iter().map(|it| it.created_at).nth(orders.len() / 2);
            let ends = [
                (Span::ALWAYS.start, middle),
                (middle.unwrap_or(Timestamp(0)), None),
            ];
            for (start, end) in ends {
                let end = end.unwrap_or(Timestamp::NEVER);
                let within = Span { start, end };
                let mut expected = BTreeMap::new();
                let paid = orders.iter().filter(|it| it.paid_at.is_some());
                for order in paid.filter(|it| within.contains(it.created_at)) {
                    let (count, cents) = expected.entry(order.terms.price).or_insert((0, 0));
                    *count += 1;
                    *cents += order.amount_cents - order.reversal.refunded_cents;
                }
                let best = books.best_sellers(project, &products(project), within, usize::MAX);
                let BestSellers {
                    prices,
                    wallets,
                    is_partial,
                } = best.unwrap();
                let (count, cents) = wallets.iter().fold((0, 0), |(count, cents), (_, it)| {
                    (count + it.count, cents + it.cents)
                });
                let of_wallets = expected
                    .values()
                    .fold((0, 0), |(count, cents), it| (count + it.0, cents + it.1));
                assert_eq!((count, cents), of_wallets);
                assert!(prices.is_sorted_by_key(|(_, it)| Reverse(it.cents)) && !is_partial);
                let prices = prices
                    .iter()
                    .map(|(price, it)| (*price, (it.count, it.cents)));
                assert_eq!(prices.collect::<BTreeMap<_, _>>(), expected);
            }
        }
    }
}

fn instant(rng: &mut Rng, orders: &[Timestamp]) -> Option<Timestamp> {
    let order = *orders.get(rng.below(orders.len() as u64 + 1) as usize)?;
    let near = match rng.below(6) {
        0 => return None,
        1 => order,
        2 => Interval::Hour.span(order)?.start,
        3 => Interval::Day.span(order)?.end,
        4 => Interval::Month.span(order)?.start,
        _ => Timestamp(order.0 - rng.below(500) as i64 * HOUR),
    };
    Some(Timestamp(near.0 + rng.below(3) as i64 - 1))
}
