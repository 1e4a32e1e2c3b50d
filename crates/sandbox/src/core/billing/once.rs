//! The invoice of a single purchase, which is paid already.

use crate::core::prelude::*;

impl Session {
    /// Creates the invoice, paid by the session's payment.
    pub(crate) fn invoice_once(&mut self, db: &mut Database, intent: &PaymentIntent) {
        let now = db.now;
        let lines = self.lines.iter().map(|line| InvoiceLine {
            id: db.ids.usual("il_"),
            invoice_item: db.ids.usual("ii_"),
            description: line.name.clone(),
            amount: line.amount(),
            quantity: line.quantity,
            price: line.price.clone(),
            product: line.product.clone(),
            start: now,
            end: now,
            ..InvoiceLine::default()
        });
        let mut invoice = Invoice {
            lines: lines.collect(),
            head: db.head("in_"),
            reason: BillingReason::Manual,
            discount: self.discount,
            customer: self.customer.clone().unwrap_or_default(),
            email: self.email.clone(),
            currency: self.currency.clone(),
            intent: Some(intent.head.id.clone()),
            ..Invoice::default()
        };
        db.emit("invoice.created", &invoice);
        invoice.status = InvoiceStatus::Open;
        invoice.finalized_at = Some(now);
        db.emit("invoice.finalized", &invoice);
        invoice.paid_by(db, intent, Some(now));
        invoice.is_paid(db);
        self.invoice = Some(invoice.head.id);
    }
}
