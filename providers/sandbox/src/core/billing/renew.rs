//! A period ends: the next one begins and is billed, or the subscription ends with it. The invoice is
//! a draft for its first hour, while the period has moved on already.

use super::{
    cancel::end,
    dunning::retry,
    finalize::immediate,
    invoicing::{cycle_lines, draft},
    pause::collect_again,
    schedule, trial,
};
use crate::core::{
    books::Desk,
    calendar::after,
    objects::{Invoice, Meanwhile, Price, Reason, Standing, Subscription},
    refusal::Refusal,
};

/// Does what is due. The desk's instant is the one that was set for it.
pub(crate) fn step(desk: &mut Desk<'_>, subscription: Subscription) {
    let resumes = subscription
        .pause
        .as_ref()
        .and_then(|pause| pause.resumes_at);
    if resumes.is_some_and(|at| at <= desk.now) {
        collect_again(desk, subscription);
    } else if subscription.status == Standing::PastDue {
        retry(desk, subscription);
    } else if subscription.status == Standing::Trialing
        && subscription.announces_at().is_some_and(|at| at <= desk.now)
        && desk.now < subscription.period_end
    {
        trial::announce(desk, subscription);
    } else {
        renew(desk, subscription);
    }
}

/// The end of a period.
fn renew(desk: &mut Desk<'_>, subscription: Subscription) {
    if subscription.cancel_at_end {
        return end(desk, subscription, "cancellation_requested");
    }
    let kept = subscription.clone();
    let outcome = if subscription.status == Standing::Trialing {
        trial::over(desk, subscription)
    } else {
        bill(desk, subscription)
    };
    if outcome.is_err() {
        // A price that is gone: books that cannot be billed must not be tried for ever.
        end(desk, kept, "payment_failed");
    }
}

/// Begins the next period and draws up what it costs.
pub(super) fn bill(desk: &mut Desk<'_>, mut subscription: Subscription) -> Result<(), Refusal> {
    schedule::advance(desk, &mut subscription)?;
    if let Some(next) = subscription.scheduled.take() {
        let price: Price = desk.books.find(&next)?;
        let interval = price.interval.unwrap_or(subscription.interval);
        if interval != subscription.interval {
            subscription.interval = interval;
            subscription.anchor = subscription.period_end;
            subscription.cycle = 0;
        }
        subscription.item.price = price.head.id;
    }
    subscription.cycle = subscription.cycle.saturating_add(1);
    subscription.period_start = subscription.period_end;
    subscription.period_end = after(
        subscription.anchor,
        subscription.interval,
        subscription.cycle,
    );
    cycle(desk, subscription)
}

/// Draws up what the period that runs now costs.
pub(super) fn cycle(desk: &mut Desk<'_>, mut subscription: Subscription) -> Result<(), Refusal> {
    let (lines, discount) = cycle_lines(desk, &subscription)?;
    let mut invoice = draft(desk, &mut subscription, Reason::Cycle, lines, discount);
    let meanwhile = subscription.pause.as_ref().map(|pause| pause.behavior);
    if meanwhile == Some(Meanwhile::KeepAsDraft) {
        invoice.finalizes_at = None;
    }
    desk.books.put(invoice.clone());
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    desk.emit("invoice.created", &invoice);
    uncollected(desk, invoice, meanwhile);
    Ok(())
}

/// While nothing is collected, an invoice is given up as soon as it is there.
fn uncollected(desk: &mut Desk<'_>, invoice: Invoice, meanwhile: Option<Meanwhile>) {
    match meanwhile {
        Some(Meanwhile::Void) => immediate(desk, invoice, true),
        Some(Meanwhile::MarkUncollectible) => immediate(desk, invoice, false),
        Some(Meanwhile::KeepAsDraft) | None => {}
    }
}
