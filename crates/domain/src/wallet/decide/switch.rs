//! Switches of tiers within a cycle. Their invoice brings credits in proportion to the money: those of all lines that
//! it charges, less those of all lines that it gives back, for the time left, in any order of lines. A downgrade
//! changes nothing before the next cycle.

use std::cmp::Reverse;

use crate::{
    Quantity,
    id::{OrderSerial, ProductId},
    terms::Terms,
    time::{Span, Timestamp},
    wallet::state::subscription::{MAX_STEPS, Step, Subscription, TierSwitch, rank},
};

/// A proration line of an invoice: the rest of a cycle, charged for a tier or given back for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proration {
    /// The tier of the line.
    pub terms: Terms,
    /// The quantity, such as seats.
    pub quantity: Quantity,
    /// Whether it gives the tier back.
    pub given_back: bool,
    /// When the rest of the cycle begins.
    pub at: Timestamp,
    /// When that cycle began.
    pub cycle_start: Timestamp,
    /// When it ended.
    pub cycle_end: Timestamp,
}

impl Proration {
    /// The tier, times its quantity.
    pub fn tier(&self) -> Terms {
        self.terms.clone().many(self.quantity)
    }

    const fn cycle(&self) -> Span {
        Span {
            start: self.cycle_start,
            end: self.cycle_end,
        }
    }

    fn undoes(&self, other: &Self) -> bool {
        self.given_back != other.given_back
            && (self.at, self.cycle(), self.quantity) == (other.at, other.cycle(), other.quantity)
            && self.terms == other.terms
    }

    /// The lines without pairs that undo each other: of several switches in one second, only the first and the last
    /// tier are left.
    fn netted(all: &[Self]) -> Vec<&Self> {
        let mut left: Vec<&Self> = Vec::with_capacity(all.len());
        for line in all {
            match left.iter().position(|other| other.undoes(line)) {
                Some(undone) => drop(left.swap_remove(undone)),
                None => left.push(line),
            }
        }
        left
    }

    /// The line of the tier after all of these switches; `None` if no line charges one.
    pub fn last(all: &[Self]) -> Option<&Self> {
        let charged = |line: &&Self| !line.given_back;
        let netted = Self::netted(all).into_iter().filter(charged);
        let last = netted.max_by_key(|line| (line.at, rank(&line.tier()), line.terms.price));
        last.or_else(|| {
            let charged = all.iter().filter(charged);
            charged.min_by_key(|line| (rank(&line.tier()), line.terms.price))
        })
    }

    /// The tier before all of these switches; `None` if none is given back.
    pub(super) fn first_tier(all: &[Self]) -> Option<Terms> {
        let given_back = |line: &&Self| line.given_back;
        let netted = Self::netted(all).into_iter().filter(given_back);
        let key = |line: &&Self| (line.at, Reverse((rank(&line.tier()), line.terms.price)));
        let first = netted.min_by_key(key);
        first.map(Self::tier)
    }

    /// The credits of a product that these lines bring: charged less given back, so that switching back and forth
    /// brings nothing. Each line is rounded, as its amount is.
    pub(super) fn credits<'a>(all: impl Iterator<Item = &'a Self>, product: ProductId) -> i64 {
        let own = all.filter(|line| line.terms.fills == product);
        let sum = own.fold(0_i64, |sum, line| {
            let share = line.cycle().share(line.tier().credits, line.at);
            match line.given_back {
                true => sum.saturating_sub(share),
                false => sum.saturating_add(share),
            }
        });
        sum.max(0)
    }
}

/// The credits per cycle between two tiers, for a part of the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Levels {
    from: i64,
    to: i64,
    at: Timestamp,
    until: Timestamp,
}

impl Levels {
    /// Credits times milliseconds of a cycle.
    fn time(self, cycle: Span) -> i128 {
        let until = cycle.clamp(self.until);
        product(self.to.saturating_sub(self.from), self.at, until)
    }

    /// Removes `self` from these levels. Returns the parts of it that were not among them, and the removed parts up to
    /// the start of `self`.
    fn remove_from(self, existing: &mut Vec<Self>) -> (Vec<Self>, Vec<Self>) {
        let (mut missing, mut removed) = (vec![self], Vec::new());
        for old in std::mem::take(existing) {
            let mut kept = vec![old];
            let mut left = Vec::with_capacity(missing.len());
            for part in missing {
                let (from, to) = (part.from.max(old.from), part.to.min(old.to));
                if from >= to {
                    left.push(part);
                    continue;
                }
                removed.push(Self {
                    from,
                    to,
                    until: self.at,
                    ..old
                });
                left.extend(part.without(from, to));
                kept = kept.iter().flat_map(|old| old.without(from, to)).collect();
            }
            missing = left;
            existing.extend(kept);
        }
        (missing, removed)
    }

    fn without(self, from: i64, to: i64) -> impl Iterator<Item = Self> {
        let below = Self {
            to: self.to.min(from),
            ..self
        };
        let above = Self {
            from: self.from.max(to),
            ..self
        };
        let parts = [below, above].into_iter();
        parts.filter(|part| part.from < part.to)
    }
}

/// Credits per cycle times the milliseconds between two instants.
fn product(credits: i64, since: Timestamp, until: Timestamp) -> i128 {
    let time = i128::from(until.0).saturating_sub(since.0.into());
    i128::from(credits).saturating_mul(time.max(0))
}

/// What an invoice's switches within a cycle pay for, for one product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Switches {
    /// What is charged beyond the first tier.
    above: Vec<Levels>,
    /// What is given back of the first tier.
    below: Vec<Levels>,
    /// Credits of lines for other cycles.
    others: i64,
}

impl Switches {
    pub(super) fn of(all: &[Proration], fills: ProductId, cycle: Span) -> Self {
        let own = Proration::netted(all).into_iter();
        let own = own.filter(|line| line.terms.fills == fills);
        let (mut current, others): (Vec<&Proration>, Vec<&Proration>) =
            own.partition(|line| line.cycle_end == cycle.end);
        current.sort_by_key(|line| line.at);
        let mut switches = Self {
            others: Proration::credits(others.into_iter(), fills),
            ..Self::default()
        };
        // What was charged or given back until the invoice's next switch.
        let (mut had, mut lacked) = (Vec::new(), Vec::new());
        for together in current.chunk_by(|one, other| one.at == other.at) {
            let sum = |given_back: bool| {
                let those = together.iter().filter(|line| line.given_back == given_back);
                let credits = those.map(|line| line.tier().credits);
                credits.fold(0, i64::saturating_add)
            };
            let at = together.first().map_or(cycle.end, |line| line.at);
            let (old, new) = (sum(true), sum(false));
            let changed = Levels {
                from: old.min(new),
                to: old.max(new),
                at: cycle.clamp(at),
                until: Timestamp::NEVER,
            };
            if old < new {
                let (added, ended) = changed.remove_from(&mut switches.below);
                switches.above.extend(added);
                lacked.extend(ended);
            } else if new < old {
                let (added, ended) = changed.remove_from(&mut switches.above);
                switches.below.extend(added);
                had.extend(ended);
            }
        }
        switches.above.extend(had);
        switches.below.extend(lacked);
        switches
    }

    /// The charged steps, remembered so that no other invoice brings them again.
    pub(super) fn steps(&self, order: OrderSerial, product: ProductId) -> Vec<Step> {
        let steps = self.above.iter().map(|levels| Step {
            order,
            product,
            from: levels.from,
            to: levels.to,
            at: levels.at,
            until: levels.until,
            reversed: false,
        });
        steps.collect()
    }

    /// The steps given back for the rest of the cycle, remembered because charging them again brings credits again.
    pub(super) fn steps_down(
        &self,
        order: OrderSerial,
        product: ProductId,
    ) -> impl Iterator<Item = Step> {
        let lasting = |levels: &&Levels| levels.until == Timestamp::NEVER;
        self.below.iter().filter(lasting).map(move |levels| Step {
            order,
            product,
            from: levels.to,
            to: levels.from,
            at: levels.at,
            until: levels.until,
            reversed: false,
        })
    }

    /// The credits that the switches bring in a cycle with other paid switches; negative if more is given back.
    pub(super) fn credits(
        &self,
        steps: &[Step],
        cycle: Span,
        existing: Option<&Subscription>,
    ) -> i64 {
        let new = steps.iter().map(|step| step.new_time(cycle, existing));
        let new = new.fold(0, i128::saturating_add);
        let given_back = self.below.iter().map(|levels| levels.time(cycle));
        let time = given_back.fold(new, i128::saturating_sub);
        cycle.credits(time).saturating_add(self.others)
    }
}

impl Step {
    fn covers(&self, low: i64, high: i64) -> bool {
        !self.reversed && self.from <= low && high <= self.to
    }

    fn gave_back(&self, low: i64, high: i64) -> bool {
        !self.reversed && self.to <= low && high <= self.from
    }

    /// The credits times milliseconds that this switch adds to a cycle with other paid switches. Where another switch
    /// brings the same credits, only the other's remaining time counts, unless they were given back in between.
    fn new_time(&self, cycle: Span, existing: Option<&Subscription>) -> i128 {
        // Before the cycle's own payment is reported, its first tier is unknown.
        let base = existing
            .filter(|existing| existing.order.is_some())
            .map(|existing| &existing.paid_tier)
            .filter(|paid| paid.fills == self.product);
        let base = base.map_or(0, |base| base.credits);
        if self.from >= self.to {
            return 0;
        }
        let steps = existing.map_or(&[][..], |existing| &existing.steps).iter();
        let steps: Vec<&Self> = steps.filter(|it| it.product == self.product).collect();
        let mut cuts: Vec<i64> = steps.iter().flat_map(|it| [it.from, it.to]).collect();
        cuts.push(base);
        cuts.retain(|&cut| self.from < cut && cut < self.to);
        cuts.extend([self.from, self.to]);
        cuts.sort_unstable();
        let parts = cuts.array_windows().filter(|[low, high]| low < high);
        parts.fold(0, |sum, &[low, high]| {
            let given_back_by = |at: Timestamp| {
                let earlier = steps.iter().filter(|it| it.at <= at);
                earlier.filter(|it| it.gave_back(low, high)).count()
            };
            let turn = given_back_by(self.at);
            if high <= base && turn == 0 {
                return sum;
            }
            let covered = steps
                .iter()
                .filter(|it| it.covers(low, high) && given_back_by(it.at) == turn);
            // Steps are sorted by their start.
            let (mut since, mut time) = (cycle.clamp(self.at), 0_i128);
            let until = cycle.clamp(self.until);
            let width = high.saturating_sub(low);
            for other in covered {
                time = time.saturating_add(product(width, since, other.at.min(until)));
                since = since.max(other.until);
            }
            let time = time.saturating_add(product(width, since, until));
            sum.saturating_add(time)
        })
    }
}

impl Subscription {
    pub(super) fn add_step(&mut self, step: Step) {
        self.steps.push(step);
        self.steps.sort_by_key(|step| (step.at, step.order));
        if self.steps.len() > MAX_STEPS {
            self.steps.remove(0);
        }
    }

    /// Keeps the highest tier switched to, in any order of reports.
    pub(super) fn raise_tier(&mut self, to: TierSwitch, old: &Terms) {
        if rank(&to.terms) < rank(old) {
            return;
        }
        let place = |it: &TierSwitch| (!it.reversed, rank(&it.terms), it.at, it.order);
        let lower = |existing: &TierSwitch| place(existing) <= place(&to);
        if self.tier_switch.as_deref().is_none_or(lower) {
            self.tier_switch = Some(Box::new(to));
        }
    }
}

impl Span {
    fn clamp(self, at: Timestamp) -> Timestamp {
        at.min(self.end).max(self.start)
    }

    fn milliseconds(self) -> i128 {
        i128::from(self.end.0)
            .saturating_sub(self.start.0.into())
            .max(0)
    }

    /// The share of a cycle's credits for the time from an instant to its end, rounded to the nearest.
    fn share(self, credits: i64, from: Timestamp) -> i64 {
        self.credits(product(credits, self.clamp(from), self.end))
    }

    /// Credits a cycle times milliseconds as credits, rounded to the nearest.
    fn credits(self, time: i128) -> i64 {
        let whole = self.milliseconds();
        // Doubled, so that halves are whole numbers.
        let twice = time.saturating_mul(2).saturating_add(whole);
        let credits = twice.checked_div_euclid(whole.saturating_mul(2));
        let credits = credits.unwrap_or(0);
        i64::try_from(credits).unwrap_or(if credits < 0 { i64::MIN } else { i64::MAX })
    }
}
