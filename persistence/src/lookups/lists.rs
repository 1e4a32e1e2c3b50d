//! Finds out what an event moves in lists: the places of its wallet, and of one of the wallet's orders. They follow from
//! the wallet's state and not from the event, so the wallet notes them when it applies it, and a checkpoint need not replay
//! anything. Most events of a busy wallet move nothing.

use super::list_change::{ListChange, ListedOrder, OrderChange};
use domain::{
    Timestamp,
    id::{OrderSerial, ProductId},
    wallet::{Change, Owner, Wallet},
};

/// The days of [`Timestamp`]s.
const DAY_MILLIS: i64 = 86_400_000;

/// A wallet before an event, as far as lists are concerned.
#[derive(Debug)]
pub struct ListWatch {
    order: Option<(OrderSerial, Option<ListedOrder>)>,
    day: Option<i32>,
    /// The usual wallet has one or two products.
    ranks: smallvec::SmallVec<[(ProductId, u8); 2]>,
}

impl ListWatch {
    /// Notes the wallet's values before this change is applied to it.
    #[must_use]
    pub fn before(wallet: Option<&Wallet>, change: &Change) -> Self {
        let listed = |serial| {
            let order = wallet.and_then(|wallet| Some((wallet, wallet.order(serial)?)));
            let order = order.map(|(wallet, order)| ListedOrder::of(wallet, order));
            (serial, order)
        };
        Self {
            order: change.order().map(listed),
            day: wallet.and_then(last_day),
            ranks: wallet.map(ranks).into_iter().flatten().collect(),
        }
    }

    /// What moved, by the wallet as it is afterwards; `None`: nothing.
    #[must_use]
    pub fn after(self, wallet: &Wallet) -> Option<Box<ListChange>> {
        let day = last_day(wallet);
        let is_same_day = self.day == day;
        if is_same_day && self.order.is_none() && self.ranks.iter().copied().eq(ranks(wallet)) {
            return None;
        }
        let order = self.order.and_then(|(serial, before)| {
            let order = wallet.order(serial);
            let after = order.map(|order| ListedOrder::of(wallet, order));
            (before != after).then_some(OrderChange {
                serial,
                before,
                after,
            })
        });
        let moved = ranks(wallet).filter_map(|(product, rank)| {
            let before = self.ranks.iter().find(|(of, _)| *of == product);
            let before = before.map(|(_, rank)| *rank);
            (before != Some(rank)).then_some((product, before, rank))
        });
        let change = ListChange {
            project: wallet.project,
            order,
            day: (!is_same_day).then_some((self.day, day)),
            ranks: moved.collect(),
        };
        let is_nothing = change.order.is_none() && change.day.is_none() && change.ranks.is_empty();
        (!is_nothing).then(|| Box::new(change))
    }
}

/// The day of a wallet's last use, unless it waits for the payment that gives it an owner.
fn last_day(wallet: &Wallet) -> Option<i32> {
    (wallet.owner != Owner::Order).then(|| day(wallet.used_at))
}

fn ranks(wallet: &Wallet) -> impl Iterator<Item = (ProductId, u8)> {
    let accounts = wallet.accounts().iter();
    accounts.map(|account| (account.product, rank(account.available())))
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
