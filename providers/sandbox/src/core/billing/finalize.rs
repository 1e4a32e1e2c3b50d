//! An invoice stops being a draft, is paid, or is given up.

use super::{
    dunning::first_retry,
    invoicing::{collect, collect_part, declines, miss},
};
use crate::core::{
    books::Desk,
    objects::{Customer, Invoice, InvoiceStatus, Retry, Standing, Subscription},
    refusal::Refusal,
};

/// Writes it out, with what the customer has of money from before.
pub(super) fn write_out(desk: &mut Desk<'_>, mut invoice: Invoice) -> Invoice {
    if let Some(mut customer) = desk.books.get::<Customer>(&invoice.customer).cloned() {
        invoice.balance = customer.balance;
        if customer.balance != invoice.balance_after() {
            customer.balance = invoice.balance_after();
            desk.books.put(customer);
        }
    }
    invoice.status = InvoiceStatus::Open;
    invoice.finalizes_at = None;
    invoice.finalized_at = Some(desk.now);
    desk.books.put(invoice.clone());
    desk.emit("invoice.finalized", &invoice);
    invoice
}

/// A draft's hour is over, or the shop says so: it is written out and paid, or tried again later.
pub(crate) fn finalize(desk: &mut Desk<'_>, invoice: Invoice) -> Result<(), Refusal> {
    if invoice.status != InvoiceStatus::Draft {
        let message =
            "This invoice is already finalized, you can't re-finalize a non-draft invoice.";
        return Err(Refusal::invalid(message).with_code("invoice_not_editable"));
    }
    let invoice = write_out(desk, invoice);
    let subscription = desk.books.get::<Subscription>(&invoice.subscription);
    let Some(mut subscription) = subscription.cloned() else {
        return collect(desk, invoice);
    };
    let no_card = subscription.no_card || declines(desk, &invoice.customer);
    if invoice.due_amount() == 0 || !no_card {
        return collect(desk, invoice);
    }
    if !subscription.status.is_running() {
        return miss(desk, invoice, None);
    }
    let next_at = first_retry(desk.now);
    subscription.status = Standing::PastDue;
    subscription.retry = Some(Retry {
        invoice: invoice.head.id.clone(),
        failed_at: desk.now,
        made: 0,
        next_at,
    });
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    miss(desk, invoice, Some(next_at))
}

/// The shop has it paid now.
pub(crate) fn pay(desk: &mut Desk<'_>, invoice: Invoice) -> Result<(), Refusal> {
    match invoice.status {
        InvoiceStatus::Draft => finalize(desk, invoice),
        InvoiceStatus::Open => {
            let subscription = desk.books.get::<Subscription>(&invoice.subscription);
            let waits = subscription.filter(|subscription| {
                let retry = subscription.retry.as_ref().map(|retry| &retry.invoice);
                let due = retry.or(subscription.latest_invoice.as_ref());
                subscription.status == Standing::PastDue && due == Some(&invoice.head.id)
            });
            match waits.cloned() {
                Some(subscription) => super::pay_now(desk, subscription),
                None if declines(desk, &invoice.customer) => Err(Refusal::declined()),
                None => collect(desk, invoice),
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
pub(crate) fn pay_part(
    desk: &mut Desk<'_>,
    mut invoice: Invoice,
    amount: i64,
) -> Result<(), Refusal> {
    if invoice.status != InvoiceStatus::Open {
        let message = "Only an open invoice can be paid in parts.";
        return Err(Refusal::invalid(message));
    }
    collect_part(desk, &mut invoice, amount)?;
    desk.emit("invoice.updated", &invoice);
    Ok(())
}

/// The shop wants nothing for it.
pub(crate) fn void(desk: &mut Desk<'_>, invoice: Invoice) -> Result<(), Refusal> {
    if invoice.status != InvoiceStatus::Open {
        let message = "You can only void an invoice that is open.";
        return Err(Refusal::invalid(message).with_code("invoice_not_editable"));
    }
    give_up(desk, invoice, true);
    Ok(())
}

/// A draft that is given up at once.
pub(super) fn immediate(desk: &mut Desk<'_>, invoice: Invoice, void: bool) {
    let invoice = write_out(desk, invoice);
    give_up(desk, invoice, void);
}

pub(super) fn give_up(desk: &mut Desk<'_>, mut invoice: Invoice, void: bool) {
    invoice.status = if void {
        InvoiceStatus::Void
    } else {
        InvoiceStatus::Uncollectible
    };
    invoice.next_attempt = None;
    invoice.ended_at = Some(desk.now);
    desk.books.put(invoice.clone());
    let kind = if void {
        "invoice.voided"
    } else {
        "invoice.marked_uncollectible"
    };
    desk.emit(kind, &invoice);
}
