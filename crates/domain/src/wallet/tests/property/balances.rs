//! Coins, each an object of its own: operations on many are done one by one, each found by a search through all of
//! them.

use std::collections::{BTreeSet, HashMap};

use super::orders::DAY;
use crate::{history::Reason, id::ProductId};

/// Which order brought a coin, and whether by its own payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CoinOrigin {
    pub(super) serial: u128,
    pub(super) own: bool,
}

/// What a coin was that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpentCoin {
    source: Reason,
    pub(super) end: i64,
    serial: u64,
    pub(super) tag: Option<CoinOrigin>,
}

/// One indivisible coin.
#[derive(Debug)]
struct Coin {
    product: ProductId,
    source: Reason,
    end: i64,
    serial: u64,
    held_by: Option<u128>,
    tag: Option<CoinOrigin>,
}

/// Coins of one origin: product, source, end, order, and the hold that has them.
pub(super) type Group = (ProductId, Reason, i64, Option<u128>, Option<u128>);

#[derive(Debug, Default)]
pub(super) struct ModelCoins {
    coins: Vec<Coin>,
    last_serial: u64,
    /// The position of each order's own coins, also after they are gone.
    places: HashMap<(ProductId, u128), u64>,
}

impl ModelCoins {
    fn mint(&mut self, product: ProductId, source: Reason, coins: i64, end: i64) {
        for _ in 0..coins {
            self.last_serial += 1;
            self.coins.push(Coin {
                product,
                source,
                end,
                serial: self.last_serial,
                held_by: None,
                tag: None,
            });
        }
    }

    /// Adds coins that no order brought. Those of one source and end share one position in burn order.
    pub(super) fn grant(&mut self, product: ProductId, source: Reason, coins: i64, end: i64) {
        let alike = |c: &&Coin| (c.product, c.source, c.end) == (product, source, end);
        let place = self.coins.iter().find(alike).map(|coin| coin.serial);
        for _ in 0..coins {
            self.mint(product, source, 1, end);
            let coin = self.coins.last_mut().unwrap();
            coin.serial = place.unwrap_or(coin.serial);
        }
    }

    /// Adds coins of an order. Those by its own payment share a position.
    pub(super) fn mint_for(&mut self, product: ProductId, tag: CoinOrigin, coins: i64, end: i64) {
        self.last_serial += 1;
        let first = self.last_serial;
        let place = tag
            .own
            .then(|| *self.places.entry((product, tag.serial)).or_insert(first));
        for _ in 0..coins {
            self.mint(product, Reason::Purchase, 1, end);
            let coin = self.coins.last_mut().unwrap();
            coin.tag = Some(tag);
            coin.serial = place.unwrap_or(coin.serial);
        }
    }

    /// Takes up to so many free coins of one order; how many there were.
    pub(super) fn take(&mut self, product: ProductId, tag: CoinOrigin, coins: i64) -> i64 {
        let free = |c: &Coin| c.product == product && c.tag == Some(tag) && c.held_by.is_none();
        let mut taken = 0;
        while taken < coins
            && let Some(place) = self.coins.iter().position(free)
        {
            self.coins.remove(place);
            taken += 1;
        }
        taken
    }

    /// Lets an order's coins end no later than at this instant.
    pub(super) fn end(&mut self, order: u128, instant: i64) {
        for coin in &mut self.coins {
            if coin.tag.is_some_and(|tag| tag.serial == order) {
                coin.end = coin.end.min(instant);
            }
        }
    }

    /// Takes free coins away, or those of a hold, in this order.
    pub(super) fn spend(
        &mut self,
        product: ProductId,
        held_by: Option<u128>,
        coins: i64,
    ) -> Vec<SpentCoin> {
        let mut spent = Vec::new();
        for _ in 0..coins {
            let first = self.first(product, held_by);
            let Coin {
                source,
                end,
                tag,
                serial,
                ..
            } = self.coins.remove(first);
            spent.push(SpentCoin {
                source,
                end,
                serial,
                tag,
            });
        }
        spent
    }

    /// Puts a coin back among those that it was of, or where that is over, among others that last a day.
    pub(super) fn put_back(&mut self, product: ProductId, one: SpentCoin, now: i64) {
        let SpentCoin {
            source,
            end,
            serial,
            tag,
            ..
        } = one;
        match tag {
            _ if end <= now => self.grant(product, Reason::Manual, 1, now + DAY),
            None => self.grant(product, source, 1, end),
            Some(_) => self.coins.push(Coin {
                product,
                source,
                end,
                serial,
                held_by: None,
                tag,
            }),
        }
    }

    /// Adds coins to what is left of those that this one was of; without any, as coins by hand that end as it did, or
    /// in a day.
    pub(super) fn restore(&mut self, product: ProductId, one: SpentCoin, coins: i64, now: i64) {
        let alike = |c: &&Coin| {
            let same = (c.source, c.end) == (one.source, one.end);
            c.product == product && c.tag == one.tag && (c.tag.is_some() || same)
        };
        let left = self.coins.iter().find(alike);
        match (left.map(|coin| coin.end), one.tag) {
            (Some(end), Some(tag)) => self.mint_for(product, tag, coins, end),
            (Some(end), None) => self.grant(product, one.source, coins, end),
            (None, _) if one.end > now => self.grant(product, Reason::Manual, coins, one.end),
            (None, _) => self.grant(product, Reason::Manual, coins, now + DAY),
        }
    }

    pub(super) fn hold(&mut self, product: ProductId, hold: u128, coins: i64) {
        for _ in 0..coins {
            let first = self.first(product, None);
            self.coins[first].held_by = Some(hold);
        }
    }

    pub(super) fn give_back(&mut self, hold: u128) {
        for coin in &mut self.coins {
            if coin.held_by == Some(hold) {
                coin.held_by = None;
            }
        }
    }

    /// Takes away what nobody holds and ended at this instant or before; how many.
    pub(super) fn expire(&mut self, product: ProductId, instant: i64) -> i64 {
        let before = self.coins.len();
        self.coins
            .retain(|c| c.product != product || c.held_by.is_some() || c.end > instant);
        (before - self.coins.len()) as i64
    }

    /// Coins that nobody holds, or that one hold does.
    pub(super) fn count(&self, product: ProductId, held_by: Option<u128>) -> i64 {
        let mine = |c: &&Coin| c.product == product && c.held_by == held_by;
        self.coins.iter().filter(mine).count() as i64
    }

    pub(super) fn total(&self, product: ProductId) -> i64 {
        let coins = self.coins.iter();
        coins.filter(|coin| coin.product == product).count() as i64
    }

    pub(super) fn ends(&self) -> BTreeSet<i64> {
        self.coins.iter().map(|coin| coin.end).collect()
    }

    pub(super) fn groups(&self) -> HashMap<Group, i64> {
        let mut groups = HashMap::new();
        for coin in &self.coins {
            let order = coin.tag.map(|tag| tag.serial);
            let group = (coin.product, coin.source, coin.end, order, coin.held_by);
            *groups.entry(group).or_insert(0) += 1;
        }
        groups
    }

    /// The coin to burn next: soonest to expire, then oldest.
    fn first(&self, product: ProductId, held_by: Option<u128>) -> usize {
        let coins = self.coins.iter().enumerate();
        let mine = coins.filter(|(_, c)| c.product == product && c.held_by == held_by);
        let first = mine.min_by_key(|(_, c)| (c.end, c.serial));
        first.map(|(place, _)| place).unwrap()
    }
}
