//! Holds a use against the limits that apply to it. All of them are one decision in the wallet's own turn, so that at
//! every instant what was used and is held is no more than was admitted.

use crate::{
    Rejection,
    id::ProductId,
    limit::{
        Count, Counted, ExceededLimit, Limit, LimitAlert, LimitSource, LimitState, MAX_COUNTERS,
        ProjectLimits, ScopeKind, Spender, feature,
    },
    text::{Member, Meta},
    time::{Span, Timestamp},
    wallet::state::{
        Wallet,
        event::Change,
        limits::{Counter, CounterKey, Use},
    },
};

/// A request to replace a wallet's own limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetLimits(pub Vec<Limit>);

/// A limit that applies to a use, with its counter.
struct Applying<'a> {
    key: CounterKey,
    limit: &'a Limit,
    source: LimitSource,
    /// What its window counts so far.
    counter: Counter,
    is_new: bool,
}

/// What is held against limits.
#[derive(Clone, Copy)]
pub(super) struct Spent<'a> {
    pub(super) by: &'a Spender,
    pub(super) meta: Option<&'a Meta>,
    pub(super) product: ProductId,
    pub(super) at: Timestamp,
}

impl Wallet {
    /// The limits that may apply, with their sources: those of the wallet, of its active subscriptions, of products.
    fn limits_in_force<'a>(
        &'a self,
        project: &'a ProjectLimits,
        at: Timestamp,
    ) -> impl Iterator<Item = (LimitSource, &'a Limit)> {
        let own = self.limits.iter().flat_map(|limits| &limits.own);
        let active = self.subscriptions().filter(move |it| it.is_in_force(at));
        let prices = active.filter_map(|it| project.prices.get(&it.tier().price));
        let own = own.map(|limit| (LimitSource::Wallet, limit));
        let prices = prices
            .flatten()
            .map(|limit| (LimitSource::Subscription, limit));
        let products = project.products.iter();
        let products = products.map(|limit| (LimitSource::Product, limit));
        own.chain(prices).chain(products)
    }

    /// Those that apply to a use: of several that count the same, an exact scope goes before a pattern, then the
    /// earlier source.
    fn applying<'a>(
        &'a self,
        project: &'a ProjectLimits,
        by: &Counted,
        product: ProductId,
        at: Timestamp,
    ) -> Vec<Applying<'a>> {
        let mut found: Vec<(LimitSource, &'a Limit, Box<str>)> = Vec::new();
        for (source, limit) in self.limits_in_force(project, at) {
            if limit.product.is_some_and(|of| of != product) {
                continue;
            }
            let Some(name) = by.name(limit.scope.kind) else {
                continue;
            };
            if limit
                .scope
                .name
                .as_ref()
                .is_some_and(|exact| *exact != name)
            {
                continue;
            }
            let rank = |limit: &Limit, source| (limit.scope.name.is_none(), source);
            match found
                .iter_mut()
                .find(|(_, other, _)| other.counts_like(limit))
            {
                None => found.push((source, limit, name)),
                Some((of, other, _)) if rank(limit, source) < rank(other, *of) => {
                    (*of, *other) = (source, limit);
                }
                Some(_) => {}
            }
        }
        let applying = found.into_iter().map(|(source, limit, name)| {
            let key = CounterKey::of(limit, name);
            let (counter, is_new) = self.counter(&key, limit, at);
            Applying {
                key,
                limit,
                source,
                counter,
                is_new,
            }
        });
        applying.collect()
    }

    /// Admits a use, or refuses it where a limit has no room for all of it. `None` if nothing is to be kept of it.
    pub(super) fn admit(
        &self,
        project: &ProjectLimits,
        spent: Spent<'_>,
        taken: Use,
    ) -> Result<Option<Box<Counted>>, Rejection> {
        let Spent {
            by,
            meta,
            product,
            at,
        } = spent;
        let has_limits = self.limits.is_some()
            || !project.products.is_empty()
            || !project.prices.is_empty() && self.subscriptions().next().is_some();
        if !has_limits {
            return Ok(by.member.as_ref().map(|member| {
                Box::new(Counted {
                    member: Some(member.clone()),
                    is_operation: true,
                    ..Counted::default()
                })
            }));
        }
        let names = |kind| {
            self.limits_in_force(project, at)
                .any(|(_, it)| it.scope.kind == kind)
        };
        let mut counted = Box::new(Counted {
            member: by.member.clone(),
            feature: names(ScopeKind::Feature).then(|| feature(meta)).flatten(),
            key: by.key.filter(|_| names(ScopeKind::Key)),
            is_operation: true,
            ..Counted::default()
        });
        let applying = self.applying(project, &counted, product, at);
        let new = applying.iter().filter(|it| it.is_new).count();
        self.room_for_counters(new, at)?;
        for it in &applying {
            it.admit(&counted, product, taken)?;
        }
        for it in &applying {
            counted.counts.push(it.count());
            it.alert(&mut counted, taken);
        }
        Ok(counted.is_said().then_some(counted))
    }

    /// The same for more of a use that was admitted: it counts where that did, as long as a limit is left there.
    /// `is_bounded`: whether the limits have to have room for it.
    pub(super) fn admit_more(
        &self,
        project: &ProjectLimits,
        (counted, product): (Option<&Counted>, ProductId),
        (taken, is_bounded): (Use, bool),
        now: Timestamp,
    ) -> Result<Option<Box<Counted>>, Rejection> {
        let Some(counted) = counted else {
            return Ok(None);
        };
        let at = self.date(now);
        let mut more = Box::new(counted.clone());
        if counted.counts.is_empty() {
            return Ok(Some(more));
        }
        let is_its = |it: &Applying<'_>| {
            let mut counts = counted.counts.iter();
            counts.any(|count| {
                count.since == it.counter.since
                    && count.key(counted, product).as_ref() == Some(&it.key)
            })
        };
        let applying = self.applying(project, counted, product, at);
        for it in applying.iter().filter(|it| !it.is_new && is_its(it)) {
            if is_bounded {
                it.admit(counted, product, taken)?;
            }
            it.alert(&mut more, taken);
        }
        Ok(Some(more))
    }

    fn room_for_counters(&self, new: usize, at: Timestamp) -> Result<(), Rejection> {
        let Some(limits) = self.limits.as_ref().filter(|_| new > 0) else {
            return Ok(());
        };
        let counters = &limits.counters;
        if counters.len().saturating_add(new) <= MAX_COUNTERS {
            return Ok(());
        }
        let open = counters.values().filter(|it| it.is_open(at)).count();
        match open.saturating_add(new) > MAX_COUNTERS {
            true => Err(Rejection::TooManyScopes),
            false => Ok(()),
        }
    }

    /// Decides to replace the wallet's own limits; `None` if they are the same.
    #[must_use]
    pub fn set_limits(
        &self,
        SetLimits(limits): SetLimits,
        project: &ProjectLimits,
        now: Timestamp,
    ) -> Option<Change> {
        let own = self.limits.as_ref().map_or(&[][..], |it| &it.own);
        if own == limits {
            return None;
        }
        let others = self.limits_in_force(project, self.date(now));
        let others = others.filter(|(source, _)| *source != LimitSource::Wallet);
        let others = others.map(|(_, limit)| limit.clone()).collect();
        Some(Change::LimitsSet { limits, others })
    }

    /// The limits that no other replaces: all of them, or those of one member and of none.
    pub(super) fn effective_limits<'a>(
        &'a self,
        project: &'a ProjectLimits,
        member: Option<&Member>,
        at: Timestamp,
    ) -> Vec<(LimitSource, &'a Limit)> {
        let is_of_other = |limit: &Limit| {
            let name = limit.scope.name.as_deref();
            let named = name.filter(|_| limit.scope.kind == ScopeKind::Member);
            named
                .zip(member)
                .is_some_and(|(name, member)| name != member.as_str())
        };
        let all = self.limits_in_force(project, at);
        let all: Vec<_> = all.filter(|(_, limit)| !is_of_other(limit)).collect();
        let replaces = |(source, limit): (LimitSource, &Limit), former: (LimitSource, &Limit)| {
            let is_exact = |limit: &Limit| limit.scope.name.is_some();
            let is_members = limit.scope.kind == ScopeKind::Member && member.is_some();
            match is_members && is_exact(limit) != is_exact(former.1) {
                true => limit.counts_like(former.1) && is_exact(limit),
                false => limit.is_like(former.1) && source < former.0,
            }
        };
        let is_replaced = |it| all.iter().any(|other| replaces(*other, it));
        let left = all.iter().filter(|it| !is_replaced(**it));
        left.copied().collect()
    }

    /// The limits in force with what their windows count: all of them, or those of one member and of none. A pattern
    /// counts nothing by itself.
    pub fn limit_states(
        &self,
        project: &ProjectLimits,
        member: Option<&Member>,
        now: Timestamp,
    ) -> Vec<LimitState> {
        let at = self.date(now);
        let limits = self.effective_limits(project, member, at).into_iter();
        let states = limits.map(|(source, limit)| {
            let own = limit.scope.name.as_deref();
            let of_member = member.filter(|_| limit.scope.kind == ScopeKind::Member);
            let name = own.or(of_member.map(Member::as_str)).unwrap_or_default();
            let key = CounterKey::of(limit, name.into());
            state(limit, source, &self.counter(&key, limit, at).0)
        });
        states.collect()
    }

    /// What an open window counts, and whether it is a new one.
    pub(super) fn counter(
        &self,
        key: &CounterKey,
        limit: &Limit,
        at: Timestamp,
    ) -> (Counter, bool) {
        let limits = self.limits.as_ref();
        match limits.and_then(|limits| limits.open(key, at)) {
            Some(counter) => (*counter, false),
            None => {
                let span = limit.window.span(at, limit.time_zone.as_ref());
                (Counter::new(span, self.version.saturating_add(1)), true)
            }
        }
    }
}

pub(super) fn state(limit: &Limit, source: LimitSource, counter: &Counter) -> LimitState {
    LimitState {
        limit: limit.clone(),
        source,
        used: counter.used,
        held: counter.held,
        starts_at: Some(counter.starts_at).filter(|at| *at != Span::ALWAYS.start),
        resets_at: Some(counter.ends_at).filter(|at| *at != Timestamp::NEVER),
    }
}

impl Applying<'_> {
    fn admit(&self, by: &Counted, product: ProductId, taken: Use) -> Result<(), Rejection> {
        let (used, held) = taken.of(self.limit.unit);
        let requested = used.saturating_add(held);
        let Counter { used, held, .. } = self.counter;
        if requested <= 0 || requested <= self.limit.remaining(used, held) {
            return Ok(());
        }
        let state = state(self.limit, self.source, &self.counter);
        let refused = (!self.counter.refused).then(|| {
            let refused = Counted {
                counts: vec![self.count()],
                alerts: vec![LimitAlert {
                    state: state.clone(),
                    percent: None,
                    member: by.member.clone(),
                }],
                ..by.clone()
            };
            (Box::new(refused), product)
        });
        Err(Rejection::LimitExceeded(Box::new(ExceededLimit {
            state,
            requested,
            first: refused,
        })))
    }

    fn count(&self) -> Count {
        Count {
            kind: self.key.kind,
            window: self.key.window,
            unit: self.key.unit,
            of_product: self.key.product.is_some(),
            since: self.counter.since,
            starts_at: self.counter.starts_at,
            ends_at: self.counter.ends_at,
        }
    }

    /// Adds an alert for each threshold that a use passes.
    fn alert(&self, counted: &mut Counted, taken: Use) {
        let (used, held) = taken.of(self.limit.unit);
        if used <= 0 {
            return;
        }
        let counter = Counter {
            used: self.counter.used.saturating_add(used),
            held: self.counter.held.saturating_add(held).max(0),
            ..self.counter
        };
        let is_passed = |percent: &u8| {
            let threshold = i128::from(self.limit.amount).saturating_mul((*percent).into());
            *percent > self.counter.alerted
                && self.limit.amount > 0
                && i128::from(counter.used).saturating_mul(100) >= threshold
        };
        for &percent in self.limit.alerts_at.iter().filter(|it| is_passed(it)) {
            counted.alerts.push(LimitAlert {
                state: state(self.limit, self.source, &counter),
                percent: Some(percent),
                member: counted.member.clone(),
            });
        }
    }
}

impl Rejection {
    /// What is logged of the refusal: it changes no credits and uses up no key.
    #[must_use]
    pub fn logged(&self) -> Option<Change> {
        let Self::LimitExceeded(exceeded) = self else {
            return None;
        };
        let (refused, product) = exceeded.first.clone()?;
        Some(Change::LimitRefused(refused, product))
    }
}
