//! An invoice for something that was bought once, paid already.

use super::invoicing::named;
use crate::core::{
    books::Desk,
    objects::{Intent, Invoice, InvoiceLine, InvoiceStatus, Reason, Session},
    params::Metadata,
};

/// Draws it up, paid by the session's payment.
pub(crate) fn invoice_once(desk: &mut Desk<'_>, session: &mut Session, intent: &Intent) {
    let now = desk.now;
    let lines = session.lines.iter().map(|line| InvoiceLine {
        id: desk.ids.usual("il_"),
        invoice_item: desk.ids.usual("ii_"),
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
    let mut invoice = Invoice {
        head: desk.head("in_"),
        customer: session.customer.clone().unwrap_or_default(),
        email: session.email.clone(),
        subscription: String::new(),
        status: InvoiceStatus::Draft,
        reason: Reason::Manual,
        currency: session.currency.clone(),
        lines,
        discount: session.discount,
        attempts: 0,
        next_attempt: None,
        paid_at: None,
        subscription_metadata: Metadata::new(),
        intent: Some(intent.head.id.clone()),
        parts: 0,
        finalizes_at: None,
        finalized_at: None,
        balance: 0,
        ended_at: None,
    };
    desk.emit("invoice.created", &invoice);
    invoice.status = InvoiceStatus::Open;
    invoice.finalized_at = Some(now);
    desk.emit("invoice.finalized", &invoice);
    invoice.status = InvoiceStatus::Paid;
    invoice.paid_at = Some(now);
    invoice.attempts = 1;
    named(desk, &invoice, intent, Some(now));
    desk.books.put(invoice.clone());
    desk.emit("invoice.paid", &invoice);
    desk.emit("invoice.payment_succeeded", &invoice);
    session.invoice = Some(invoice.head.id);
}
