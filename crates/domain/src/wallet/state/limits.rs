//! A wallet's own limits, and what its windows count. A window that is over is forgotten.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    id::ProductId,
    limit::{Count, Counted, Limit, LimitUnit, LimitWindow, MAX_COUNTERS, MAX_LIMITS, ScopeKind},
    time::{Span, Timestamp},
};

/// Limits and counters; behind one pointer, because few wallets have any.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(in crate::wallet) struct WalletLimits {
    pub(in crate::wallet) own: Vec<Limit>,
    pub(in crate::wallet) counters: BTreeMap<CounterKey, Counter>,
}

/// What a counter counts: that of one member, feature, key or of the wallet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::wallet) struct CounterKey {
    pub(in crate::wallet) kind: ScopeKind,
    /// The name of the scope; empty for the wallet.
    pub(in crate::wallet) name: Box<str>,
    pub(in crate::wallet) window: LimitWindow,
    pub(in crate::wallet) unit: LimitUnit,
    /// The product whose credits count; `None`: all.
    pub(in crate::wallet) product: Option<ProductId>,
}

/// What one window counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::wallet) struct Counter {
    /// The version of the wallet with its first use.
    pub(in crate::wallet) since: u64,
    pub(in crate::wallet) starts_at: Timestamp,
    pub(in crate::wallet) ends_at: Timestamp,
    pub(in crate::wallet) used: i64,
    pub(in crate::wallet) held: i64,
    /// The highest percentage that an alert said.
    pub(in crate::wallet) alerted: u8,
    /// Whether its first refusal was reported.
    pub(in crate::wallet) refused: bool,
}

/// What a use changes in the windows that count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::wallet) struct Use {
    pub(in crate::wallet) credits: i64,
    pub(in crate::wallet) held_credits: i64,
    pub(in crate::wallet) operations: i64,
    pub(in crate::wallet) held_operations: i64,
}

impl Use {
    /// What is used and held of it in a unit.
    pub(in crate::wallet) const fn of(self, unit: LimitUnit) -> (i64, i64) {
        match unit {
            LimitUnit::Credits => (self.credits, self.held_credits),
            LimitUnit::Operations => (self.operations, self.held_operations),
        }
    }
}

impl Counter {
    pub(in crate::wallet) const fn new(span: Span, since: u64) -> Self {
        Self {
            since,
            starts_at: span.start,
            ends_at: span.end,
            used: 0,
            held: 0,
            alerted: 0,
            refused: false,
        }
    }

    pub(in crate::wallet) const fn is_open(&self, at: Timestamp) -> bool {
        at.0 < self.ends_at.0
    }
}

impl Count {
    /// The counter of it, for a use of this product.
    pub(in crate::wallet) fn key(&self, by: &Counted, product: ProductId) -> Option<CounterKey> {
        Some(CounterKey {
            kind: self.kind,
            name: by.name(self.kind)?,
            window: self.window,
            unit: self.unit,
            product: self.of_product.then_some(product),
        })
    }
}

impl WalletLimits {
    /// The counter of a window that is open.
    pub(in crate::wallet) fn open(&self, key: &CounterKey, at: Timestamp) -> Option<&Counter> {
        self.counters.get(key).filter(|counter| counter.is_open(at))
    }

    /// Changes what the windows of a use count, unless they are over. `now` is the present instant and version.
    pub(in crate::wallet) fn count(
        &mut self,
        by: &Counted,
        product: ProductId,
        change: Use,
        now: (Timestamp, u64),
    ) {
        for count in &by.counts {
            let Some(key) = count.key(by, product) else {
                continue;
            };
            let Some(counter) = self.counter(key, count, now) else {
                continue;
            };
            let (used, held) = change.of(count.unit);
            counter.used = counter.used.saturating_add(used).max(0);
            counter.held = counter.held.saturating_add(held).max(0);
            let alerts = by.alerts.iter();
            for alert in alerts.filter(|alert| count.is_of(&alert.state.limit)) {
                match alert.percent {
                    Some(percent) => counter.alerted = counter.alerted.max(percent),
                    None => counter.refused = true,
                }
            }
        }
    }

    /// The counter of a use, or a new one in place of that of a window that is over. `None`: it was forgotten.
    fn counter(
        &mut self,
        key: CounterKey,
        count: &Count,
        (at, version): (Timestamp, u64),
    ) -> Option<&mut Counter> {
        if count.since == version {
            if !self.counters.contains_key(&key) {
                self.forget(at);
            }
            let span = Span {
                start: count.starts_at,
                end: count.ends_at,
            };
            let new = Counter::new(span, version);
            self.counters.insert(key.clone(), new);
        }
        let counter = self.counters.get_mut(&key)?;
        (counter.since == count.since).then_some(counter)
    }

    /// Forgets windows that are over, seldom enough to cost nothing.
    fn forget(&mut self, at: Timestamp) {
        let count = self.counters.len();
        if count >= MAX_COUNTERS || count >= 64 && count.is_power_of_two() {
            self.counters.retain(|_, counter| counter.is_open(at));
        }
    }

    pub(in crate::wallet) fn fault(&self) -> Option<String> {
        let mut counters = self.counters.values();
        let are_sound = counters.all(|it| it.used >= 0 && it.held >= 0);
        let is_small = self.own.len() <= MAX_LIMITS && self.counters.len() <= MAX_COUNTERS;
        (!are_sound || !is_small).then(|| "what its limits count is out of bounds".into())
    }
}

impl CounterKey {
    /// The counter of this name's use.
    pub(in crate::wallet) const fn of(limit: &Limit, name: Box<str>) -> Self {
        Self {
            kind: limit.scope.kind,
            name,
            window: limit.window,
            unit: limit.unit,
            product: limit.product,
        }
    }

    /// Whether a limit counts what this does.
    pub(in crate::wallet) fn is_of(&self, limit: &Limit) -> bool {
        let name = limit.scope.name.as_ref();
        (self.kind, self.window, self.unit, self.product)
            == (limit.scope.kind, limit.window, limit.unit, limit.product)
            && name.is_none_or(|name| *name == self.name)
    }
}

impl Count {
    fn is_of(&self, limit: &Limit) -> bool {
        (self.kind, self.window, self.unit) == (limit.scope.kind, limit.window, limit.unit)
            && self.of_product == limit.product.is_some()
    }
}
