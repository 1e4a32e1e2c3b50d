//! Stripe's lists of money that moved, as the daily reconciliation reads them.

use domain::{text::PaymentId, time::Timestamp};
use payments_port::{ListPage, Movement, ProviderList, ProviderListItem};

use super::{Stripe, tier::instant};
use crate::{
    Error, Form,
    charges::Charge,
    disputes::Dispute,
    id::{ChargeId, DisputeId, InvoiceId, RefundId},
    invoices::Invoice,
    object::{Expandable, Identifier, PAGE_SIZE},
    refunds::Refund,
};

impl Stripe {
    pub(super) async fn charge_of(
        &self,
        payment: &PaymentId,
    ) -> Result<Option<payments_port::ProviderCharge>, Error> {
        let intent = self.client.read(payment).await?;
        let charge = match &intent.latest_charge {
            Some(charge) => self.client.open(charge).await?,
            None => return Ok(None),
        };
        Ok(charge.is_captured().then(|| self.neutral(charge)))
    }

    /// A page of the objects created within a span, in any status.
    pub(super) async fn list_page(
        &self,
        list: ProviderList,
        (from, until): (Timestamp, Timestamp),
        page: Option<&str>,
    ) -> Result<ListPage<ProviderListItem>, Error> {
        let seconds = |at: Timestamp| at.0.div_euclid(1000).max(0);
        let query = Form::new()
            .with("limit", PAGE_SIZE)
            .with("created[gte]", seconds(from))
            .with("created[lt]", seconds(until))
            .with_some("starting_after", page);
        match list {
            ProviderList::Bills => {
                let query = query.with("status", "paid");
                let page = self
                    .client
                    .list::<InvoiceId>(&query, &["data.payments"])
                    .await?;
                let items = page.data.into_iter().filter_map(|bill| self.billed(bill));
                Ok(ListPage {
                    items: items.collect(),
                    next: page.next,
                })
            }
            ProviderList::Charges => {
                let moved = |charge: Charge| {
                    let charge = Expandable::Object(Box::new(charge));
                    (Some(charge), Movement::Taken)
                };
                self.page::<ChargeId>(&query, &[], moved).await
            }
            ProviderList::Refunds => {
                let moved = |refund: Refund| {
                    let cents = refund.amount;
                    (refund.charge, Movement::Refunded { cents })
                };
                self.page::<RefundId>(&query, &["data.charge"], moved).await
            }
            ProviderList::Disputes => {
                let moved = |dispute: Dispute| {
                    let withheld_cents = if dispute.withholds_money() {
                        dispute.amount
                    } else {
                        0
                    };
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

    /// Reads a page of a list without uncaptured charges.
    async fn page<I: Identifier>(
        &self,
        query: &Form,
        with: &[&str],
        moved: impl Fn(I::Object) -> (Option<Expandable<ChargeId>>, Movement),
    ) -> Result<ListPage<ProviderListItem>, Error> {
        let page = self.client.list::<I>(query, with).await?;
        let mut items = Vec::with_capacity(page.data.len());
        for object in page.data {
            let id = I::of(&object).to_string();
            let (Some(charge), movement) = moved(object) else {
                continue;
            };
            let charge = self.client.open(&charge).await?;
            if charge.is_captured() {
                let charge = self.neutral(charge);
                items.push(ProviderListItem {
                    id,
                    charge,
                    movement,
                });
            }
        }
        Ok(ListPage {
            items,
            next: page.next,
        })
    }

    /// The entry of a paid invoice with a charge for a subscription of ours.
    fn billed(&self, bill: Invoice) -> Option<ProviderListItem> {
        let order = self.ours(&bill.subscription_metadata())?;
        let mut payments = bill.payments()?;
        let payment = payments.find_map(|payment| payment.intent())?;
        Some(ProviderListItem {
            id: bill.id.as_str().to_owned(),
            charge: payments_port::ProviderCharge {
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

    fn neutral(&self, charge: Charge) -> payments_port::ProviderCharge {
        payments_port::ProviderCharge {
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
