//! The endpoints of subscription schedules: the current price, and one that follows.

use super::read;
use crate::core::{billing::ProrationBehavior, prelude::*};

pub(super) fn create(db: &mut Database, params: &Params) -> Result<Value> {
    const FROM: &str = "from_subscription";
    let id = params.required(FROM)?;
    let metadata = params.metadata("metadata")?;
    params.finish()?;
    let mut subscription: Subscription = db.named(&id, FROM)?;
    let message = format!(
        "You cannot migrate a subscription that is already attached or {}.",
        subscription.status.word()
    );
    Refusal::param(FROM, message).when(!subscription.status.is_running())?;
    let plan = subscription.schedule(db, metadata)?;
    subscription.updated(db);
    Ok(plan.view(db))
}

pub(super) fn list(db: &Database, params: &Params) -> Result<Value> {
    let canceled = params.text("canceled_at[gte]")?.is_some();
    read::some::<Schedule>(
        db,
        params,
        "subscription_schedules",
        &["customer"],
        |plan| !canceled || plan.status == ScheduleStatus::Canceled,
    )
}

/// Sets up to two phases: the current one, and the one that follows at its end.
pub(super) fn update(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let mut plan: Schedule = db.find(id)?;
    let mut subscription: Subscription = db.find(&plan.subscription)?;
    params.change_metadata("metadata", &mut plan.metadata)?;
    params.word("end_behavior", &["release"])?;
    params.choice::<ProrationBehavior>("proration_behavior")?;
    let phases = params.below("phases");
    let message = "A schedule in the sandbox has the current phase and one that follows.";
    Refusal::param("phases", message).when(phases.len() > 2)?;
    let mut next = None;
    for (place, name) in phases.iter().enumerate() {
        let at = |field: &str| format!("phases[{name}]{field}");
        for dates in ["[start_date]", "[end_date]"] {
            params.text(&at(dates))?;
        }
        params.integer::<i64>(&at("[duration][interval_count]"))?;
        params.choice::<Interval>(&at("[duration][interval]"))?;
        params.choice::<ProrationBehavior>(&at("[proration_behavior]"))?;
        let path = at("[items][0][price]");
        params.integer::<i64>(&at("[items][0][quantity]"))?;
        let price = params.required(&path)?;
        let message = "The current phase keeps its price: update the subscription instead.";
        Refusal::param(&path, message).when(place == 0 && price != subscription.item.price)?;
        if place == 1 {
            next = Some((db.named::<Price>(&price, &path)?, path));
        }
    }
    params.finish()?;
    db.put(plan.clone());
    if let Some((price, path)) = next {
        let message = "An active recurring price in the subscription's currency is expected.";
        Refusal::param(path, message).when(
            !price.active || price.currency != subscription.currency || price.interval.is_none(),
        )?;
        plan = subscription.plan(db, plan, &price)?;
    }
    Ok(plan.view(db))
}

pub(super) fn release(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    params.flag("preserve_cancel_date")?;
    read::changed(db, params, id, |plan: Schedule, db| {
        let message = format!(
            "You cannot release a subscription schedule that is currently in the `{}` status.",
            plan.status.word()
        );
        Refusal::invalid(message).when(plan.status != ScheduleStatus::Active)?;
        let mut subscription: Subscription = db.find(&plan.subscription)?;
        subscription.release(db)?;
        subscription.updated(db);
        db.find(id)
    })
}

pub(super) fn cancel(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    params.flag("invoice_now")?;
    params.flag("prorate")?;
    read::changed(db, params, id, |plan: Schedule, db| plan.call_off(db))
}
