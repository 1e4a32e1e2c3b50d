//! Invoices: what is on one, what pays it, and what is told of it.

use std::collections::BTreeSet;

use super::{dunning::first_retry, finalize::write_out};
use crate::core::{
    payments::{self, Payment},
    prelude::*,
};

impl Books {
    /// What people call a product.
    pub(crate) fn product_name(&self, product: &str) -> String {
        let product = self.get::<Product>(product);
        product.map_or_else(|| "Subscription".into(), |product| product.name.clone())
    }
}

/// What a lasting discount takes off an amount now.
pub(super) fn discount(books: &Books, subscription: &Subscription, amount: i64) -> i64 {
    let Some(term) = &subscription.discount else {
        return 0;
    };
    let lasts = match term.until {
        Until::Forever => true,
        Until::Time(end) => books.now < end,
    };
    let coupon = books.get::<Coupon>(&term.coupon).filter(|_| lasts);
    coupon.map_or(0, |coupon| coupon.off.of(amount))
}

/// What lines come to.
pub(super) fn sum(lines: &[InvoiceLine]) -> i64 {
    let amounts = lines.iter().map(|line| line.amount);
    amounts.fold(0, i64::saturating_add)
}

/// The lines of a whole cycle, the one that runs: the newest item first. With what a discount takes off.
pub(super) fn cycle_lines(
    books: &mut Books,
    subscription: &Subscription,
) -> Result<(Vec<InvoiceLine>, i64)> {
    let mut line = |item: &Item| -> Result<InvoiceLine> {
        let price: Price = books.find(&item.price)?;
        Ok(InvoiceLine {
            id: books.ids.usual("il_"),
            description: books.product_name(&price.product),
            amount: price.unit_amount.saturating_mul(item.quantity),
            quantity: item.quantity,
            price: price.head.id,
            product: price.product,
            start: subscription.period_start,
            end: subscription.period_end,
            item: item.id.clone(),
            ..InvoiceLine::default()
        })
    };
    let items = subscription.items().rev();
    let lines: Vec<InvoiceLine> = items.map(&mut line).collect::<Result<_, _>>()?;
    let off = discount(books, subscription, sum(&lines));
    Ok((lines, off))
}

/// So long a renewal's invoice is a draft.
const DRAFT_SECONDS: i64 = 3600;

/// What waits to be on an invoice of a customer: it and what is told of it have to stay small.
const MAX_PENDING: usize = 40;

/// Has something wait for the customer's next invoice, or that of a subscription.
pub(crate) fn wait(books: &mut Books, item: InvoiceItem) -> Result<InvoiceItem> {
    let message = format!("At most {MAX_PENDING} items of a customer wait for an invoice.");
    Refusal::invalid(message).when(pending(books, &item.customer).len() >= MAX_PENDING)?;
    books.put(item.clone());
    Ok(item)
}

/// What of a customer is on no invoice yet, the newest first.
fn pending<'b>(books: &'b Books, customer: &str) -> Vec<&'b InvoiceItem> {
    let billed = books.all::<Invoice>();
    let billed = billed.filter(|one| one.customer == customer);
    let billed = billed.flat_map(|invoice| &invoice.lines);
    let billed: BTreeSet<&str> = billed.map(|line| line.invoice_item.as_str()).collect();
    books.newest(|item: &InvoiceItem| {
        item.customer == customer && !billed.contains(item.head.id.as_str())
    })
}

/// Lines for what waited for an invoice of this subscription.
fn pending_lines(books: &Books, subscription: &Subscription) -> Vec<InvoiceLine> {
    let found = pending(books, &subscription.customer).into_iter();
    let fits = |item: &&InvoiceItem| {
        let of = item.subscription.as_ref();
        item.currency == subscription.currency && of.is_none_or(|of| *of == subscription.head.id)
    };
    found.filter(fits).map(InvoiceLine::of_item).collect()
}

/// Forgets the prorations of a subscription that ends.
pub(super) fn drop_prorations(books: &mut Books, subscription: &Subscription) {
    let gone = pending(books, &subscription.customer).into_iter();
    let gone = gone.filter(|item| {
        item.line.proration && item.subscription.as_ref() == Some(&subscription.head.id)
    });
    for id in Vec::from_iter(gone.map(|item| item.head.id.clone())) {
        books.forget::<InvoiceItem>(&id);
    }
}

/// An invoice that is written out at once, and not paid yet.
pub(super) fn draw_up(
    books: &mut Books,
    subscription: &mut Subscription,
    reason: Reason,
    lines: Vec<InvoiceLine>,
    discount: i64,
) -> Invoice {
    let mut invoice = draft(books, subscription, reason, lines, discount);
    invoice.finalizes_at = None;
    books.emit("invoice.created", &invoice);
    write_out(books, invoice)
}

/// An invoice that may still change, with what waited for it in front.
pub(super) fn draft(
    books: &mut Books,
    subscription: &mut Subscription,
    reason: Reason,
    lines: Vec<InvoiceLine>,
    discount: i64,
) -> Invoice {
    let customer = books.get::<Customer>(&subscription.customer);
    let email = customer.and_then(|customer| customer.email.clone());
    let head = books.head("in_");
    let mut all = match reason {
        // Checkout has said what it comes to.
        Reason::Create => Vec::new(),
        _ => pending_lines(books, subscription),
    };
    all.extend(lines);
    let invoice = Invoice {
        head,
        reason,
        lines: all,
        discount,
        customer: subscription.customer.clone(),
        email,
        subscription: subscription.head.id.clone(),
        currency: subscription.currency.clone(),
        subscription_metadata: subscription.metadata.clone(),
        finalizes_at: Some(books.now.saturating_add(DRAFT_SECONDS)),
        ..Invoice::default()
    };
    subscription.latest_invoice = Some(invoice.head.id.clone());
    books.put(invoice.clone());
    invoice
}

/// The payment that is to pay what is left of it; begun once.
pub(super) fn payment(books: &mut Books, invoice: &mut Invoice) -> Result<Intent> {
    let amount = invoice.remaining();
    if let Some(intent) = &invoice.intent {
        let mut intent: Intent = books.find(intent)?;
        intent.amount = amount;
        return Ok(intent);
    }
    let intent = begin(books, invoice, amount);
    invoice.intent = Some(intent.head.id.clone());
    named(books, invoice, &intent, None);
    books.put(invoice.clone());
    Ok(intent)
}

fn begin(books: &mut Books, invoice: &Invoice, amount: i64) -> Intent {
    let payment = Payment {
        amount,
        currency: &invoice.currency,
        customer: Some(&invoice.customer),
        email: invoice.email.as_deref(),
        description: Some(match invoice.reason {
            Reason::Create => "Subscription creation",
            Reason::Cycle | Reason::Update | Reason::Manual => "Subscription update",
        }),
        // What is written on the subscription is not copied here.
        metadata: Metadata::new(),
    };
    payments::begin(books, payment)
}

/// Says which payment is of which invoice.
pub(super) fn named(books: &mut Books, invoice: &Invoice, intent: &Intent, paid_at: Option<i64>) {
    let head = books.head("inpay_");
    books.put(InvoicePayment {
        head,
        invoice: invoice.head.id.clone(),
        intent: intent.head.id.clone(),
        amount: intent.amount,
        currency: invoice.currency.clone(),
        is_default: invoice.intent.as_ref() == Some(&intent.head.id),
        paid_at,
    });
}

/// A part of it is paid, by a payment of its own.
pub(super) fn collect_part(books: &mut Books, invoice: &mut Invoice, amount: i64) -> Result<()> {
    let message = "A part of an invoice is more than nothing and less than what is left.";
    Refusal::param("amount", message).when(!(1..invoice.remaining()).contains(&amount))?;
    let intent = begin(books, invoice, amount);
    named(books, invoice, &intent, Some(books.now));
    payments::succeed(books, intent);
    invoice.parts = invoice.parts.saturating_add(amount);
    books.put(invoice.clone());
    Ok(())
}

/// Pays it, or finds that nothing is to be paid.
pub(super) fn collect(books: &mut Books, mut invoice: Invoice) -> Result<()> {
    if invoice.remaining() > 0 {
        let intent = payment(books, &mut invoice)?;
        let (id, amount) = (intent.head.id.clone(), intent.amount);
        payments::succeed(books, intent);
        let paid = books.copies::<InvoicePayment>(|payment| {
            payment.invoice == invoice.head.id && payment.intent == id
        });
        for mut payment in paid {
            payment.amount = amount;
            payment.paid_at = Some(books.now);
            books.put(payment);
        }
    }
    invoice.attempts = invoice.attempts.saturating_add(1);
    invoice.status = InvoiceStatus::Paid;
    invoice.paid_at = Some(books.now);
    invoice.next_attempt = None;
    books.tell("invoice.paid", &invoice);
    books.emit("invoice.payment_succeeded", &invoice);
    Ok(())
}

/// It was tried and is not paid.
pub(super) fn miss(
    books: &mut Books,
    mut invoice: Invoice,
    next_attempt: Option<i64>,
) -> Result<()> {
    let intent = payment(books, &mut invoice)?;
    payments::fail(books, intent);
    invoice.attempts = invoice.attempts.saturating_add(1);
    invoice.next_attempt = next_attempt;
    books.tell("invoice.payment_failed", &invoice);
    Ok(())
}

/// Bills the cycle that runs at once, and tells of the subscription so.
pub(super) fn bill_cycle(
    books: &mut Books,
    mut subscription: Subscription,
    told: &str,
) -> Result<Subscription> {
    let (lines, off) = cycle_lines(books, &subscription)?;
    Refusal::declined().when(sum(&lines) > off && declines(books, &subscription.customer))?;
    let invoice = draw_up(books, &mut subscription, Reason::Update, lines, off);
    subscription.status = Standing::Active;
    subscription.no_card = false;
    books.tell(told, &subscription);
    collect(books, invoice)?;
    Ok(subscription)
}

/// The card declined: the subscription is past due, and its invoice is tried again.
pub(super) fn fall_due(
    books: &mut Books,
    mut subscription: Subscription,
    invoice: Invoice,
) -> Result<Subscription> {
    let next_at = first_retry(books.now);
    subscription.status = Standing::PastDue;
    subscription.retry = Some(Retry {
        invoice: invoice.head.id.clone(),
        failed_at: books.now,
        made: 0,
        next_at,
    });
    books.tell("customer.subscription.updated", &subscription);
    miss(books, invoice, Some(next_at))?;
    Ok(subscription)
}

/// Whether the customer's card is declined.
pub(super) fn declines(books: &Books, customer: &str) -> bool {
    let customer = books.get::<Customer>(customer);
    customer.is_some_and(|customer| customer.declines)
}
