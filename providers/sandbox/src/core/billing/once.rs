//! An invoice for something that was bought once, paid already.

use super::invoicing::named;
use crate::core::prelude::*;

/// Draws it up, paid by the session's payment.
pub(crate) fn invoice_once(books: &mut Books, session: &mut Session, intent: &Intent) {
    let now = books.now;
    let lines = session.lines.iter().map(|line| InvoiceLine {
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
    let lines: Vec<InvoiceLine> = lines.collect();
    let head = books.head("in_");
    let mut invoice = Invoice {
        head,
        reason: Reason::Manual,
        lines,
        discount: session.discount,
        customer: session.customer.clone().unwrap_or_default(),
        email: session.email.clone(),
        currency: session.currency.clone(),
        intent: Some(intent.head.id.clone()),
        ..Invoice::default()
    };
    books.emit("invoice.created", &invoice);
    invoice.status = InvoiceStatus::Open;
    invoice.finalized_at = Some(now);
    books.emit("invoice.finalized", &invoice);
    invoice.status = InvoiceStatus::Paid;
    invoice.paid_at = Some(now);
    invoice.attempts = 1;
    named(books, &invoice, intent, Some(now));
    books.tell("invoice.paid", &invoice);
    books.emit("invoice.payment_succeeded", &invoice);
    session.invoice = Some(invoice.head.id);
}
