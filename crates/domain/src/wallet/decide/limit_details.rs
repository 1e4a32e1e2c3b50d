//! A wallet's limits as an operator sees them: with each counter of a pattern.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::limits::state;
use crate::{
    limit::{LimitDetail, LimitScope, LimitUse, ProjectLimits, ScopeKind},
    time::Timestamp,
    wallet::state::{
        Wallet,
        limits::{Counter, CounterKey},
    },
};

impl Wallet {
    /// The limits in force with what their windows count; of each pattern the `most` counters that used most, among
    /// those whose names contain `named`.
    pub fn limit_details(
        &self,
        project: &ProjectLimits,
        named: &str,
        most: usize,
        now: Timestamp,
    ) -> Vec<LimitDetail> {
        let (at, named) = (self.date(now), named.to_lowercase());
        let all = self.effective_limits(project, None, at);
        let none = BTreeMap::new();
        let counters = self.limits.as_ref().map_or(&none, |it| &it.counters);
        let details = all.iter().map(|&(source, limit)| {
            let LimitScope { kind, name } = &limit.scope;
            let key = CounterKey::of(limit, name.clone().unwrap_or_default());
            let own = self.counter(&key, limit, at).0;
            let exact: BTreeSet<_> = all
                .iter()
                .filter(|(_, other)| other.counts_like(limit))
                .filter_map(|(_, other)| other.scope.name.as_ref())
                .collect();
            let is_pattern = *kind != ScopeKind::Wallet && name.is_none();
            let mut each: Vec<(&CounterKey, &Counter)> = counters
                .iter()
                .filter(|(key, counter)| is_pattern && key.is_of(limit) && counter.is_open(at))
                .filter(|(key, _)| !exact.contains(&key.name))
                .collect();
            let taken = |counter: &Counter| counter.used.saturating_add(counter.held);
            let is_full = |it: &&(_, &Counter)| taken(it.1) >= limit.amount;
            let (count, full) = (each.len(), each.iter().filter(is_full).count());
            each.retain(|(key, _)| named.is_empty() || key.name.to_lowercase().contains(&named));
            each.sort_unstable_by_key(|(key, counter)| (Reverse(taken(counter)), &key.name));
            let one = |(key, counter): (&CounterKey, &Counter)| {
                let mut limit = limit.clone();
                limit.scope.name = Some(key.name.clone());
                LimitUse {
                    state: state(&limit, source, counter),
                    has_refused: counter.refused,
                }
            };
            LimitDetail {
                own: LimitUse {
                    state: state(limit, source, &own),
                    has_refused: own.refused,
                },
                each: each.into_iter().take(most).map(one).collect(),
                count,
                full,
            }
        });
        details.collect()
    }
}
