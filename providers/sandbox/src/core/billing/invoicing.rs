//! Invoices: what is on one, what pays it, and what is told of it.

use super::finalize::write_out;
use crate::core::{
    books::Desk,
    params::Metadata,
    payments::{self, Payment},
    records::{
        Coupon, Customer, Intent, Invoice, InvoiceLine, InvoicePayment, InvoiceStatus, Price,
        Product, Reason, Subscription, Until,
    },
    refusal::Refusal,
};

impl Desk<'_> {
    /// What people call a product.
    pub(crate) fn product_name(&self, product: &str) -> String {
        let product = self.books.get::<Product>(product);
        product.map_or_else(|| "Subscription".into(), |product| product.name.clone())
    }
}

/// What a lasting discount takes off an amount now.
pub(super) fn discount(desk: &Desk<'_>, subscription: &Subscription, amount: i64) -> i64 {
    let Some(term) = &subscription.discount else {
        return 0;
    };
    let lasts = match term.until {
        Until::Forever => true,
        Until::Time(end) => desk.now < end,
    };
    let coupon = desk.books.get::<Coupon>(&term.coupon);
    coupon
        .filter(|_| lasts)
        .map_or(0, |coupon| coupon.off.of(amount))
}

/// A line for a whole cycle: the one that runs.
pub(super) fn cycle_line(
    desk: &mut Desk<'_>,
    subscription: &Subscription,
) -> Result<InvoiceLine, Refusal> {
    let price: Price = desk.books.find(&subscription.price)?;
    Ok(InvoiceLine {
        id: desk.ids.usual("il_"),
        description: desk.product_name(&price.product),
        amount: price.unit_amount.saturating_mul(subscription.quantity),
        quantity: subscription.quantity,
        price: price.head.id,
        product: price.product,
        start: subscription.period_start,
        end: subscription.period_end,
        proration: false,
    })
}

/// So long a renewal's invoice is a draft.
const DRAFT_SECONDS: i64 = 3600;

/// Prorations that waited for an invoice.
pub(super) fn waiting(subscription: &mut Subscription) -> Vec<InvoiceLine> {
    std::mem::take(&mut subscription.waiting)
}

/// An invoice that is written out at once, and not paid yet.
pub(super) fn draw_up(
    desk: &mut Desk<'_>,
    subscription: &mut Subscription,
    reason: Reason,
    lines: Vec<InvoiceLine>,
    discount: i64,
) -> Invoice {
    let mut invoice = draft(desk, subscription, reason, lines, discount);
    invoice.finalizes_at = None;
    desk.emit("invoice.created", &invoice);
    write_out(desk, invoice)
}

/// An invoice that may still change.
pub(super) fn draft(
    desk: &mut Desk<'_>,
    subscription: &mut Subscription,
    reason: Reason,
    lines: Vec<InvoiceLine>,
    discount: i64,
) -> Invoice {
    let customer = desk.books.get::<Customer>(&subscription.customer);
    let email = customer.and_then(|customer| customer.email.clone());
    let invoice = Invoice {
        head: desk.head("in_"),
        customer: subscription.customer.clone(),
        email,
        subscription: subscription.head.id.clone(),
        item: subscription.item.clone(),
        status: InvoiceStatus::Draft,
        reason,
        currency: subscription.currency.clone(),
        lines,
        discount,
        attempts: 0,
        next_attempt: None,
        paid_at: None,
        metadata: subscription.metadata.clone(),
        intent: None,
        finalizes_at: Some(desk.now.saturating_add(DRAFT_SECONDS)),
        finalized_at: None,
        balance: 0,
        ended_at: None,
    };
    subscription.latest_invoice = Some(invoice.head.id.clone());
    desk.books.put(invoice.clone());
    invoice
}

/// The payment that is to pay it; begun once.
pub(super) fn payment(desk: &mut Desk<'_>, invoice: &mut Invoice) -> Result<Intent, Refusal> {
    if let Some(intent) = &invoice.intent {
        return desk.books.find(intent);
    }
    let payment = Payment {
        amount: invoice.due_amount(),
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
    let intent = payments::begin(desk, payment);
    invoice.intent = Some(intent.head.id.clone());
    let head = desk.head("inpay_");
    desk.books.put(InvoicePayment {
        head,
        invoice: invoice.head.id.clone(),
        intent: intent.head.id.clone(),
        amount: invoice.due_amount(),
        currency: invoice.currency.clone(),
        paid_at: None,
    });
    desk.books.put(invoice.clone());
    Ok(intent)
}

/// Pays it, or finds that nothing is to be paid.
pub(super) fn collect(desk: &mut Desk<'_>, mut invoice: Invoice) -> Result<(), Refusal> {
    if invoice.due_amount() > 0 {
        let intent = payment(desk, &mut invoice)?;
        let id = intent.head.id.clone();
        payments::succeed(desk, intent);
        let paid = desk.books.all::<InvoicePayment>();
        let paid =
            paid.filter(|payment| payment.invoice == invoice.head.id && payment.intent == id);
        let paid: Vec<InvoicePayment> = paid.cloned().collect();
        for mut payment in paid {
            payment.paid_at = Some(desk.now);
            desk.books.put(payment);
        }
    }
    invoice.attempts = invoice.attempts.saturating_add(1);
    invoice.status = InvoiceStatus::Paid;
    invoice.paid_at = Some(desk.now);
    invoice.next_attempt = None;
    desk.books.put(invoice.clone());
    desk.emit("invoice.paid", &invoice);
    desk.emit("invoice.payment_succeeded", &invoice);
    Ok(())
}

/// It was tried and is not paid.
pub(super) fn miss(
    desk: &mut Desk<'_>,
    mut invoice: Invoice,
    next_attempt: Option<i64>,
) -> Result<(), Refusal> {
    let intent = payment(desk, &mut invoice)?;
    payments::fail(desk, intent);
    invoice.attempts = invoice.attempts.saturating_add(1);
    invoice.next_attempt = next_attempt;
    desk.books.put(invoice.clone());
    desk.emit("invoice.payment_failed", &invoice);
    Ok(())
}

/// Whether the customer's card is declined.
pub(super) fn declines(desk: &Desk<'_>, customer: &str) -> bool {
    let customer = desk.books.get::<Customer>(customer);
    customer.is_some_and(|customer| customer.declines)
}
