//! A period ends: the next one begins and is billed, or the subscription ends with it.

use super::{
    cancel::end,
    dunning::first_retry,
    invoicing::{collect, cycle_line, declines, discount, draw_up, miss},
};
use crate::core::{
    books::Desk,
    calendar::after,
    records::{Price, Reason, Retry, Standing, Subscription},
    refusal::Refusal,
};

/// Does what the end of a period asks for. The desk's instant is that end.
pub(crate) fn renew(desk: &mut Desk<'_>, subscription: Subscription) {
    if subscription.cancel_at_end {
        return end(desk, subscription, "cancellation_requested");
    }
    let kept = subscription.clone();
    if bill(desk, subscription).is_err() {
        // A price that is gone: books that cannot be billed must not be tried for ever.
        end(desk, kept, "payment_failed");
    }
}

fn bill(desk: &mut Desk<'_>, mut subscription: Subscription) -> Result<(), Refusal> {
    if let Some(next) = subscription.scheduled.take() {
        let price: Price = desk.books.find(&next)?;
        let interval = price.interval.unwrap_or(subscription.interval);
        if interval != subscription.interval {
            subscription.interval = interval;
            subscription.anchor = subscription.period_end;
            subscription.cycle = 0;
        }
        subscription.price = price.head.id;
    }
    subscription.cycle = subscription.cycle.saturating_add(1);
    subscription.period_start = subscription.period_end;
    subscription.period_end = after(
        subscription.anchor,
        subscription.interval,
        subscription.cycle,
    );
    let line = cycle_line(desk, &subscription)?;
    let discount = discount(desk, &subscription, line.amount);
    let reason = Reason::Cycle;
    let invoice = draw_up(desk, &mut subscription, reason, vec![line], discount);
    if invoice.total() == 0 || !declines(desk, &subscription.customer) {
        desk.books.put(subscription.clone());
        desk.emit("customer.subscription.updated", &subscription);
        return collect(desk, invoice);
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
