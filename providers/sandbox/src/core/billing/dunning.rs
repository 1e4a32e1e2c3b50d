//! A renewal that is not paid is tried again some days later, and again; then the subscription ends.

use super::{
    cancel::end,
    invoicing::{collect, declines, miss},
};
use crate::core::prelude::*;

const DAY: i64 = 24 * 3600;
/// Days after the first failure at which it is tried again.
const RETRY_DAYS: [i64; 3] = [1, 3, 5];

fn retry_at(failed_at: i64, made: u32) -> Option<i64> {
    let days = RETRY_DAYS.get(usize::try_from(made).ok()?)?;
    Some(failed_at.saturating_add(days.saturating_mul(DAY)))
}

/// When a payment that failed now is tried for the first time again.
pub(super) fn first_retry(failed_at: i64) -> i64 {
    retry_at(failed_at, 0).unwrap_or(failed_at)
}

/// Tries again. The books' instant is the one that was set for it.
pub(crate) fn retry(books: &mut Books, subscription: Subscription) {
    let kept = subscription.clone();
    if again(books, subscription).is_err() {
        end(books, kept, "payment_failed");
    }
}

fn again(books: &mut Books, mut subscription: Subscription) -> Result<()> {
    if !subscription.no_card && !declines(books, &subscription.customer) {
        return recover(books, subscription);
    }
    let Some(mut retry) = subscription.retry.take() else {
        return Err(Refusal::invalid("Nothing is to be tried again."));
    };
    let invoice: Invoice = books.find(&retry.invoice)?;
    retry.made = retry.made.saturating_add(1);
    let next = retry_at(retry.failed_at, retry.made);
    miss(books, invoice, next)?;
    match next {
        Some(next_at) => {
            retry.next_at = next_at;
            subscription.retry = Some(retry);
            books.put(subscription);
        }
        None => end(books, subscription, "payment_failed"),
    }
    Ok(())
}

/// The customer pays what is due.
pub(crate) fn pay_now(books: &mut Books, subscription: Subscription) -> Result<()> {
    if subscription.status == Standing::Active {
        return Ok(());
    }
    Refusal::invalid("This subscription has nothing to pay.")
        .when(subscription.status != Standing::PastDue)?;
    Refusal::declined().when(declines(books, &subscription.customer))?;
    recover(books, subscription)
}

fn recover(books: &mut Books, mut subscription: Subscription) -> Result<()> {
    let invoice = subscription.retry.take().map(|retry| retry.invoice);
    // A first payment that failed late is not tried again by itself.
    let invoice = invoice.or_else(|| subscription.latest_invoice.clone());
    let invoice: Invoice = books.find(&invoice.unwrap_or_default())?;
    subscription.status = Standing::Active;
    subscription.no_card = false;
    books.tell("customer.subscription.updated", &subscription);
    collect(books, invoice)
}
