//! Two kinds of rest: the shop collects nothing for a while though cycles go on, or a subscription
//! without a card waits after its trial until somebody resumes it.

use super::invoicing::bill_cycle;
use crate::core::prelude::*;

/// Collects nothing from now on, or as it was told anew.
pub(crate) fn pause_collection(
    books: &mut Books,
    mut subscription: Subscription,
    pause: Pause,
) -> Result<Subscription> {
    let message = "`resumes_at` must be in the future.";
    Refusal::param("pause_collection[resumes_at]", message)
        .when(pause.resumes_at.is_some_and(|at| at <= books.now))?;
    if subscription.pause.as_ref() != Some(&pause) {
        subscription.pause = Some(pause);
        books.tell("customer.subscription.updated", &subscription);
    }
    Ok(subscription)
}

/// Collects again, from the next invoice on.
pub(crate) fn collect_again(books: &mut Books, mut subscription: Subscription) -> Subscription {
    if subscription.pause.take().is_some() {
        books.tell("customer.subscription.updated", &subscription);
    }
    subscription
}

/// It waits: a trial ended without a card.
pub(crate) fn suspend(books: &mut Books, mut subscription: Subscription) -> Result<Subscription> {
    match subscription.status {
        Standing::Paused => return Ok(subscription),
        Standing::Trialing | Standing::Active => {}
        _ => return Err(subscription.refusal()),
    }
    subscription.status = Standing::Paused;
    books.tell("customer.subscription.paused", &subscription);
    Ok(subscription)
}

/// It goes on, with a cycle that begins now and is paid for at once.
pub(crate) fn resume(
    books: &mut Books,
    mut subscription: Subscription,
    anchored_now: bool,
) -> Result<Subscription> {
    let message = format!(
        "Only subscriptions with a status of `paused` can be resumed. This subscription has a \
         status of `{}`.",
        subscription.status.word()
    );
    Refusal::invalid(message).when(subscription.status != Standing::Paused)?;
    const TOLD: &str = "customer.subscription.resumed";
    if !anchored_now && books.now < subscription.period_end {
        // What was paid for already goes on.
        subscription.status = Standing::Active;
        subscription.no_card = false;
        books.tell(TOLD, &subscription);
        return Ok(subscription);
    }
    if anchored_now {
        subscription.begin(books.now);
    }
    while subscription.period_end <= books.now && subscription.period_end < i64::MAX {
        subscription.advance();
    }
    bill_cycle(books, subscription, TOLD)
}
