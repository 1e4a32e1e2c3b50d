//! Payments of invoices: the only link between a renewal's invoice and its payment intent, in both directions. Refunds
//! and disputes name the payment intent; the order has the invoice.

use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{InvoiceId, PaymentId},
    object::Expandable,
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct InvoicePayment {
    pub invoice: Expandable<InvoiceId>,
    /// `open`, `paid` or `canceled`.
    status: String,
    /// What it paid of the invoice, in the minor unit of the invoice's currency.
    #[serde(default)]
    pub amount_paid: Option<i64>,
    #[serde(default)]
    pub created: i64,
    payment: Payment,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Payment {
    payment_intent: Option<Expandable<PaymentId>>,
}

impl InvoicePayment {
    pub(super) fn is_paid(&self) -> bool {
        self.status == "paid"
    }

    pub const fn intent(&self) -> Option<&Expandable<PaymentId>> {
        self.payment.payment_intent.as_ref()
    }
}

impl Client {
    /// The invoices that a payment intent pays, with all their payments; empty where it pays none.
    /// # Errors
    /// See [`Error`].
    pub async fn invoice_payments_of_intent(
        &self,
        intent: &PaymentId,
    ) -> Result<Vec<InvoicePayment>, Error> {
        let (query, with) = (intent_form(intent), ["data.invoice.payments"]);
        Ok(self
            .list_path(&["invoice_payments"], &query, &with)
            .await?
            .data)
    }

    /// The successful payments of an invoice.
    /// # Errors
    /// See [`Error`].
    pub async fn invoice_payments_of_invoice(
        &self,
        invoice: &InvoiceId,
    ) -> Result<Vec<InvoicePayment>, Error> {
        let query = invoice_form(invoice);
        Ok(self
            .list_path(&["invoice_payments"], &query, &[])
            .await?
            .data)
    }
}

fn intent_form(intent: &PaymentId) -> Form {
    Form::new()
        .with("payment[type]", "payment_intent")
        .with("payment[payment_intent]", intent)
}

fn invoice_form(invoice: &InvoiceId) -> Form {
    Form::new()
        .with("invoice", invoice)
        .with("status", "paid")
        .with("limit", 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::lines;

    #[test]
    fn they_are_found_from_either_side() {
        let intent = PaymentId::new("pi_1").unwrap();
        assert_eq!(
            lines(&intent_form(&intent)),
            [
                "payment[type]=payment_intent",
                "payment[payment_intent]=pi_1"
            ]
        );
        let invoice = InvoiceId::new("in_1").unwrap();
        assert_eq!(
            lines(&invoice_form(&invoice)),
            ["invoice=in_1", "status=paid", "limit=100"]
        );
    }

    #[test]
    fn one_is_read() {
        let json = r#"{"id":"inpay_1","object":"invoice_payment","invoice":"in_1","status":"paid",
            "amount_paid":1900,"payment":{"type":"payment_intent","payment_intent":"pi_1"}}"#;
        let payment: InvoicePayment = serde_json::from_str(json).unwrap();
        assert_eq!(payment.invoice.id().as_str(), "in_1");
        assert!(payment.is_paid());
        assert_eq!(
            payment.intent().unwrap().id(),
            &PaymentId::new("pi_1").unwrap()
        );
    }
}
