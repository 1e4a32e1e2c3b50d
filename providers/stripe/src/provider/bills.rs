//! Finds out what a subscription's paid invoice pays for, from all of its lines whose prices are ours, in whatever
//! order they are: a merchant may have added others.

use domain::{
    id::{PriceId, ProductId},
    time::Timestamp,
    wallet::{SubscriptionStatus, bill::Pays, pay::PaidCycle, switch::Proration},
};
use port::{InvoiceName, NoOrderReason, Owners, PaidInvoice, PaymentWithoutOrder};

use super::{
    Stripe,
    fetch::{Tier, instant, is_after_end, status},
};
use crate::{
    Error,
    invoices::{BillingReason, Invoice, InvoiceLine},
    subscriptions::Subscription,
};

/// A line of ours.
#[derive(Clone, Copy)]
struct OwnLine<'a> {
    line: &'a InvoiceLine,
    price: PriceId,
}

impl Stripe {
    /// What a paid invoice after the first one pays for; empty where nothing on it is ours, or nothing but the end of
    /// a trial was moved.
    pub(super) async fn bill(
        &self,
        subscription: &Subscription,
        tier: &Tier<'_>,
        invoice: Invoice,
        owners: &dyn Owners,
    ) -> Result<Result<Vec<PaidInvoice>, PaymentWithoutOrder>, Error> {
        let invoice = self.client.complete(invoice).await?;
        let own = self.own_lines(&invoice).await?;
        let judged = judge(subscription, tier, (&invoice, &own), owners);
        let (line, price, pays) = match judged {
            Judged::Paid(line, price, pays) => (line, price, pays),
            Judged::Nothing => return Ok(Ok(Vec::new())),
            Judged::Unclear => {
                let at = (invoice.created, invoice.created);
                return Ok(Err(PaymentWithoutOrder {
                    reason: NoOrderReason::UnclearBill,
                    payment: self.payment_of(&invoice).await?,
                    billing: Some(PaidCycle {
                        paused: false,
                        ..billing_of(subscription, &invoice, at)
                    }),
                }));
            }
        };
        let cycle_start = match &pays {
            Some(Pays::Cycle | Pays::Anew | Pays::PriorSwitches(_)) => line.period.start,
            // The lines of a switch do not say when its cycle began.
            Some(Pays::Switches(_)) | None => subscription.start_of(tier.item, line.period.end),
        };
        let mut paid = PaidInvoice {
            invoice: name_of(&invoice),
            price,
            quantity: line.quantity(),
            payment: self.payment_of(&invoice).await?,
            billing: billing_of(subscription, &invoice, (cycle_start, line.period.end)),
            pays,
        };
        if matches!(paid.pays, Some(Pays::Cycle | Pays::Anew))
            && let Some((cents, settled)) = prior_switches(&invoice, &own)
        {
            let mut switch = paid.clone();
            switch.payment.amount_cents = cents;
            let lines = prorations(subscription, tier, &settled, owners);
            switch.pays = Some(Pays::PriorSwitches(lines));
            paid.payment.amount_cents = paid.payment.amount_cents.saturating_sub(cents);
            return Ok(Ok(vec![paid, switch]));
        }
        Ok(Ok(vec![paid]))
    }

    /// All lines whose price is ours.
    async fn own_lines<'a>(&self, invoice: &'a Invoice) -> Result<Vec<OwnLine<'a>>, Error> {
        let mut own = Vec::new();
        for line in invoice.lines() {
            let price = match line.price() {
                Some(price) => self.our_price(price).await?,
                None => None,
            };
            own.extend(price.map(|price| OwnLine { line, price }));
        }
        Ok(own)
    }

    /// The part of an invoice's amount that is for switches of the cycle before, if it settles any.
    pub(super) async fn prior_share(&self, invoice: &Invoice) -> Result<Option<i64>, Error> {
        let own = self.own_lines(invoice).await?;
        Ok(prior_switches(invoice, &own).map(|(cents, _)| cents))
    }

    /// Whether any line of an invoice is ours.
    pub(super) async fn has_own_line(&self, invoice: &Invoice) -> Result<bool, Error> {
        Ok(!self.own_lines(invoice).await?.is_empty())
    }
}

/// What an invoice pays for.
enum Judged<'a> {
    /// The line of the tier that it pays, our price of it, and what for; `None`: a switch from a tier that is not ours.
    Paid(&'a InvoiceLine, Option<PriceId>, Option<Pays>),
    /// Nothing of ours.
    Nothing,
    /// It took money, and does not say what for.
    Unclear,
}

fn judge<'a>(
    subscription: &Subscription,
    tier: &Tier<'_>,
    (invoice, own): (&'a Invoice, &[OwnLine<'a>]),
    owners: &dyn Owners,
) -> Judged<'a> {
    use BillingReason::{SubscriptionCycle, SubscriptionUpdate};
    let cycles = own.iter().filter(|own| own.line.is_cycle());
    let cycles = cycles.filter(|own| !subscription.is_trial(own.line));
    let cycles: Vec<&OwnLine<'a>> = cycles.collect();
    // Of several items of ours, the tier is the one that the subscription began with.
    let of_tier = cycles.iter().find(|own| Some(own.price) == tier.price);
    match (invoice.billing_reason, of_tier.or(cycles.first())) {
        (Some(SubscriptionCycle), Some(own)) => {
            Judged::Paid(own.line, Some(own.price), Some(Pays::Cycle))
        }
        // Without a line of ours the price was changed by hand in Stripe: the cycle is paid all the same.
        (Some(SubscriptionCycle), None) => match invoice.cycle_lines().next() {
            Some(line) => Judged::Paid(line, None, Some(Pays::Cycle)),
            None => Judged::Unclear,
        },
        (Some(SubscriptionUpdate), Some(own)) => {
            Judged::Paid(own.line, Some(own.price), Some(Pays::Anew))
        }
        _ => judge_switches(subscription, tier, (invoice, own), owners),
    }
}

fn judge_switches<'a>(
    subscription: &Subscription,
    tier: &Tier<'_>,
    (invoice, own): (&'a Invoice, &[OwnLine<'a>]),
    owners: &dyn Owners,
) -> Judged<'a> {
    let settled = own.iter().filter(|own| own.line.is_proration());
    let settled: Vec<OwnLine<'a>> = settled.copied().collect();
    let due = settled.iter().map(|own| own.line.amount);
    let due = due.fold(0, i64::saturating_add);
    if due <= 0
        && invoice
            .cycle_lines()
            .any(|line| subscription.is_trial(line))
    {
        // A trial postponed the next cycle, which brings and takes nothing.
        return Judged::Nothing;
    }
    let lines = prorations(subscription, tier, &settled, owners);
    let last = Proration::last(&lines).and_then(|last| {
        let mut of_last = settled.iter().filter(|own| own.price == last.terms.price);
        of_last.find(|own| {
            instant(own.line.period.start) == last.at && own.line.quantity() == last.quantity
        })
    });
    match last {
        Some(last) => {
            let known = is_complete(invoice, &lines);
            let pays = known.then_some(Pays::Switches(lines));
            Judged::Paid(last.line, Some(last.price), pays)
        }
        None if invoice.amount_paid > 0 && own.iter().any(|own| own.line.amount > 0) => {
            Judged::Unclear
        }
        None => Judged::Nothing,
    }
}

fn prorations(
    subscription: &Subscription,
    tier: &Tier<'_>,
    lines: &[OwnLine<'_>],
    owners: &dyn Owners,
) -> Vec<Proration> {
    let lines = lines.iter().filter_map(|OwnLine { line, price }| {
        Some(Proration {
            terms: owners.terms(*price)?,
            quantity: line.quantity(),
            given_back: line.is_given_back(),
            at: instant(line.period.start),
            cycle_start: instant(subscription.start_of(tier.item, line.period.end)),
            cycle_end: instant(line.period.end),
        })
    });
    let all = lines.collect();
    match tier.price.and_then(|price| owners.terms(price)) {
        Some(terms) => of_product(all, terms.product),
        None => all,
    }
}

/// Of an invoice's lines those of one product, with those of others that it was switched from or to.
fn of_product(all: Vec<Proration>, product: ProductId) -> Vec<Proration> {
    let mut products = vec![product];
    let one_sided = |of: ProductId, at: Timestamp| {
        let own = all
            .iter()
            .filter(|it| it.terms.product == of && it.at == at);
        let mut sides = own.map(|line| line.given_back);
        let first = sides.next()?;
        sides.all(|side| side == first).then_some(first)
    };
    loop {
        let other = all.iter().find(|line| {
            !products.contains(&line.terms.product)
                && one_sided(line.terms.product, line.at).is_some_and(|side| {
                    let mut known = products.iter();
                    known.any(|known| one_sided(*known, line.at) == Some(!side))
                })
        });
        match other {
            Some(line) => products.push(line.terms.product),
            None => break,
        }
    }
    let is_own = |line: &Proration| products.contains(&line.terms.product);
    match all.iter().any(is_own) {
        true => all.into_iter().filter(is_own).collect(),
        false => all,
    }
}

/// Whether the lines say what was switched from: the price of a tier that is given back may be none of ours.
fn is_complete(invoice: &Invoice, own: &[Proration]) -> bool {
    own.iter().all(|line| {
        let at = |other: &&Proration| other.at == line.at && other.given_back;
        let foreign = invoice.lines().iter().any(|other| {
            other.is_proration() && other.is_given_back() && instant(other.period.start) == line.at
        });
        own.iter().any(|other| at(&other)) || !foreign
    })
}

/// The switches of the previous cycle that the invoice of a new cycle settles, where they cost something: the amount,
/// and their lines.
fn prior_switches<'a>(invoice: &Invoice, own: &[OwnLine<'a>]) -> Option<(i64, Vec<OwnLine<'a>>)> {
    let lines = own.iter().filter(|own| own.line.is_proration());
    let lines: Vec<OwnLine<'a>> = lines.copied().collect();
    let amounts = lines.iter().map(|own| own.line.amount);
    let cents = amounts.fold(0, i64::saturating_add);
    let cents = cents.min(invoice.amount_paid);
    (cents > 0).then_some((cents, lines))
}

fn billing_of(
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

pub(super) fn name_of(invoice: &Invoice) -> InvoiceName {
    InvoiceName {
        id: invoice.id.clone(),
        created: instant(invoice.created),
    }
}
