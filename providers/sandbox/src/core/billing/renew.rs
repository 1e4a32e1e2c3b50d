//! A period ends: the next one begins and is billed, or the subscription ends with it. The invoice is
//! a draft for its first hour, while the period has moved on already.

use super::{
    cancel::end,
    dunning::retry,
    finalize::{give_up, write_out},
    invoicing::{cycle_lines, draft},
    pause::collect_again,
    schedule, trial,
};
use crate::core::prelude::*;

/// Does what is due. The books' instant is the one that was set for it.
pub(crate) fn step(books: &mut Books, subscription: Subscription) {
    let resumes = subscription.pause.as_ref();
    let resumes = resumes.and_then(|pause| pause.resumes_at);
    if resumes.is_some_and(|at| at <= books.now) {
        collect_again(books, subscription);
    } else if subscription.status == Standing::PastDue {
        retry(books, subscription);
    } else if subscription.status == Standing::Trialing
        && subscription
            .announces_at()
            .is_some_and(|at| at <= books.now)
        && books.now < subscription.period_end
    {
        trial::announce(books, subscription);
    } else {
        renew(books, subscription);
    }
}

/// The end of a period.
fn renew(books: &mut Books, subscription: Subscription) {
    if subscription.cancel_at_end {
        return end(books, subscription, "cancellation_requested");
    }
    let kept = subscription.clone();
    let outcome = if subscription.status == Standing::Trialing {
        trial::over(books, subscription)
    } else {
        bill(books, subscription)
    };
    if outcome.is_err() {
        // A price that is gone: books that cannot be billed must not be tried for ever.
        end(books, kept, "payment_failed");
    }
}

/// Begins the next period and draws up what it costs.
pub(super) fn bill(books: &mut Books, mut subscription: Subscription) -> Result<()> {
    schedule::advance(books, &mut subscription)?;
    if let Some(next) = subscription.scheduled.take() {
        let price: Price = books.find(&next)?;
        let interval = price.interval.unwrap_or(subscription.interval);
        if interval != subscription.interval {
            subscription.interval = interval;
            subscription.anchor = subscription.period_end;
            subscription.cycle = 0;
        }
        subscription.item.price = price.head.id;
    }
    subscription.advance();
    cycle(books, subscription)
}

/// Draws up what the period that runs now costs.
pub(super) fn cycle(books: &mut Books, mut subscription: Subscription) -> Result<()> {
    let (lines, discount) = cycle_lines(books, &subscription)?;
    let mut invoice = draft(books, &mut subscription, Reason::Cycle, lines, discount);
    let meanwhile = subscription.pause.as_ref().map(|pause| pause.behavior);
    if meanwhile == Some(Meanwhile::KeepAsDraft) {
        invoice.finalizes_at = None;
    }
    books.put(invoice.clone());
    books.tell("customer.subscription.updated", &subscription);
    books.emit("invoice.created", &invoice);
    // While nothing is collected, an invoice is given up as soon as it is there.
    if let Some(Meanwhile::Void | Meanwhile::MarkUncollectible) = meanwhile {
        let invoice = write_out(books, invoice);
        give_up(books, invoice, meanwhile == Some(Meanwhile::Void));
    }
    Ok(())
}
