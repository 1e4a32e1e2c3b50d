//! How much of a payment is still there, and giving some back.

use port::{Money, Payable, RefundRequest, Report};

use super::{Stripe, key, look::name_of};
use crate::{
    Error,
    disputes::DisputedMoney,
    id::{InvoiceId, PaymentId},
    invoices::BillingReason,
};

impl Stripe {
    /// A payment as it stands: what went back of its charge, and what its disputes withhold or took.
    pub(super) async fn money(&self, id: &PaymentId) -> Result<Vec<Report>, Error> {
        let intent = self.client.payment_intent(id).await?;
        let of = match self.ours(&intent.metadata) {
            Some(order) => Some(Payable::Order(order)),
            None => self.payable(id).await?,
        };
        let (Some(of), Some(charge)) = (of, &intent.latest_charge) else {
            return Ok(Vec::new());
        };
        let charge = self.client.charge(charge).await?;
        let mut disputed_cents = 0_i64;
        for dispute in self.client.disputes_of(id).await? {
            if matches!(
                dispute.status.money(),
                DisputedMoney::Withheld | DisputedMoney::Lost
            ) {
                disputed_cents = disputed_cents.saturating_add(dispute.amount.max(0));
            }
        }
        Ok(vec![Report::Money(Money {
            of,
            refunded_cents: charge.amount_refunded.max(0),
            disputed_cents,
        })])
    }

    /// What a subscription's payment was for, by the bill that it pays: the checkout's order for the
    /// first one, one of its own for each later one.
    async fn payable(&self, intent: &PaymentId) -> Result<Option<Payable>, Error> {
        let payments = self.client.invoice_payments_of_intent(intent).await?;
        let Some(payment) = payments.first() else {
            return Ok(None);
        };
        let invoice = self.client.invoice(&payment.invoice).await?;
        let Some(first) = self.ours(&invoice.subscription_metadata()) else {
            return Ok(None);
        };
        Ok(match invoice.billing_reason {
            Some(BillingReason::SubscriptionCycle | BillingReason::SubscriptionUpdate) => {
                Some(Payable::Invoice(first, name_of(&invoice)))
            }
            Some(BillingReason::SubscriptionCreate) => Some(Payable::Order(first)),
            _ => None,
        })
    }

    pub(super) async fn give_back(&self, request: &RefundRequest) -> Result<(), port::Error> {
        let intent = match (&request.payment, &request.invoice) {
            (Some(payment), _) => Some(payment.clone()),
            (None, Some(invoice)) => self.intent_of(invoice).await?,
            (None, None) => None,
        };
        let missing = || port::Error::Missing("the order has no payment".into());
        let intent = intent.ok_or_else(missing)?;
        let key = key(request.operation.as_str())?;
        self.client
            .create_refund(&intent, request.amount_cents, &key)
            .await?;
        Ok(())
    }

    async fn intent_of(&self, invoice: &InvoiceId) -> Result<Option<PaymentId>, Error> {
        let payments = self.client.invoice_payments_of_invoice(invoice).await?;
        Ok(payments
            .into_iter()
            .find_map(|payment| payment.payment.payment_intent))
    }
}
