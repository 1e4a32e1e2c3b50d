//! Groups an invoice's lines of our prices by subscription item. They may be in any order, and switch lines need not
//! name their item.

use domain::{
    id::{PriceId, ProductId},
    terms::Terms,
};
use payments_port::Owners;

use crate::{id::ItemId, invoices::InvoiceLine, subscriptions::Subscription};

#[derive(Clone, Copy)]
pub(super) struct OwnLine<'a> {
    pub(super) line: &'a InvoiceLine,
    pub(super) price: PriceId,
}

/// Our lines of one of the subscription's items.
pub(super) struct BilledItem<'a> {
    pub(super) name: ItemName<'a>,
    pub(super) cycle: Option<OwnLine<'a>>,
    pub(super) switches: Vec<OwnLine<'a>>,
}

/// The identity of an item on an invoice. Switch lines need not name their item.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemName<'a> {
    Id(&'a ItemId),
    Product(ProductId),
    Price(PriceId),
}

pub(super) struct InvoiceItems<'a> {
    pub(super) subscription: &'a Subscription,
    pub(super) owners: &'a dyn Owners,
    pub(super) items: Vec<BilledItem<'a>>,
    /// Our lines for neither a cycle nor a switch, or that begin a trial.
    pub(super) others: Vec<OwnLine<'a>>,
}

impl BilledItem<'_> {
    pub(super) fn due(&self) -> i64 {
        let amounts = self.switches.iter().map(|own| own.line.amount);
        amounts.fold(0, i64::saturating_add)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &OwnLine<'_>> {
        self.cycle.iter().chain(&self.switches)
    }

    /// Whether all of its switches of an instant are credits, or all charges; `None` if it has none or both.
    fn gives_back(&self, at: i64) -> Option<bool> {
        let at = self
            .switches
            .iter()
            .filter(|own| own.line.period.start == at);
        let mut sides = at.map(|own| own.line.is_given_back());
        let first = sides.next()?;
        sides.all(|side| side == first).then_some(first)
    }

    /// Whether one of these items replaced the other: one is credited at an instant at which the other is charged.
    fn replaces(&self, other: &Self) -> bool {
        let both_go_on = self.cycle.is_some() && other.cycle.is_some();
        let mut instants = self.switches.iter().map(|own| own.line.period.start);
        !both_go_on
            && instants.any(|at| {
                let sides = self.gives_back(at).zip(other.gives_back(at));
                sides.is_some_and(|(one, other)| one != other)
            })
    }
}

impl<'a> InvoiceItems<'a> {
    pub(super) fn new(
        subscription: &'a Subscription,
        own: Vec<OwnLine<'a>>,
        owners: &'a dyn Owners,
    ) -> Self {
        let mut all = Self {
            subscription,
            owners,
            items: Vec::new(),
            others: Vec::new(),
        };
        for line in own {
            all.add(line);
        }
        all.join();
        all
    }

    pub(super) fn product(&self, price: PriceId) -> Option<ProductId> {
        self.owners.terms(price).map(|terms| terms.product)
    }

    fn add(&mut self, own: OwnLine<'a>) {
        let is_cycle = own.line.is_cycle();
        let is_trial = is_cycle && self.is_trial(own);
        if is_trial || !is_cycle && !own.line.is_proration() {
            return self.others.push(own);
        }
        let by_price = || ItemName::Price(own.price);
        let name = match (own.line.item(), is_cycle) {
            (Some(id), _) => ItemName::Id(id),
            (None, true) => by_price(),
            (None, false) => self
                .product(own.price)
                .map_or_else(by_price, ItemName::Product),
        };
        let existing = self.items.iter_mut().find(|item| item.name == name);
        match existing.filter(|item| !is_cycle || item.cycle.is_none()) {
            Some(item) if is_cycle => item.cycle = Some(own),
            Some(item) => item.switches.push(own),
            None => self.items.push(BilledItem {
                name: if is_cycle && own.line.item().is_none() {
                    by_price()
                } else {
                    name
                },
                cycle: is_cycle.then_some(own),
                switches: if is_cycle { Vec::new() } else { vec![own] },
            }),
        }
    }

    /// Whether a cycle's line is for a trial, which is free though its price is not; the subscription may no longer
    /// have it. No discount is taken off its line.
    fn is_trial(&self, own: OwnLine<'_>) -> bool {
        let costs = |terms: Terms| terms.amount_cents > 0;
        own.line.amount == 0 && self.owners.terms(own.price).is_some_and(costs)
            || self.subscription.is_trial(own.line)
    }

    /// Joins lines without an item with an item of their product, and an item with the one that replaced it.
    fn join(&mut self) {
        loop {
            let pairs =
                (0..self.items.len()).flat_map(|one| (0..one).map(move |other| (other, one)));
            let joined = pairs.into_iter().find(|&(first, second)| {
                let (Some(one), Some(other)) = (self.items.get(first), self.items.get(second))
                else {
                    return false;
                };
                self.is_product_of(one, other)
                    || self.is_product_of(other, one)
                    || one.replaces(other)
            });
            let Some((first, second)) = joined else {
                return;
            };
            let joined = self.items.remove(second);
            if let Some(item) = self.items.get_mut(first) {
                item.name = item.name.min(joined.name);
                item.cycle = item.cycle.or(joined.cycle);
                item.switches.extend(joined.switches);
            }
        }
    }

    /// Whether an item's lines name only a product that is another item's.
    fn is_product_of(&self, item: &BilledItem<'_>, other: &BilledItem<'_>) -> bool {
        let ItemName::Product(product) = item.name else {
            return false;
        };
        let mut prices = other.lines().map(|own| own.price);
        prices.any(|price| self.product(price) == Some(product))
    }
}
