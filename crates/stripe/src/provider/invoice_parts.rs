//! Divides a subscription's paid invoice into orders: one for each subscription item that our prices bill, and one for
//! an item's switches of the previous cycle. Lines may be in any order, and a merchant may have added others. The parts
//! and amounts follow from the invoice alone, so that an order is made once however the subscription changes later.

#[cfg(test)]
mod tests;

use domain::{
    Quantity,
    id::PriceId,
    wallet::{SubscriptionStatus, bill::Pays, pay::PaidCycle, switch::Proration},
};
use payments_port::{InvoicePart, Owners, PaidPart, PartAmount, Share};

use super::{
    invoice_items::{BilledItem, InvoiceItems, ItemName, OwnLine},
    tier::{Tier, instant, is_after_end, status},
};
use crate::{
    invoices::{BillingReason, Invoice, InvoiceLine},
    subscriptions::Subscription,
};

/// A paid invoice does not tell what it is for.
#[derive(Debug)]
pub(super) struct Unclear;

/// An invoice with all of its lines.
pub(super) struct Reading<'a> {
    invoice: &'a Invoice,
    of: InvoiceItems<'a>,
}

struct Part {
    item: usize,
    prior_switches: bool,
    amount_cents: i64,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        subscription: &'a Subscription,
        invoice: &'a Invoice,
        own: Vec<OwnLine<'a>>,
        owners: &'a dyn Owners,
    ) -> Self {
        let of = InvoiceItems::new(subscription, own, owners);
        Self { invoice, of }
    }

    /// Whether it bills a new cycle.
    fn is_cycle(&self) -> bool {
        self.invoice.billing_reason == Some(BillingReason::SubscriptionCycle)
    }

    /// The item's line of a whole cycle, if the invoice begins one.
    fn cycle_of(&self, item: &BilledItem<'a>) -> Option<OwnLine<'a>> {
        let begins = self.is_cycle()
            || self.invoice.billing_reason == Some(BillingReason::SubscriptionUpdate);
        item.cycle.filter(|_| begins)
    }

    /// The parts, whose amounts add up to the payment: discounts and taxes are shared, and the first part gets what is
    /// for no item of ours.
    fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::with_capacity(self.of.items.len());
        for (index, item) in self.of.items.iter().enumerate() {
            let part = |prior_switches, amount_cents| Part {
                item: index,
                prior_switches,
                amount_cents,
            };
            let due = item.due();
            match self.cycle_of(item) {
                Some(own) => parts.push(part(false, own.line.amount)),
                None if self.is_cycle() => parts.push(part(false, 0)),
                None => {
                    parts.push(part(false, due));
                    continue;
                }
            }
            if due > 0 {
                parts.push(part(true, due));
            }
        }
        if parts.is_empty() {
            parts.push(Part {
                item: 0,
                prior_switches: false,
                amount_cents: 0,
            });
        }
        let amounts = self.invoice.lines().iter().map(|line| line.amount);
        let subtotal = amounts.fold(0, i64::saturating_add);
        let paid = self.invoice.amount_paid.max(0);
        let mut left = paid;
        for part in parts.iter_mut().skip(1) {
            let share = Share {
                cents: part.amount_cents,
                of_cents: subtotal,
            };
            part.amount_cents = share.share(paid).clamp(0, left);
            left = left.saturating_sub(part.amount_cents);
        }
        if let Some(first) = parts.first_mut() {
            first.amount_cents = left;
        }
        parts
    }

    fn name(&self, part: &Part) -> InvoicePart {
        let item = self
            .of
            .items
            .get(part.item)
            .filter(|_| self.of.items.len() > 1);
        InvoicePart {
            item: item.map(|item| match item.name {
                ItemName::Id(id) => id.as_str().into(),
                ItemName::Product(id) => id.to_string().into(),
                ItemName::Price(id) => id.to_string().into(),
            }),
            prior_switches: part.prior_switches,
        }
    }

    /// Each part's share of the payment; empty if there is one part.
    pub(super) fn part_amounts(&self) -> Vec<PartAmount> {
        let parts = self.parts();
        let has = |part: &&Part| part.amount_cents > 0;
        let amounts = parts.iter().filter(has).map(|part| PartAmount {
            part: self.name(part),
            amount_cents: part.amount_cents,
        });
        amounts.collect()
    }

    /// What the parts pay for, that of the tier first.
    pub(super) fn paid_parts(&self, tier: &Tier<'_>) -> Result<Vec<PaidPart>, Unclear> {
        let of_tier = self.tier_index(tier);
        let mut paid = Vec::new();
        for part in self.parts() {
            let is_add_on = of_tier != Some(part.item);
            let item = self.of.items.get(part.item);
            let cycle = item.and_then(|item| self.cycle_of(item));
            let about = match (item, cycle) {
                (Some(item), _) if part.prior_switches => self.prior_switches(item, cycle, tier),
                (_, Some(own)) => Some(About {
                    pays: Some(if self.is_cycle() {
                        Pays::Cycle
                    } else {
                        Pays::NewCycle
                    }),
                    price: Some(own.price),
                    ..About::of(own.line)
                }),
                (_, None) if self.is_cycle() && is_add_on => None,
                (_, None) if self.is_cycle() => Some(self.foreign_cycle().ok_or(Unclear)?),
                (Some(item), None) => self.switches(item, tier)?,
                (None, None) if self.takes_money_for_ours() => return Err(Unclear),
                (None, None) => None,
            };
            paid.extend(about.map(|about| PaidPart {
                part: self.name(&part),
                amount_cents: part.amount_cents,
                pays: about.pays,
                is_add_on,
                price: about.price,
                quantity: about.quantity,
                billing: billing_of(self.of.subscription, self.invoice, about.cycle),
            }));
        }
        paid.sort_by_key(|part| part.is_add_on);
        Ok(paid)
    }

    /// The item of the subscription's tier, if it is on the invoice. An invoice from before it was added is for an item
    /// that it replaced, and lines need not name their item.
    fn tier_index(&self, tier: &Tier<'_>) -> Option<usize> {
        let position = |is: &dyn Fn(&OwnLine<'_>) -> bool| {
            let mut items = self.of.items.iter();
            items.position(|item| item.lines().any(is))
        };
        let item = tier.item.filter(|_| tier.price.is_some());
        if let Some((id, created)) = item.and_then(|item| Some((item.id.as_ref()?, item.created))) {
            let named = position(&|own| own.line.item() == Some(id));
            let all_named = position(&|own| own.line.item().is_none()).is_none();
            if named.is_some() || all_named && created <= self.invoice.created {
                return named.or(self.of.items.is_empty().then_some(0));
            }
        }
        let product = tier.price.and_then(|price| self.of.product(price));
        let same_price = position(&|own| Some(own.price) == tier.price);
        let same_product =
            || position(&|own| product.is_some() && self.of.product(own.price) == product);
        same_price.or_else(same_product).or(Some(0))
    }

    /// The cycle of a tier whose price was changed by hand in Stripe; it is paid nevertheless.
    fn foreign_cycle(&self) -> Option<About> {
        let is_ours = |line: &InvoiceLine| {
            let mut ours = self.of.items.iter().filter_map(|item| item.cycle);
            ours.any(|own| own.line == line)
        };
        let line = self.invoice.cycle_lines().find(|line| !is_ours(line))?;
        Some(About {
            pays: Some(Pays::Cycle),
            ..About::of(line)
        })
    }

    /// An item's switches of the previous cycle, if they cost something.
    fn prior_switches(
        &self,
        item: &BilledItem<'_>,
        cycle: Option<OwnLine<'_>>,
        tier: &Tier<'_>,
    ) -> Option<About> {
        let own = cycle.or_else(|| item.switches.first().copied())?;
        let line = cycle.map(|own| own.line);
        // If the item is gone, the invoice begins the others' cycle.
        let line = line.or_else(|| self.invoice.cycle_lines().next())?;
        let lines = self.prorations(item, tier);
        Some(About {
            pays: Some(Pays::PriorSwitches(lines)),
            price: Some(own.price),
            quantity: own.line.quantity(),
            cycle: (line.period.start, line.period.end),
        })
    }

    /// An item's switches within its cycle; `None` if they bring nothing.
    fn switches(&self, item: &BilledItem<'_>, tier: &Tier<'_>) -> Result<Option<About>, Unclear> {
        let mut cycles = self.invoice.cycle_lines();
        let mut others = self.of.others.iter();
        if item.due() <= 0
            && (others.any(|own| own.line.is_cycle())
                || cycles.any(|line| self.of.subscription.is_trial(line)))
        {
            // A trial that postpones the next cycle brings and takes nothing.
            return Ok(None);
        }
        let lines = self.prorations(item, tier);
        let last = Proration::last(&lines).and_then(|last| {
            let mut of_last = item
                .switches
                .iter()
                .filter(|own| own.price == last.terms.price);
            of_last.find(|own| {
                instant(own.line.period.start) == last.at && own.line.quantity() == last.quantity
            })
        });
        let Some(last) = last else {
            return match self.takes_money_for_ours() && item.lines().any(|own| own.line.amount > 0)
            {
                true => Err(Unclear),
                false => Ok(None),
            };
        };
        let end = last.line.period.end;
        Ok(Some(About {
            pays: self.is_complete(item).then_some(Pays::Switches(lines)),
            price: Some(last.price),
            // Switch lines do not tell when their cycle began.
            cycle: (self.start_of(item, tier, end), end),
            ..About::of(last.line)
        }))
    }

    fn takes_money_for_ours(&self) -> bool {
        let items = self.of.items.iter().flat_map(BilledItem::lines);
        self.invoice.amount_paid > 0 && items.chain(&self.of.others).any(|own| own.line.amount > 0)
    }

    fn prorations(&self, item: &BilledItem<'_>, tier: &Tier<'_>) -> Vec<Proration> {
        let lines = item.switches.iter().filter_map(|OwnLine { line, price }| {
            Some(Proration {
                terms: self.of.owners.terms(*price)?,
                quantity: line.quantity(),
                given_back: line.is_given_back(),
                at: instant(line.period.start),
                cycle_start: instant(self.start_of(item, tier, line.period.end)),
                cycle_end: instant(line.period.end),
            })
        });
        lines.collect()
    }

    /// When the item's cycle that ends at `end` began, in seconds since the Unix epoch.
    fn start_of(&self, item: &BilledItem<'_>, tier: &Tier<'_>, end: i64) -> i64 {
        let mut there = self.of.subscription.items().iter();
        let there = there.find(|there| {
            let mut lines = item.lines();
            there.id.is_some() && lines.any(|own| own.line.item() == there.id.as_ref())
        });
        self.of.subscription.start_of(there.or(tier.item), end)
    }

    /// Whether an item's lines tell the former tier: the credited price may be foreign.
    fn is_complete(&self, item: &BilledItem<'_>) -> bool {
        item.switches.iter().all(|own| {
            let at = |line: &InvoiceLine| {
                line.is_given_back() && line.period.start == own.line.period.start
            };
            let mut existing = item.switches.iter();
            let is_of_item = |line: &&InvoiceLine| {
                line.item().is_none() || own.line.item().is_none() || line.item() == own.line.item()
            };
            let mut all = self.invoice.lines().iter().filter(is_of_item);
            existing.any(|own| at(own.line)) || !all.any(|line| line.is_proration() && at(line))
        })
    }
}

struct About {
    pays: Option<Pays>,
    price: Option<PriceId>,
    quantity: Quantity,
    /// Start and end of the cycle, in seconds since the Unix epoch.
    cycle: (i64, i64),
}

impl About {
    fn of(line: &InvoiceLine) -> Self {
        Self {
            pays: None,
            price: None,
            quantity: line.quantity(),
            cycle: (line.period.start, line.period.end),
        }
    }
}

pub(super) fn billing_of(
    subscription: &Subscription,
    invoice: &Invoice,
    (start, end): (i64, i64),
) -> PaidCycle {
    PaidCycle {
        subscription: subscription.id.clone(),
        invoice: Some(invoice.id.clone()),
        cycle_start: instant(start),
        current_period_end: instant(end),
        trial: false,
        after_end: is_after_end(subscription, invoice),
        paused: subscription.is_paused()
            || status(subscription) == Some(SubscriptionStatus::Paused),
        reported_at: instant(invoice.created),
    }
}
