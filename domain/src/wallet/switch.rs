//! A switch of tiers within a cycle. One up is paid for by an invoice, and brings credits in proportion
//! to the money: what the new tier has over the old one, for the time that is left. One down changes
//! nothing before the next cycle.

use super::{
    Archived, Event, Wallet,
    cycle::{Cycle, Place},
    draft::Draft,
    event::SubscriptionNews,
    order::OrderKind,
    pay::{Billing, Grant, Payment},
    place_order::PlaceOrder,
    subscription::{Subscription, Switched, rank},
};
use crate::{
    id::{OrderSerial, ProductId},
    terms::Terms,
    time::Timestamp,
};

/// Switches of one cycle that are remembered. Each one was paid for; with more, the oldest are forgotten.
pub const MAX_STEPS: usize = 32;

/// A paid invoice of a switch, also one over nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The order to make of it, derived from the invoice: the same invoice is heard once.
    pub order: OrderSerial,
    /// The tier that was left.
    pub old: Terms,
    /// The tier that was switched to.
    pub terms: Terms,
    /// When, as the invoice's proration lines say.
    pub at: Timestamp,
    /// The payment.
    pub payment: Payment,
    /// The subscription, and the cycle within which it was switched.
    pub billing: Billing,
}

/// The credits between two tiers, paid for from some instant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Which order paid.
    pub order: OrderSerial,
    /// Whose credits.
    pub product: ProductId,
    /// From which number of credits a cycle.
    pub from: i64,
    /// To which.
    pub to: i64,
    /// Since when.
    pub at: Timestamp,
    /// Whether all of the payment went back.
    pub reversed: bool,
}

impl Step {
    fn covers(&self, product: ProductId, from: i64, to: i64) -> bool {
        !self.reversed && self.product == product && self.from <= from && to <= self.to
    }
}

impl Switch {
    /// Credits that it is about; those of another product have nothing to be compared with.
    fn step(&self) -> Step {
        let same = self.old.fills == self.terms.fills;
        Step {
            order: self.order,
            product: self.terms.fills,
            from: if same { self.old.credits } else { 0 },
            to: self.terms.credits,
            at: self.at,
            reversed: false,
        }
    }

    /// What it brings to a cycle in which other switches were paid: of what they cover, only what they
    /// came later for.
    fn credits(&self, known: Option<&Subscription>) -> i64 {
        if self.billing.trial || (self.billing.paused && self.payment.amount_cents <= 0) {
            return 0;
        }
        let cycle = self.billing.cycle();
        let step = self.step();
        // Before the cycle's own payment is heard of, nobody knows what it began with.
        let base = known.filter(|known| known.order.is_some());
        let base = base.map(|known| &known.paid);
        let base = base.filter(|base| base.fills == step.product);
        let from = step.from.max(base.map_or(0, |base| base.credits));
        if from >= step.to {
            return 0;
        }
        let steps = known.map_or(&[][..], |known| &known.steps);
        let inner = steps.iter().filter(|other| other.product == step.product);
        let mut cuts: Vec<i64> = inner.flat_map(|other| [other.from, other.to]).collect();
        cuts.retain(|&cut| from < cut && cut < step.to);
        cuts.extend([from, step.to]);
        cuts.sort_unstable();
        let parts = cuts.array_windows().filter(|[low, high]| low < high);
        parts.fold(0, |sum, &[low, high]| {
            let width = high.saturating_sub(low);
            let covered = steps.iter().filter(|s| s.covers(step.product, low, high));
            let since = covered.map(|other| other.at).min();
            let had = since.map_or(0, |since| cycle.share(width, since));
            let more = cycle.share(width, self.at).saturating_sub(had);
            sum.saturating_add(more.max(0))
        })
    }
}

impl Wallet {
    /// Decides what a paid switch brings. What that of a cycle or a subscription that is over brings ends
    /// at once.
    #[must_use]
    pub fn switch(&self, command: Switch, archived: Archived<'_>, now: Timestamp) -> Vec<Event> {
        if self.any_order(command.order, archived).is_some() {
            return Vec::new();
        }
        let id = &command.billing.subscription;
        let order = command.order;
        let mut draft = Draft::on(self, Some(order), Some(id), archived, now);
        let known = self.subscription(id);
        let place = known.map(|known| known.place_of(command.at));
        let over = archived.subscription_over || place == Some(Place::Over);
        if place == Some(Place::Next) {
            draft.end_cycle(id);
        }
        let cycle = known.filter(|_| place == Some(Place::Current));
        let grant = Grant {
            credits: command.credits(cycle),
            over,
        };
        draft.place(
            OrderKind::Switch,
            PlaceOrder::made(order, command.terms.clone()),
        );
        draft.fulfil(
            order,
            command.payment.clone(),
            Some(&command.billing),
            grant,
        );
        if !over {
            // As its cycle's end left it.
            let known = draft.wallet.subscription(id).cloned();
            draft.switched(known, place, command);
        }
        draft.finish()
    }
}

impl Draft {
    fn switched(&mut self, known: Option<Subscription>, place: Option<Place>, command: Switch) {
        let mut step = command.step();
        step.reversed = self.is_reversed(command.order);
        let begun = place != Some(Place::Current);
        let before = known.as_ref().map(|known| known.tier().clone());
        let customer = command.payment.customer;
        let mut next = match known {
            Some(known) if begun => known.begun(command.old.clone(), command.billing.cycle()),
            Some(known) => known,
            None => Subscription::started(command.old.clone(), &command.billing),
        };
        next.customer = customer.or(next.customer);
        let switched = Switched {
            order: command.order,
            terms: command.terms,
            at: command.at,
            reversed: step.reversed,
        };
        next.climb(switched, rank(&command.old));
        next.steps.push(step);
        next.steps.sort_by_key(|step| (step.at, step.order));
        if next.steps.len() > MAX_STEPS {
            next.steps.remove(0);
        }
        let news = match before {
            None => Some(SubscriptionNews::Started),
            Some(_) if begun => Some(SubscriptionNews::Renewed),
            Some(before) => (before != *next.tier()).then_some(SubscriptionNews::Updated),
        };
        self.push_subscription(news, next);
    }
}

impl Subscription {
    /// Keeps the highest of the tiers that were switched to, whatever order they are heard of in.
    fn climb(&mut self, to: Switched, old: (i64, i64)) {
        if rank(&to.terms) < old {
            return;
        }
        let place = |it: &Switched| (!it.reversed, rank(&it.terms), it.at, it.order);
        let lower = |known: &Switched| place(known) <= place(&to);
        if self.switched.as_deref().is_none_or(lower) {
            self.switched = Some(Box::new(to));
        }
    }

    /// What an order's reversal means for the cycle.
    pub(super) fn mark_reversed(&mut self, order: OrderSerial, reversed: bool) {
        if self.order == Some(order) {
            self.reversed = reversed;
        }
        let switched = self.switched.as_mut().filter(|it| it.order == order);
        if let Some(switched) = switched {
            switched.reversed = reversed;
        }
        let steps = self.steps.iter_mut().filter(|step| step.order == order);
        steps.for_each(|step| step.reversed = reversed);
    }
}

impl Cycle {
    /// The part of so many credits a cycle that the time from an instant to its end is worth, rounded to
    /// the nearest.
    fn share(self, credits: i64, from: Timestamp) -> i64 {
        let whole = i128::from(self.end.0).saturating_sub(self.start.0.into());
        let left = i128::from(self.end.0).saturating_sub(from.0.into());
        let left = left.clamp(0, whole.max(0));
        // Twice of everything, so that a half is whole.
        let twice = i128::from(credits.max(0))
            .saturating_mul(left)
            .saturating_mul(2);
        let share = twice
            .saturating_add(whole)
            .checked_div(whole.saturating_mul(2));
        i64::try_from(share.unwrap_or(0)).unwrap_or(credits)
    }
}
