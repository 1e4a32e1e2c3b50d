//! A switch of tiers within a cycle. An upgrade is paid for by an invoice, and brings credits in proportion to the
//! money: what the new tier has over the old one, for the time that is left. A downgrade changes nothing before the
//! next cycle.

use super::cycle::Cycle;
use crate::{
    id::ProductId,
    terms::Terms,
    time::Timestamp,
    wallet::state::subscription::{MAX_STEPS, Step, Subscription, TierSwitch, rank},
};

/// A proration line of a switch that is settled by a later invoice: the rest of the switch's cycle, charged for the
/// new tier or given back for the former one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proration {
    /// The tier, times its quantity.
    pub terms: Terms,
    /// Whether it gives back the former tier.
    pub given_back: bool,
    /// When the rest of the cycle begins.
    pub at: Timestamp,
    /// When that cycle began.
    pub cycle_start: Timestamp,
    /// When it ended.
    pub cycle_end: Timestamp,
}

impl Proration {
    /// Credits that these lines bring of the product that a tier fills: those charged for, less those given back, so
    /// that switching back and forth brings nothing.
    pub(super) fn credits(all: &[Self], tier: &Terms) -> i64 {
        let own = all.iter().filter(|one| one.terms.fills == tier.fills);
        let sum = own.fold(0_i64, |sum, one| {
            let cycle = Cycle {
                start: one.cycle_start,
                end: one.cycle_end,
            };
            let share = cycle.share(one.terms.credits, one.at);
            match one.given_back {
                true => sum.saturating_sub(share),
                false => sum.saturating_add(share),
            }
        });
        sum.clamp(0, tier.credits)
    }
}

impl Step {
    fn covers(&self, product: ProductId, from: i64, to: i64) -> bool {
        !self.reversed && self.product == product && self.from <= from && to <= self.to
    }

    /// Credits that this switch brings in a cycle with other paid switches. Credits that another switch brings as well
    /// count only for the time before that switch.
    pub(super) fn credits(&self, cycle: Cycle, known: Option<&Subscription>) -> i64 {
        // Before the cycle's own payment is reported, the tier that it began with is not known.
        let base = known
            .filter(|known| known.order.is_some())
            .map(|known| &known.paid_tier)
            .filter(|paid| paid.fills == self.product);
        let from = self.from.max(base.map_or(0, |base| base.credits));
        if from >= self.to {
            return 0;
        }
        let steps = known.map_or(&[][..], |known| &known.steps);
        let inner = steps.iter().filter(|other| other.product == self.product);
        let mut cuts: Vec<i64> = inner.flat_map(|other| [other.from, other.to]).collect();
        cuts.retain(|&cut| from < cut && cut < self.to);
        cuts.extend([from, self.to]);
        cuts.sort_unstable();
        let parts = cuts.array_windows().filter(|[low, high]| low < high);
        parts.fold(0, |sum, &[low, high]| {
            let width = high.saturating_sub(low);
            let covered = steps.iter().filter(|s| s.covers(self.product, low, high));
            let since = covered.map(|other| other.at).min();
            let before = since.map_or(0, |since| cycle.share(width, since));
            let more = cycle.share(width, self.at).saturating_sub(before);
            sum.saturating_add(more.max(0))
        })
    }
}

impl Subscription {
    /// Remembers a switch that was paid.
    pub(super) fn add_step(&mut self, step: Step) {
        self.steps.push(step);
        self.steps.sort_by_key(|step| (step.at, step.order));
        if self.steps.len() > MAX_STEPS {
            self.steps.remove(0);
        }
    }

    /// Keeps the highest tier that was switched to, in whatever order the switches are reported.
    pub(super) fn raise_tier(&mut self, to: TierSwitch, old: &Terms) {
        if rank(&to.terms) < rank(old) {
            return;
        }
        let place = |it: &TierSwitch| (!it.reversed, rank(&it.terms), it.at, it.order);
        let lower = |known: &TierSwitch| place(known) <= place(&to);
        if self.tier_switch.as_deref().is_none_or(lower) {
            self.tier_switch = Some(Box::new(to));
        }
    }
}

impl Cycle {
    /// The share of a cycle's credits for the time from an instant to its end, rounded to the nearest.
    pub(super) fn share(self, credits: i64, from: Timestamp) -> i64 {
        let whole = i128::from(self.end.0).saturating_sub(self.start.0.into());
        let left = i128::from(self.end.0).saturating_sub(from.0.into());
        let left = left.clamp(0, whole.max(0));
        // All doubled, so that a half is whole.
        let twice = i128::from(credits.max(0))
            .saturating_mul(left)
            .saturating_mul(2);
        let share = twice
            .saturating_add(whole)
            .checked_div(whole.saturating_mul(2));
        i64::try_from(share.unwrap_or(0)).unwrap_or(credits)
    }
}
