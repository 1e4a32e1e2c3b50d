//! Stripe's lists of money that moved, as the daily proof reads them.

use domain::{text::PaymentId, time::Timestamp};
use port::{Book, BookPage, Entry, Movement};

use super::{Stripe, look::instant};
use crate::{
    Error,
    books::{Lines, Span},
    charges::Charge,
    disputes::DisputedMoney,
};

impl Stripe {
    /// The money that a payment took.
    pub(super) async fn taken(&self, payment: &PaymentId) -> Result<Option<port::Charge>, Error> {
        let charge = self.client.charge_of(payment).await?;
        Ok(charge
            .filter(Charge::took)
            .map(|charge| self.neutral(charge)))
    }

    pub(super) async fn lines(
        &self,
        book: Book,
        (from, until): (Timestamp, Timestamp),
        page: Option<&str>,
    ) -> Result<BookPage, Error> {
        let seconds = |at: Timestamp| at.0.div_euclid(1000).max(0);
        let span = Span {
            from: seconds(from),
            until: seconds(until),
        };
        Ok(match book {
            Book::Charges => {
                let lines = self.client.charges(span, page).await?;
                self.page(lines, |charge| {
                    let id = charge.id.as_str().to_owned();
                    (id, Some(charge), Movement::Taken)
                })
            }
            Book::Refunds => {
                let lines = self.client.refunds(span, page).await?;
                self.page(lines, |refund| {
                    let cents = refund.amount;
                    let id = refund.id.as_str().to_owned();
                    (id, refund.charge, Movement::Refunded { cents })
                })
            }
            Book::Disputes => {
                let lines = self.client.disputes(span, page).await?;
                self.page(lines, |dispute| {
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
            }
        })
    }

    /// What took no money is left out.
    fn page<T>(
        &self,
        lines: Lines<T>,
        read: impl Fn(T) -> (String, Option<Charge>, Movement),
    ) -> BookPage {
        let (mut entries, mut last) = (Vec::with_capacity(lines.data.len()), None);
        for line in lines.data {
            let (id, charge, movement) = read(line);
            last = Some(id.clone());
            if let Some(charge) = charge.filter(Charge::took) {
                let charge = self.neutral(charge);
                entries.push(Entry {
                    id,
                    charge,
                    movement,
                });
            }
        }
        BookPage {
            entries,
            next: last.filter(|_| lines.has_more),
        }
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
