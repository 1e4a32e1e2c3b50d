//! How a subscription ends: now, or when what is paid for ends. The latter can be taken back.

use super::{finalize::give_up, invoicing::drop_prorations};
use crate::core::prelude::*;

/// Sets whether it ends with its period.
pub(crate) fn cancel_at_end(
    books: &mut Books,
    mut subscription: Subscription,
    ending: bool,
) -> Result<Subscription> {
    subscription
        .refusal()
        .when(!subscription.status.is_running())?;
    if ending {
        // What ends has no next tier.
        super::release(books, &mut subscription)?;
    }
    if subscription.cancel_at_end != ending {
        subscription.cancel_at_end = ending;
        subscription.canceled_at = ending.then_some(books.now);
        subscription.why_ended = ending.then(|| "cancellation_requested".into());
        books.tell("customer.subscription.updated", &subscription);
    }
    Ok(subscription)
}

/// Ends it now.
pub(crate) fn cancel_now(books: &mut Books, subscription: Subscription) -> Result<Subscription> {
    Refusal::no_such("subscription", &subscription.head.id)
        .when(subscription.ended_at.is_some())?;
    let id = subscription.head.id.clone();
    end(books, subscription, "cancellation_requested");
    books.find(&id)
}

/// It is over.
pub(super) fn end(books: &mut Books, mut subscription: Subscription, why: &str) {
    if let Some(retry) = subscription.retry.take()
        && let Some(invoice) = books.get::<Invoice>(&retry.invoice).cloned()
    {
        // Nobody tries any more.
        give_up(books, invoice, false);
    }
    let drafts = books.copies::<Invoice>(|invoice| {
        invoice.subscription == subscription.head.id && invoice.status == InvoiceStatus::Draft
    });
    for mut draft in drafts {
        // It stays one until the shop decides.
        draft.finalizes_at = None;
        books.put(draft);
    }
    super::schedule::cancel(books, &mut subscription);
    subscription.pause = None;
    drop_prorations(books, &subscription);
    subscription.status = Standing::Canceled;
    subscription.scheduled = None;
    subscription.canceled_at = subscription.canceled_at.or(Some(books.now));
    subscription.ended_at = Some(books.now);
    subscription.why_ended = Some(why.to_owned());
    books.tell("customer.subscription.deleted", &subscription);
}
