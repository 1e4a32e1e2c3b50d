//! What an entry says about lists: where its wallet, and one of the wallet's orders, stood in them before the event and
//! after it. That follows from the wallet's state and not from the event, so the wallet notes it when it applies the
//! event, and a checkpoint need not replay anything.

use domain::{
    Timestamp,
    id::{OrderSerial, PriceId, ProductId, ProjectId},
    top_up::TopUpPlace,
    wallet::{Applied, OrderStatus, Wallet},
};
use serde::{Deserialize, Serialize};

/// What an event moved in lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListChange {
    pub(crate) project: ProjectId,
    pub(crate) order: Option<OrderChange>,
    /// The day of the wallet's last use, since the epoch: before, and now. A wallet without an owner has none: it is not
    /// listed.
    pub(crate) day: Option<(Option<i32>, Option<i32>)>,
    /// Ranks of balances: before, if there was one, and now.
    pub(crate) ranks: Vec<(ProductId, Option<u8>, u8)>,
    /// Where its automatic top-up is listed: before, and now.
    pub(crate) top_up: Option<(TopUpPlace, TopUpPlace)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderChange {
    pub(crate) serial: OrderSerial,
    pub(crate) before: Option<ListedOrder>,
    pub(crate) after: Option<ListedOrder>,
}

/// What a list shows of an order, as far as it can be filtered by that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderSummary {
    /// The status that it has now.
    pub status: OrderStatus,
    /// Whether its money is on its way.
    pub processing: bool,
    /// Whether it is disputed and the bank awaits an answer.
    pub disputed: bool,
    /// The product that it buys.
    pub product: ProductId,
    /// The price that it buys at.
    pub price: PriceId,
    /// The price, and once it is paid what was charged; in the currency's minor unit.
    pub amount_cents: i64,
    /// What is refunded of it; nothing before it is paid.
    pub refunded_cents: i64,
    pub(crate) currency: [u8; 3],
}

/// What decides an order's places in lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListedOrder {
    pub(crate) placed_at: Timestamp,
    pub(super) buyer: Option<[u8; 16]>,
    pub(crate) summary: OrderSummary,
}

const DAY_MILLIS: i64 = 86_400_000;

impl ListChange {
    /// What an event moved that was applied to this wallet; `None`: nothing, as most events of a busy wallet.
    pub fn of(wallet: &Wallet, applied: &Applied) -> Option<Box<Self>> {
        let now = wallet.is_usable().then(|| day(wallet.used_at));
        let days = (applied.last_used.map(day), now);
        let rank = applied.account.and_then(|(product, former)| {
            let now = rank(wallet.account(product)?.available());
            let before = former.map(|former| rank(former.available));
            (before != Some(now)).then_some((product, before, now))
        });
        let listed = |order| ListedOrder::of(wallet, order);
        let order = applied.order.as_ref().and_then(|(serial, former)| {
            let serial = *serial;
            let (before, after) = (former.as_deref().map(listed), wallet.order(serial));
            let after = after.map(listed);
            (before != after).then_some(OrderChange {
                serial,
                before,
                after,
            })
        });
        let day = (days.0 != days.1).then_some(days);
        let top_up = applied.top_up.as_ref();
        let top_up = top_up.map(|applied| (applied.before, wallet.top_up_place()));
        let top_up = top_up.filter(|(before, now)| before != now);
        if order.is_none() && day.is_none() && rank.is_none() && top_up.is_none() {
            return None;
        }
        Some(Box::new(Self {
            project: wallet.project,
            order,
            day,
            ranks: rank.into_iter().collect(),
            top_up,
        }))
    }
}

/// The day of an instant, since the epoch.
pub(crate) fn day(at: Timestamp) -> i32 {
    let day = at.0.div_euclid(DAY_MILLIS);
    i32::try_from(day).unwrap_or(if day < 0 { i32::MIN } else { i32::MAX })
}

/// The coarse rank of a balance: its three highest bits and how many follow. Ranks are in the order of balances, and a
/// balance that falls from 100 to 0 in steps of one moves 22 times.
pub(crate) fn rank(balance: i64) -> u8 {
    let balance = balance.max(0).unsigned_abs();
    let Some(low_bits) = balance.checked_ilog2().and_then(|bits| bits.checked_sub(2)) else {
        return u8::try_from(balance).unwrap_or(0);
    };
    // 4 to 7, at most 61 times.
    let high = balance.checked_shr(low_bits).unwrap_or(0);
    let rank = u64::from(low_bits).saturating_mul(4).saturating_add(high);
    u8::try_from(rank).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_in_the_order_of_balances() {
        let first: Vec<u8> = (0..12).map(rank).collect();
        assert_eq!(first, [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9]);
        assert_eq!(rank(-1), 0);
        let far = [1 << 20, (1 << 53) - 1, 1 << 53, i64::MAX].map(rank);
        assert!(far.is_sorted() && rank(11) < far[0] && far[3] == 247);
        let steps = (1..=100).filter(|&balance| rank(balance) != rank(balance - 1));
        assert_eq!(steps.count(), 22);
    }

    #[test]
    fn days_begin_at_midnight_before_the_epoch_too() {
        let days = [-1, 0, DAY_MILLIS - 1, DAY_MILLIS, i64::MAX, i64::MIN];
        let days = days.map(|at| day(Timestamp(at)));
        assert_eq!(days, [-1, 0, 0, 1, i32::MAX, i32::MIN]);
    }
}
