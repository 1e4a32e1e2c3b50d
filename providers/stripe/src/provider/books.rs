//! Stripe's lists of money that moved, as the daily proof reads them.

use domain::{text::PaymentId, time::Timestamp};
use port::{Book, BookPage, Entry, Movement};

use super::{Stripe, look::instant};
use crate::{
    Error, Form,
    charges::Charge,
    disputes::{Dispute, DisputedMoney},
    id::ChargeId,
    invoices::Invoice,
    object::{Expandable, Page},
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
        let with_charge = ["data.charge"];
        match book {
            Book::Bills => {
                let query = query.with("status", "paid");
                let with = ["data.payments"];
                let lines = self.client.list(&["invoices"], &query, &with).await?;
                let next = lines.next(|bill: &Invoice| bill.id.as_str());
                let entries = lines.data.into_iter().filter_map(|bill| self.billed(bill));
                let entries = entries.collect();
                Ok(BookPage { entries, next })
            }
            Book::Charges => {
                let lines = self
                    .client
                    .list::<Charge>(&["charges"], &query, &[])
                    .await?;
                let next = lines.next(|charge| charge.id.as_str());
                self.page(lines, next, |charge| {
                    let id = charge.id.as_str().to_owned();
                    (
                        id,
                        Some(Expandable::Object(Box::new(charge))),
                        Movement::Taken,
                    )
                })
                .await
            }
            Book::Refunds => {
                let lines = self
                    .client
                    .list::<Refund>(&["refunds"], &query, &with_charge)
                    .await?;
                let next = lines.next(|refund| refund.id.as_str());
                self.page(lines, next, |refund| {
                    let cents = refund.amount;
                    let id = refund.id.as_str().to_owned();
                    (id, refund.charge, Movement::Refunded { cents })
                })
                .await
            }
            Book::Disputes => {
                let lines = self
                    .client
                    .list::<Dispute>(&["disputes"], &query, &with_charge)
                    .await?;
                let next = lines.next(|dispute| dispute.id.as_str());
                self.page(lines, next, |dispute| {
                    let withheld_cents = match dispute.status.money() {
                        DisputedMoney::Withheld | DisputedMoney::Lost => dispute.amount,
                        DisputedMoney::Kept | DisputedMoney::Unclear => 0,
                    };
                    let id = dispute.id.as_str().to_owned();
                    let moved = Movement::Disputed {
                        withheld_cents,
                        currency: dispute.currency.to_uppercase().into(),
                    };
                    (id, Some(dispute.charge), moved)
                })
                .await
            }
        }
    }

    /// What took no money is left out.
    async fn page<T>(
        &self,
        lines: Page<T>,
        next: Option<String>,
        read: impl Fn(T) -> (String, Option<Expandable<ChargeId>>, Movement),
    ) -> Result<BookPage, Error> {
        let mut entries = Vec::with_capacity(lines.data.len());
        for (id, charge, movement) in lines.data.into_iter().map(read) {
            let Some(charge) = charge else {
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
        Ok(BookPage { entries, next })
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
