//! Schedules: the tier that runs now and the one that follows when its time is over. The portal makes
//! one for a switch down; a shop may make them by the API.

use crate::core::{calendar::after, prelude::*};

/// Plans the next tier, where there is one, and keeps the subscription.
pub(crate) fn schedule(
    books: &mut Books,
    subscription: &mut Subscription,
    next: Option<&Price>,
    metadata: Metadata,
) -> Result<Schedule> {
    let message = "This subscription already has a schedule.";
    Refusal::param("from_subscription", message).when(subscription.schedule.is_some())?;
    let plan = Schedule {
        head: books.head("sub_sched_"),
        subscription: subscription.head.id.clone(),
        customer: subscription.customer.clone(),
        currency: subscription.currency.clone(),
        phases: vec![running(subscription)],
        metadata,
        ..Schedule::default()
    };
    subscription.schedule = Some(plan.head.id.clone());
    books.tell("subscription_schedule.created", &plan);
    match next {
        Some(price) => self::plan(books, subscription, plan, price),
        None => {
            books.put(subscription.clone());
            books.emit("customer.subscription.updated", subscription);
            Ok(plan)
        }
    }
}

/// The phase that runs.
fn running(subscription: &Subscription) -> Phase {
    Phase {
        price: subscription.item.price.clone(),
        quantity: subscription.item.quantity,
        start: subscription.period_start,
        end: subscription.period_end,
    }
}

/// Says what follows the tier that runs.
pub(crate) fn plan(
    books: &mut Books,
    subscription: &mut Subscription,
    mut plan: Schedule,
    next: &Price,
) -> Result<Schedule> {
    let message = format!(
        "You cannot update a schedule that is {}.",
        plan.status.word()
    );
    Refusal::invalid(message).when(plan.status != ScheduleStatus::Active)?;
    let interval = next.interval.unwrap_or(subscription.interval);
    let end = if interval == subscription.interval {
        let cycle = subscription.cycle.saturating_add(1);
        after(subscription.anchor, interval, cycle)
    } else {
        after(subscription.period_end, interval, 1)
    };
    let following = Phase {
        price: next.head.id.clone(),
        quantity: subscription.item.quantity,
        start: subscription.period_end,
        end,
    };
    plan.phases = vec![running(subscription), following];
    subscription.scheduled = Some(next.head.id.clone());
    books.put(plan.clone());
    books.put(subscription.clone());
    books.emit("subscription_schedule.updated", &plan);
    books.emit("customer.subscription.updated", subscription);
    Ok(plan)
}

/// The period of the tier that ran is over. A schedule whose last phase is over lets go.
pub(super) fn advance(books: &mut Books, subscription: &mut Subscription) -> Result<()> {
    let Some(id) = &subscription.schedule else {
        return Ok(());
    };
    let plan: Schedule = books.find(id)?;
    let over = plan
        .phases
        .last()
        .is_none_or(|last| last.end <= subscription.period_end);
    if over {
        let_go(books, subscription, plan, ScheduleStatus::Released);
    } else {
        books.emit("subscription_schedule.updated", &plan);
    }
    Ok(())
}

/// The tier that runs stays, and nothing follows it by itself.
pub(crate) fn release(books: &mut Books, subscription: &mut Subscription) -> Result<()> {
    if let Some(id) = &subscription.schedule {
        let plan: Schedule = books.find(id)?;
        let_go(books, subscription, plan, ScheduleStatus::Released);
    }
    if subscription.scheduled.take().is_some() || subscription.schedule.is_some() {
        books.put(subscription.clone());
    }
    Ok(())
}

/// The subscription is over, and with it what was planned.
pub(super) fn cancel(books: &mut Books, subscription: &mut Subscription) {
    let plan = subscription
        .schedule
        .as_deref()
        .and_then(|id| books.get::<Schedule>(id));
    if let Some(plan) = plan.cloned() {
        let_go(books, subscription, plan, ScheduleStatus::Canceled);
    }
}

fn let_go(
    books: &mut Books,
    subscription: &mut Subscription,
    mut plan: Schedule,
    status: ScheduleStatus,
) {
    plan.status = status;
    plan.ended_at = Some(books.now);
    books.put(plan.clone());
    subscription.schedule = None;
    let kind = match status {
        ScheduleStatus::Canceled => "subscription_schedule.canceled",
        _ => "subscription_schedule.released",
    };
    books.emit(kind, &plan);
}

/// Calls a schedule off, and its subscription with it.
pub(crate) fn call_off(books: &mut Books, plan: Schedule) -> Result<Schedule> {
    let message = format!("This schedule is {}.", plan.status.word());
    Refusal::invalid(message).when(plan.status != ScheduleStatus::Active)?;
    let subscription: Subscription = books.find(&plan.subscription)?;
    super::cancel_now(books, subscription)?;
    books.find(&plan.head.id)
}
