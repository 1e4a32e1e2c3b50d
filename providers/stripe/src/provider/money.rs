//! How much of a payment is still there, and giving some back.

use domain::text::PageUrl;
use port::{Money, Payable, RefundRequest, Report};

use super::{Stripe, key, look::name_of};
use crate::{
    Error,
    disputes::DisputedMoney,
    id::{InvoiceId, PaymentId},
    invoices::BillingReason,
};

/// Answers of old that are gone past for one refund; each is a day's at most.
const MOST_TURNS: u32 = 8;

/// What a key may not read, or what is not there, must not keep anybody from what they paid for.
fn readable<T>(read: Result<T, Error>) -> Result<Option<T>, Error> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Error::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

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

    /// Gives money back unless it is back under that name, whatever became of it there. Stripe repeats for
    /// a day what it answered under a key, also that it failed or refused: then the next key is the one
    /// to ask under. It is the same one for everybody, so that two who ask at once ask for one refund.
    pub(super) async fn give_back(&self, request: &RefundRequest) -> Result<(), port::Error> {
        let intent = &request.payment;
        let name = request.operation.as_str();
        for turn in 1..=MOST_TURNS {
            if self.client.has_refund(intent, name).await? {
                return Ok(());
            }
            let key = match turn {
                1 => key(name)?,
                turn => key(&format!("{name}/{turn}"))?,
            };
            let cents = request.amount_cents;
            match self.client.create_refund(intent, cents, name, &key).await {
                Ok(_) => return Ok(()),
                Err(failure) if failure.is_of_old() => {}
                Err(failure) => return Err(failure.error.into()),
            }
        }
        Err(port::Error::Unavailable {
            reason: "it repeats what it answered before".into(),
            retry_after_seconds: None,
        })
    }

    /// What an invoice was paid by, and the page about that.
    pub(super) async fn paid_by(&self, invoice: &InvoiceId) -> Result<Option<PaymentId>, Error> {
        let payments = self.client.invoice_payments_of_invoice(invoice).await;
        let payments = readable(payments)?.unwrap_or_default().into_iter();
        let mut intents = payments.map(|payment| payment.payment.payment_intent);
        Ok(intents.find_map(|intent| intent))
    }

    /// The page about a payment, where there is one.
    pub(super) async fn receipt_page(&self, intent: &PaymentId) -> Result<Option<PageUrl>, Error> {
        let intent = readable(self.client.payment_intent(intent).await)?;
        let Some(charge) = intent.and_then(|intent| intent.latest_charge) else {
            return Ok(None);
        };
        let charge = readable(self.client.charge(&charge).await)?;
        let page = charge.and_then(|charge| charge.receipt_url);
        Ok(page.and_then(|url| PageUrl::new(url).ok()))
    }
}
