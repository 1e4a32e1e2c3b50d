//! Unused credits, and what was paid for them.

use std::collections::BTreeMap;

use super::{account::Account, dispute::Currency};
use crate::time::Timestamp;

/// Credits that are not used yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outstanding {
    /// Credits that were paid for.
    pub bought: i64,
    /// Credits that nobody paid for: granted by hand, for free, or by an order of 0.
    pub given: i64,
    /// What was paid for the bought ones at each lot's price, in the minor unit of its currency.
    pub money: BTreeMap<Currency, i64>,
}

impl Outstanding {
    /// Adds the credits and money of another.
    pub fn merge(&mut self, other: &Self) {
        self.bought = self.bought.saturating_add(other.bought);
        self.given = self.given.saturating_add(other.given);
        for (currency, cents) in &other.money {
            let sum = self.money.entry(*currency).or_default();
            *sum = sum.saturating_add(*cents);
        }
    }
}

impl Account {
    /// Credits that do not expire by `now`: bought ones, others, and by currency what was paid. Visits each lot.
    pub fn outstanding(&self, now: Timestamp) -> Outstanding {
        let mut sum = Outstanding::default();
        for lot in self.lots.in_burn_order() {
            if lot.expires_at <= now {
                continue;
            }
            match &lot.price {
                Some(price) => {
                    sum.bought = sum.bought.saturating_add(lot.left);
                    let money = sum.money.entry(price.currency).or_default();
                    *money = money.saturating_add(price.share(lot.left));
                }
                None => sum.given = sum.given.saturating_add(lot.left),
            }
        }
        sum
    }
}
