//! How a subscription ends: now, or when what is paid for ends. The latter can be taken back.

use super::{finalize::give_up, invoicing::drop_prorations};
use crate::core::{
    books::Desk,
    objects::{Invoice, InvoiceStatus, Standing, Subscription},
    refusal::Refusal,
};

fn must_run(subscription: &Subscription) -> Result<(), Refusal> {
    if subscription.status.is_running() {
        return Ok(());
    }
    let message = format!("This subscription is {}.", subscription.status.word());
    Err(Refusal::invalid(message))
}

/// Sets whether it ends with its period.
pub(crate) fn cancel_at_end(
    desk: &mut Desk<'_>,
    mut subscription: Subscription,
    ending: bool,
) -> Result<Subscription, Refusal> {
    must_run(&subscription)?;
    if ending {
        // What ends has no next tier.
        super::release(desk, &mut subscription)?;
    }
    if subscription.cancel_at_end != ending {
        subscription.cancel_at_end = ending;
        subscription.canceled_at = ending.then_some(desk.now);
        subscription.why_ended = ending.then(|| "cancellation_requested".into());
        desk.books.put(subscription.clone());
        desk.emit("customer.subscription.updated", &subscription);
    }
    Ok(subscription)
}

/// Ends it now.
pub(crate) fn cancel_now(
    desk: &mut Desk<'_>,
    subscription: Subscription,
) -> Result<Subscription, Refusal> {
    if subscription.ended_at.is_some() {
        return Err(Refusal::no_such("subscription", &subscription.head.id));
    }
    let id = subscription.head.id.clone();
    end(desk, subscription, "cancellation_requested");
    desk.books.find(&id)
}

/// It is over.
pub(super) fn end(desk: &mut Desk<'_>, mut subscription: Subscription, why: &str) {
    if let Some(retry) = subscription.retry.take()
        && let Some(invoice) = desk.books.get::<Invoice>(&retry.invoice).cloned()
    {
        // Nobody tries any more.
        give_up(desk, invoice, false);
    }
    let drafts = desk.books.all::<Invoice>().filter(|invoice| {
        invoice.subscription == subscription.head.id && invoice.status == InvoiceStatus::Draft
    });
    let drafts: Vec<Invoice> = drafts.cloned().collect();
    for mut draft in drafts {
        // It stays one until the shop decides.
        draft.finalizes_at = None;
        desk.books.put(draft);
    }
    super::schedule::cancel(desk, &mut subscription);
    subscription.pause = None;
    drop_prorations(desk, &subscription);
    subscription.status = Standing::Canceled;
    subscription.scheduled = None;
    subscription.canceled_at = subscription.canceled_at.or(Some(desk.now));
    subscription.ended_at = Some(desk.now);
    subscription.why_ended = Some(why.to_owned());
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.deleted", &subscription);
}
