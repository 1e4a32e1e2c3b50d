//! An invoice for something that was bought once, paid already.

use crate::core::{
    books::Desk,
    params::Metadata,
    records::{Intent, Invoice, InvoiceLine, InvoicePayment, InvoiceStatus, Reason, Session},
};

/// Draws it up, paid by the session's payment.
pub(crate) fn invoice_once(desk: &mut Desk<'_>, session: &mut Session, intent: &Intent) {
    let now = desk.now;
    let lines = session.lines.iter().map(|line| InvoiceLine {
        id: desk.ids.usual("il_"),
        description: line.name.clone(),
        amount: line.amount(),
        quantity: line.quantity,
        price: line.price.clone(),
        product: line.product.clone(),
        start: now,
        end: now,
        proration: false,
    });
    let lines: Vec<InvoiceLine> = lines.collect();
    let mut invoice = Invoice {
        head: desk.head("in_"),
        customer: session.customer.clone().unwrap_or_default(),
        email: session.email.clone(),
        subscription: String::new(),
        item: String::new(),
        status: InvoiceStatus::Draft,
        reason: Reason::Manual,
        currency: session.currency.clone(),
        lines,
        discount: session.discount,
        attempts: 0,
        next_attempt: None,
        paid_at: None,
        metadata: Metadata::new(),
        intent: Some(intent.head.id.clone()),
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
    let head = desk.head("inpay_");
    desk.books.put(InvoicePayment {
        head,
        invoice: invoice.head.id.clone(),
        intent: intent.head.id.clone(),
        amount: invoice.due_amount(),
        currency: invoice.currency.clone(),
        paid_at: Some(now),
    });
    desk.books.put(invoice.clone());
    desk.emit("invoice.paid", &invoice);
    desk.emit("invoice.payment_succeeded", &invoice);
    session.invoice = Some(invoice.head.id);
}
