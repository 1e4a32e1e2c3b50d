//! Finds out what a subscription's paid invoice pays for, from the lines of our tier alone: a merchant may have
//! added others.

use domain::{
    id::PriceId,
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

impl Stripe {
    /// What a paid invoice after the first one pays for; empty where nothing on it is ours.
    pub(super) async fn bill(
        &self,
        subscription: &Subscription,
        tier: &Tier<'_>,
        invoice: Invoice,
        owners: &dyn Owners,
    ) -> Result<Result<Vec<PaidInvoice>, PaymentWithoutOrder>, Error> {
        let invoice = self.client.complete(invoice).await?;
        let own = self.own_line(invoice.cycle_lines()).await?;
        // Without a line of ours the price was changed by hand in Stripe: the cycle is paid all the same.
        let cycle = own.or_else(|| Some((invoice.cycle_lines().next()?, None)));
        let (line, price, pays) = match (invoice.billing_reason, cycle) {
            (Some(BillingReason::SubscriptionCycle), Some((line, price))) => {
                (line, price, Some(Pays::Cycle))
            }
            (Some(BillingReason::SubscriptionCycle), None) => {
                return Ok(Err(PaymentWithoutOrder {
                    reason: NoOrderReason::UnclearBill,
                    payment: self.payment_of(&invoice).await?,
                    billing: Some(PaidCycle {
                        paused: false,
                        ..billing_of(subscription, &invoice, (invoice.created, invoice.created))
                    }),
                }));
            }
            (Some(BillingReason::SubscriptionUpdate), Some((line, Some(price)))) => {
                (line, Some(price), Some(Pays::Anew))
            }
            (Some(BillingReason::SubscriptionUpdate | BillingReason::Manual), _) => {
                match self.switch(&invoice, owners).await? {
                    Some((line, price, pays)) => (line, Some(price), pays),
                    None => return Ok(Ok(Vec::new())),
                }
            }
            _ => return Ok(Ok(Vec::new())),
        };
        let cycle_start = match &pays {
            Some(Pays::Cycle | Pays::Anew | Pays::PriorSwitches(_)) => line.period.start,
            // The lines of a switch do not say when its cycle began.
            Some(Pays::Switch { .. }) | None => subscription.start_of(tier.item, line.period.end),
        };
        let mut paid = PaidInvoice {
            invoice: name_of(&invoice),
            price,
            quantity: line.quantity(),
            payment: self.payment_of(&invoice).await?,
            billing: billing_of(subscription, &invoice, (cycle_start, line.period.end)),
            pays,
        };
        if paid.pays == Some(Pays::Cycle)
            && let Some((cents, lines)) = self.prior_switches(&invoice).await?
        {
            let mut switch = paid.clone();
            switch.payment.amount_cents = cents;
            let settled = lines.into_iter().filter_map(|(line, price)| {
                Some(Proration {
                    terms: owners.terms(price)?.many(line.quantity()),
                    given_back: line.amount < 0,
                    at: instant(line.period.start),
                    cycle_start: instant(subscription.start_of(tier.item, line.period.end)),
                    cycle_end: instant(line.period.end),
                })
            });
            switch.pays = Some(Pays::PriorSwitches(settled.collect()));
            paid.payment.amount_cents = paid.payment.amount_cents.saturating_sub(cents);
            return Ok(Ok(vec![paid, switch]));
        }
        Ok(Ok(vec![paid]))
    }

    /// The first of these lines whose price is ours.
    async fn own_line<'a>(
        &self,
        lines: impl Iterator<Item = &'a InvoiceLine>,
    ) -> Result<Option<(&'a InvoiceLine, Option<PriceId>)>, Error> {
        for line in lines {
            if let Some(price) = self.price_of_line(line).await? {
                return Ok(Some((line, Some(price))));
            }
        }
        Ok(None)
    }

    async fn price_of_line(&self, line: &InvoiceLine) -> Result<Option<PriceId>, Error> {
        match line.price() {
            Some(price) => self.our_price(price).await,
            None => Ok(None),
        }
    }

    /// What the invoice of a switch in mid-cycle settles: our line that is charged for the rest of the cycle,
    /// its price, and when and from which tier the switch was.
    async fn switch<'a>(
        &self,
        invoice: &'a Invoice,
        owners: &dyn Owners,
    ) -> Result<Option<(&'a InvoiceLine, PriceId, Option<Pays>)>, Error> {
        let lines = || invoice.lines().iter().filter(|line| line.is_proration());
        let charged = self
            .own_line(lines().filter(|line| line.amount >= 0))
            .await?;
        let Some((charged, Some(price))) = charged else {
            return Ok(None);
        };
        let credited = self
            .own_line(lines().filter(|line| line.amount < 0))
            .await?;
        let switch = credited.and_then(|(line, price)| {
            Some(Pays::Switch {
                old: owners.terms(price?)?.many(line.quantity()),
                at: instant(charged.period.start),
            })
        });
        Ok(Some((charged, price, switch)))
    }

    /// The switches of the previous cycle that a cycle's invoice settles, where they cost something: the
    /// amount, and their lines.
    pub(super) async fn prior_switches<'a>(
        &self,
        invoice: &'a Invoice,
    ) -> Result<Option<(i64, Vec<(&'a InvoiceLine, PriceId)>)>, Error> {
        let mut own = Vec::new();
        for line in invoice.lines().iter().filter(|line| line.is_proration()) {
            if let Some(price) = self.price_of_line(line).await? {
                own.push((line, price));
            }
        }
        let amounts = own.iter().map(|(line, _)| line.amount);
        let cents = amounts
            .fold(0, i64::saturating_add)
            .min(invoice.amount_paid);
        Ok((cents > 0).then_some((cents, own)))
    }
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
