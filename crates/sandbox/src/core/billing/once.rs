//! The invoice of a single purchase, which is paid already.

use crate::core::prelude::*;

impl Session {
    /// Creates the invoice, paid by the session's payment.
    pub(crate) fn invoice_once(&mut self, books: &mut Books, intent: &PaymentIntent) {
        let now = books.now;
        let lines = self.lines.iter().map(|line| InvoiceLine {
            id: books.ids.usual("il_"),
            invoice_item: books.ids.usual("ii_"),
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
            head: books.head("in_"),
            reason: BillingReason::Manual,
            discount: self.discount,
            customer: self.customer.clone().unwrap_or_default(),
            email: self.email.clone(),
            currency: self.currency.clone(),
            intent: Some(intent.head.id.clone()),
            ..Invoice::default()
        };
        books.emit("invoice.created", &invoice);
        invoice.status = InvoiceStatus::Open;
        invoice.finalized_at = Some(now);
        books.emit("invoice.finalized", &invoice);
        invoice.paid_by(books, intent, Some(now));
        invoice.is_paid(books);
        self.invoice = Some(invoice.head.id);
    }
}
