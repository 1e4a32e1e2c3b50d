//! An invoice stops being a draft, is paid, or is given up.

use super::invoicing::{collect, collect_part, declines, fall_due, miss};
use crate::core::prelude::*;

/// Writes it out, with what the customer has of money from before.
pub(super) fn write_out(books: &mut Books, mut invoice: Invoice) -> Invoice {
    if let Some(mut customer) = books.get::<Customer>(&invoice.customer).cloned() {
        invoice.balance = customer.balance;
        if customer.balance != invoice.balance_after() {
            customer.balance = invoice.balance_after();
            books.put(customer);
        }
    }
    invoice.status = InvoiceStatus::Open;
    invoice.finalizes_at = None;
    invoice.finalized_at = Some(books.now);
    books.tell("invoice.finalized", &invoice);
    invoice
}

/// A draft's hour is over, or the shop says so: it is written out and paid, or tried again later.
pub(crate) fn finalize(books: &mut Books, invoice: Invoice) -> Result<()> {
    let message = "This invoice is already finalized, you can't re-finalize a non-draft invoice.";
    Refusal::invalid(message)
        .with_code("invoice_not_editable")
        .when(invoice.status != InvoiceStatus::Draft)?;
    let invoice = write_out(books, invoice);
    let subscription = books.get::<Subscription>(&invoice.subscription);
    let Some(subscription) = subscription.cloned() else {
        return collect(books, invoice);
    };
    let no_card = subscription.no_card || declines(books, &invoice.customer);
    if invoice.due_amount() == 0 || !no_card {
        return collect(books, invoice);
    }
    if !subscription.status.is_running() {
        return miss(books, invoice, None);
    }
    fall_due(books, subscription, invoice).map(drop)
}

/// The shop has it paid now.
pub(crate) fn pay(books: &mut Books, invoice: Invoice) -> Result<()> {
    match invoice.status {
        InvoiceStatus::Draft => finalize(books, invoice),
        InvoiceStatus::Open => {
            let subscription = books.get::<Subscription>(&invoice.subscription);
            let waits = subscription.filter(|subscription| {
                let retry = subscription.retry.as_ref().map(|retry| &retry.invoice);
                let due = retry.or(subscription.latest_invoice.as_ref());
                subscription.status == Standing::PastDue && due == Some(&invoice.head.id)
            });
            match waits.cloned() {
                Some(subscription) => super::pay_now(books, subscription),
                None if declines(books, &invoice.customer) => Err(Refusal::declined()),
                None => collect(books, invoice),
            }
        }
        InvoiceStatus::Paid => {
            Err(Refusal::invalid("Invoice is already paid").with_code("invoice_already_paid"))
        }
        InvoiceStatus::Void | InvoiceStatus::Uncollectible => {
            Err(Refusal::invalid("This invoice can no longer be paid."))
        }
    }
}

/// A part of it is paid by a payment of its own.
pub(crate) fn pay_part(books: &mut Books, mut invoice: Invoice, amount: i64) -> Result<()> {
    let message = "Only an open invoice can be paid in parts.";
    Refusal::invalid(message).when(invoice.status != InvoiceStatus::Open)?;
    collect_part(books, &mut invoice, amount)?;
    books.emit("invoice.updated", &invoice);
    Ok(())
}

/// The shop wants nothing for it.
pub(crate) fn void(books: &mut Books, invoice: Invoice) -> Result<()> {
    let message = "You can only void an invoice that is open.";
    Refusal::invalid(message)
        .with_code("invoice_not_editable")
        .when(invoice.status != InvoiceStatus::Open)?;
    give_up(books, invoice, true);
    Ok(())
}

/// It is given up, as void or uncollectible.
pub(super) fn give_up(books: &mut Books, mut invoice: Invoice, void: bool) {
    let (status, kind) = match void {
        true => (InvoiceStatus::Void, "invoice.voided"),
        false => (InvoiceStatus::Uncollectible, "invoice.marked_uncollectible"),
    };
    invoice.status = status;
    invoice.next_attempt = None;
    invoice.ended_at = Some(books.now);
    books.tell(kind, &invoice);
}
