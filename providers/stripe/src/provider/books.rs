//! Stripe's lists of money that moved, as the daily proof reads them.

use domain::{text::PaymentId, time::Timestamp};
use port::{Book, BookPage, Entry, Movement};

use super::{Stripe, look::instant};
use crate::{
    Error, Form,
    charges::Charge,
    disputes::Dispute,
    id::{ChargeId, DisputeId, InvoiceId, RefundId},
    invoices::Invoice,
    object::{Expandable, Identifier},
    refunds::Refund,
};

/// The most that a page has.
const PAGE: u8 = 100;

impl Stripe {
    /// The money that a payment took.
    pub(super) async fn taken(&self, payment: &PaymentId) -> Result<Option<port::Charge>, Error> {
        let intent = self.client.read(payment).await?;
        let charge = match &intent.latest_charge {
            Some(charge) => self.client.open(charge).await?,
            None => return Ok(None),
        };
        Ok(charge.took().then(|| self.neutral(charge)))
    }

    /// What was made within a span, however it stands.
    pub(super) async fn lines(
        &self,
        book: Book,
        (from, until): (Timestamp, Timestamp),
        page: Option<&str>,
    ) -> Result<BookPage, Error> {
        let seconds = |at: Timestamp| at.0.div_euclid(1000).max(0);
        let query = Form::new()
            .with("limit", PAGE)
            .with("created[gte]", seconds(from))
            .with("created[lt]", seconds(until))
            .with_some("starting_after", page);
        match book {
            Book::Bills => {
                let query = query.with("status", "paid");
                let page = self
                    .client
                    .list::<InvoiceId>(&query, &["data.payments"])
                    .await?;
                let entries = page.data.into_iter().filter_map(|bill| self.billed(bill));
                Ok(BookPage {
                    entries: entries.collect(),
                    next: page.next,
                })
            }
            Book::Charges => {
                let moved = |charge: Charge| {
                    let charge = Expandable::Object(Box::new(charge));
                    (Some(charge), Movement::Taken)
                };
                self.page::<ChargeId>(&query, &[], moved).await
            }
            Book::Refunds => {
                let moved = |refund: Refund| {
                    let cents = refund.amount;
                    (refund.charge, Movement::Refunded { cents })
                };
                self.page::<RefundId>(&query, &["data.charge"], moved).await
            }
            Book::Disputes => {
                let moved = |dispute: Dispute| {
                    let withheld_cents = if dispute.took() { dispute.amount } else { 0 };
                    let currency = dispute.currency.to_uppercase().into();
                    let moved = Movement::Disputed {
                        withheld_cents,
                        currency,
                    };
                    (Some(dispute.charge), moved)
                };
                self.page::<DisputeId>(&query, &["data.charge"], moved)
                    .await
            }
        }
    }

    /// What took no money is left out.
    async fn page<I: Identifier>(
        &self,
        query: &Form,
        with: &[&str],
        moved: impl Fn(I::Object) -> (Option<Expandable<ChargeId>>, Movement),
    ) -> Result<BookPage, Error> {
        let page = self.client.list::<I>(query, with).await?;
        let mut entries = Vec::with_capacity(page.data.len());
        for line in page.data {
            let id = I::of(&line).to_string();
            let (Some(charge), movement) = moved(line) else {
                continue;
            };
            let charge = self.client.open(&charge).await?;
            if charge.took() {
                let charge = self.neutral(charge);
                entries.push(Entry {
                    id,
                    charge,
                    movement,
                });
            }
        }
        Ok(BookPage {
            entries,
            next: page.next,
        })
    }

    /// What a bill of a subscription of ours took, if it took anything.
    fn billed(&self, bill: Invoice) -> Option<Entry> {
        let order = self.ours(&bill.subscription_metadata())?;
        let mut payments = bill.payments()?;
        let payment = payments.find_map(|payment| payment.intent())?;
        Some(Entry {
            id: bill.id.as_str().to_owned(),
            charge: port::Charge {
                payment: Some(payment.id().clone()),
                order: Some(order),
                customer: bill.customer.clone(),
                email: bill.customer_email.clone(),
                amount_cents: bill.amount_paid,
                refunded_cents: 0,
                currency: bill.currency.to_uppercase().into(),
                at: instant(bill.paid_at()),
            },
            movement: Movement::Taken,
        })
    }

    fn neutral(&self, charge: Charge) -> port::Charge {
        port::Charge {
            order: self.ours(&charge.metadata),
            payment: charge.payment_intent,
            customer: charge.customer,
            email: charge.billing_details.email,
            amount_cents: charge.amount_captured.unwrap_or(charge.amount),
            refunded_cents: charge.amount_refunded.max(0),
            currency: charge.currency.to_uppercase().into(),
            at: instant(charge.created),
        }
    }
}
