//! How much of a payment was refunded or disputed, and making refunds.

use domain::{id::OrderId, wallet::Reversal};
use payments_port::{
    CardOutcome, ObjectRef, Owners, PartPayment, PaymentReversal, PaymentTarget, RefundRequest,
    Report, Share,
};

use super::{Stripe, bills::name_of, unique};
use crate::{
    Error, Form,
    charges::Charge,
    disputes::Dispute,
    id::{DisputeId, InvoiceId, PaymentId},
    invoices::{BillingReason, Invoice},
    key,
    metadata::{OPERATION, ORDER, PROJECT},
    object::Expandable,
    payment_intents::PaymentIntent,
    refunds::Refund,
};

/// How many numbered idempotency keys are tried for one refund before a random one: Stripe keeps each for a day, and a
/// failed call uses one up.
const NUMBERED_REFUND_KEYS: u32 = 32;

/// Turns a refusal to read into `None`: a buyer gets their purchase even if an object is missing or the key may not
/// read it.
pub(super) fn readable<T>(read: Result<T, Error>) -> Result<Option<T>, Error> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Error::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn sum(one: Reversal, other: Reversal) -> Reversal {
    let disputes = [one.dispute, other.dispute].into_iter().flatten();
    Reversal {
        refunded_cents: one.refunded_cents.saturating_add(other.refunded_cents),
        disputed_cents: one.disputed_cents.saturating_add(other.disputed_cents),
        dispute: disputes.max_by_key(|dispute| dispute.opened_at),
        ..Reversal::default()
    }
}

impl Stripe {
    /// A payment's current state: whether a card on file paid it, what was refunded of its charge, and what its disputes withhold or took, summed over
    /// all payments of one invoice.
    pub(super) async fn money(
        &self,
        id: &PaymentId,
        owners: &dyn Owners,
    ) -> Result<Vec<Report>, Error> {
        let intent = self.client.read(id).await?;
        let mut order = self.ours(&intent.metadata);
        let mut bills = Vec::new();
        if order.is_none() {
            bills = self.client.invoice_payments_of_intent(id).await?;
            order = match bills.is_empty() {
                true => owners.order_of(&ObjectRef::Payment(id.clone()))?,
                false => None,
            };
        }
        if let Some(order) = order {
            let mut reports = Vec::new();
            if intent.is_card_charge() {
                let report = match self.outcome(order, intent.clone()).await {
                    CardOutcome::Paid(paid) => Report::Paid(paid),
                    CardOutcome::Processing(_) => Report::Processing(order),
                    CardOutcome::Declined(decline, _) => Report::Declined(order, decline),
                };
                reports.push(report);
                if !intent.is_paid() {
                    return Ok(reports);
                }
            }
            let reversal = self.reversal(&intent, None).await?;
            reports.extend(reversal.map(|reversal| {
                Report::Reversed(PaymentReversal {
                    target: PaymentTarget::Order(order),
                    reversal,
                    parts: Vec::new(),
                    refunds: Vec::new(),
                })
            }));
            return Ok(reports);
        }
        let Some(payment) = bills.first() else {
            return Ok(Vec::new());
        };
        let mut invoice = self.client.open(&payment.invoice).await?;
        let Some(first) = self.first_of(&invoice, owners)? else {
            return Ok(Vec::new());
        };
        let target = match invoice.billing_reason {
            Some(BillingReason::SubscriptionCreate) => PaymentTarget::Order(first),
            Some(
                BillingReason::SubscriptionCycle
                | BillingReason::SubscriptionUpdate
                | BillingReason::Manual,
            ) => PaymentTarget::Invoice(first, name_of(&invoice)),
            Some(BillingReason::Other) | None => {
                invoice = self.client.complete(invoice).await?;
                if !self.has_own_line(&invoice).await? {
                    return Ok(Vec::new());
                }
                PaymentTarget::Invoice(first, name_of(&invoice))
            }
        };
        let currency = invoice.currency.clone();
        let billed_in = Some(currency.as_str());
        let mut reversal = self.reversal(&intent, billed_in).await?;
        let payments = invoice.payments().into_iter().flatten();
        let intents = payments.filter_map(|payment| payment.intent().map(Expandable::id));
        let others: Vec<PaymentId> = intents.filter(|other| *other != id).cloned().collect();
        for other in &others {
            let other = self.client.read(other).await?;
            let more = self.reversal(&other, billed_in).await?;
            reversal = reversal.into_iter().chain(more).reduce(sum);
        }
        let Some(reversal) = reversal else {
            return Ok(Vec::new());
        };
        let mut parts = Vec::new();
        let is_invoice = matches!(target, PaymentTarget::Invoice(..));
        if is_invoice && invoice.may_make_several_orders() {
            let invoice = self.client.complete(invoice).await?;
            parts = self.amounts_of_parts(&invoice, owners).await?;
        }
        let mut refunds = Vec::new();
        if parts.len() > 1 {
            for intent in others.iter().chain([id]) {
                refunds.extend(self.refunds_of_orders(intent, &currency).await?);
            }
        }
        Ok(vec![Report::Reversed(PaymentReversal {
            target,
            reversal,
            parts,
            refunds,
        })])
    }

    async fn refunds_of_orders(
        &self,
        intent: &PaymentId,
        currency: &str,
    ) -> Result<Vec<(OrderId, i64)>, Error> {
        let refunds = readable(self.client.refunds(intent).await)?.unwrap_or_default();
        let counted = refunds
            .iter()
            .filter(|refund| refund.counts() && refund.currency.as_deref() == Some(currency));
        let named =
            counted.filter_map(|refund| Some((self.ours(&refund.metadata)?, refund.amount)));
        Ok(named.collect())
    }

    /// The successful payments of an invoice, oldest first, with refunds and disputes of each.
    pub(super) async fn parts_of(&self, id: &InvoiceId) -> Result<Vec<PartPayment>, Error> {
        let invoice = self.client.read(id).await?;
        let mut payments = self.client.invoice_payments_of_invoice(id).await?;
        payments.sort_by_key(|payment| payment.created);
        let mut parts = Vec::with_capacity(payments.len());
        for payment in &payments {
            let Some(intent) = payment.intent() else {
                continue;
            };
            let intent = self.client.open(intent).await?;
            let reversal = self.reversal(&intent, Some(&invoice.currency)).await?;
            let reversal = reversal.unwrap_or_default();
            parts.push(PartPayment {
                payment: intent.id,
                amount_cents: payment.amount_paid.unwrap_or(intent.amount_received),
                refunded_cents: reversal.refunded_cents,
                disputed_cents: reversal.disputed_cents,
            });
        }
        Ok(parts)
    }

    /// The order that began an invoice's subscription.
    fn first_of(&self, invoice: &Invoice, owners: &dyn Owners) -> Result<Option<OrderId>, Error> {
        let placed = match invoice.subscription() {
            Some(subscription) => {
                owners.order_of(&ObjectRef::Subscription(subscription.id().clone()))?
            }
            None => None,
        };
        Ok(placed.or_else(|| self.ours(&invoice.subscription_metadata())))
    }

    /// The reversal of one payment; `None` if it was never charged. A dispute in another currency than the charge
    /// cannot be added up and counts as all that is left. For a charge in another currency than the invoice, the share
    /// is taken of the received amount.
    async fn reversal(
        &self,
        intent: &PaymentIntent,
        billed_in: Option<&str>,
    ) -> Result<Option<Reversal>, Error> {
        let charge = match &intent.latest_charge {
            None => return Ok(None),
            Some(charge) => self.client.open(charge).await?,
        };
        let query = Form::new()
            .with("payment_intent", &intent.id)
            .with("limit", 100);
        let disputes = match self.client.list::<DisputeId>(&query, &[]).await {
            Ok(disputes) => disputes.data,
            Err(error) if error.is_forbidden() && !charge.disputed => Vec::new(),
            Err(error) => return Err(error),
        };
        let reversal = reversal_of(&charge, &disputes);
        if billed_in.is_none_or(|billed| billed == charge.currency) {
            return Ok(Some(reversal));
        }
        let part = Share {
            cents: intent.amount_received,
            of_cents: charge.amount,
        };
        Ok(Some(Reversal {
            refunded_cents: part.share(reversal.refunded_cents),
            disputed_cents: part.share(reversal.disputed_cents),
            ..reversal
        }))
    }

    /// Makes a refund unless one, in any status, names the operation. Stripe replays answers under an idempotency key
    /// for a day, including failures and refusals: then the next key is tried. Keys are numbered, so that two
    /// concurrent callers make one refund. A server error may be replayed without being marked: if it left no refund,
    /// or all numbers are used, one random key is tried.
    pub(super) async fn give_back(&self, request: &RefundRequest) -> Result<(), Error> {
        let intent = &request.payment;
        let name = request.operation.as_str();
        let form = Form::new()
            .with("payment_intent", intent)
            .with("amount", request.amount_cents)
            .with(format!("metadata[{OPERATION}]"), name)
            .with_some(
                format!("metadata[{PROJECT}]"),
                request.order.map(|_| self.project),
            )
            .with_some(format!("metadata[{ORDER}]"), request.order);
        let mut turn: u32 = 0;
        let mut broke = false;
        let mut looked = false;
        loop {
            // Searched once, and again after a failure, because replayed answers are about finished calls.
            if !looked && self.client.has_refund(intent, name).await? {
                return Ok(());
            }
            looked = true;
            turn += 1;
            let is_last = broke || turn > NUMBERED_REFUND_KEYS;
            let key = match turn {
                _ if is_last => unique(&request.operation, "again")?,
                1 => key::operation(name)?,
                turn => key::operation(format_args!("{name}/{turn}"))?,
            };
            match self
                .client
                .try_post::<Refund>(&["refunds"], &form, &key)
                .await
            {
                Ok(_) => return Ok(()),
                Err(failure) if is_last => return Err(failure.error),
                Err(failure) if failure.is_replay() => {}
                Err(failure) if failure.broke() => (broke, looked) = (true, false),
                Err(failure) => return Err(failure.error),
            }
        }
    }
}

fn reversal_of(charge: &Charge, disputes: &[Dispute]) -> Reversal {
    let refunded_cents = charge.amount_refunded.max(0);
    let left = charge.amount.saturating_sub(refunded_cents).max(0);
    let taken = disputes.iter().filter(|dispute| dispute.withholds_money());
    let disputed_cents = taken.fold(0_i64, |sum, dispute| {
        let cents = match dispute.currency == charge.currency {
            true => dispute.amount.max(0),
            false => left,
        };
        sum.saturating_add(cents)
    });
    let newest = disputes.iter().rev().filter_map(Dispute::to_domain);
    Reversal {
        refunded_cents,
        disputed_cents,
        dispute: newest.max_by_key(|dispute| dispute.opened_at),
        ..Reversal::default()
    }
}
