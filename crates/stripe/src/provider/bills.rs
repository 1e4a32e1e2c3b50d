//! Reads a subscription's paid invoice with all lines and payments, and finds the orders that it makes.

use domain::wallet::pay::PaidCycle;
use payments_port::{
    InvoiceName, NoOrderReason, Owners, PaidInvoice, PartAmount, PaymentWithoutOrder,
};

use super::{
    Stripe,
    invoice_items::OwnLine,
    invoice_parts::{Reading, Unclear, billing_of},
    tier::{Tier, instant},
};
use crate::{Error, invoices::Invoice, subscriptions::Subscription};

impl Stripe {
    /// What a paid invoice after the first one pays for; `None` if nothing on it is ours, or only the end of a trial
    /// moved.
    pub(super) async fn bill(
        &self,
        subscription: &Subscription,
        tier: &Tier<'_>,
        invoice: Invoice,
        owners: &dyn Owners,
    ) -> Result<Result<Option<PaidInvoice>, PaymentWithoutOrder>, Error> {
        let invoice = self.client.complete(invoice).await?;
        let own = self.own_lines(&invoice).await?;
        let reading = Reading::new(subscription, &invoice, own, owners);
        let parts = match reading.paid_parts(tier) {
            Ok(parts) => parts,
            Err(Unclear) => {
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
        if parts.is_empty() {
            return Ok(Ok(None));
        }
        Ok(Ok(Some(PaidInvoice {
            invoice: name_of(&invoice),
            payment: self.payment_of(&invoice).await?,
            parts,
        })))
    }

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

    /// The orders' parts of an invoice's amount; empty if it makes one order.
    pub(super) async fn amounts_of_parts(
        &self,
        invoice: &Invoice,
        owners: &dyn Owners,
    ) -> Result<Vec<PartAmount>, Error> {
        let Some(subscription) = invoice.subscription() else {
            return Ok(Vec::new());
        };
        let subscription = self.client.open(subscription).await?;
        let own = self.own_lines(invoice).await?;
        let reading = Reading::new(&subscription, invoice, own, owners);
        Ok(reading.part_amounts())
    }

    pub(super) async fn has_own_line(&self, invoice: &Invoice) -> Result<bool, Error> {
        Ok(!self.own_lines(invoice).await?.is_empty())
    }
}

pub(super) fn name_of(invoice: &Invoice) -> InvoiceName {
    InvoiceName {
        id: invoice.id.clone(),
        created: instant(invoice.created),
    }
}
