//! The endpoints of subscriptions.

use strum::VariantNames as _;

use super::read;
use crate::core::{
    billing::{Change, ProrationBehavior},
    prelude::*,
};

const MAX_QUANTITY: i64 = 999_999;
/// As many as Stripe allows.
const MAX_ITEMS: usize = 20;

pub(super) fn list(db: &Database, params: &Params) -> Result<Value> {
    let words = [SubscriptionStatus::VARIANTS, &["ended", "all"]].concat();
    let status = params.word("status", &words)?;
    let price = params.text("price")?;
    let stands = |subscription: &Subscription| match status {
        None => subscription.status != SubscriptionStatus::Canceled,
        Some("all") => true,
        Some("ended") => subscription.ended_at.is_some(),
        Some(status) => subscription.status.word() == status,
    };
    read::some(
        db,
        params,
        "subscriptions",
        &["customer"],
        |one: &Subscription| {
            let has = |id: &String| one.items().any(|item| item.price == *id);
            stands(one) && price.as_ref().is_none_or(has)
        },
    )
}

struct Update {
    change: Option<Change>,
    /// A pause of collection; `Some(None)`: collect again.
    pause: Option<Option<Pause>>,
    /// A new end of the trial, in seconds; `Some(None)`: now.
    trial_end: Option<Option<i64>>,
    prorate: ProrationBehavior,
    ending: Option<bool>,
    metadata: Metadata,
}

impl Update {
    fn read(db: &mut Database, params: &Params, old: &Subscription) -> Result<Self> {
        let mut metadata = old.metadata.clone();
        params.change_metadata("metadata", &mut metadata)?;
        params.text("default_payment_method")?;
        params.bounded("description", 500)?;
        params.word("off_session", &["true", "false"])?;
        params.integer::<i64>("proration_date")?;
        let trial_end = match params.text("trial_end")?.as_deref() {
            None => None,
            Some("now") => Some(None),
            Some(_) => Some(params.integer("trial_end")?),
        };
        let mut ending = params.flag("cancel_at_period_end")?;
        // Unsetting it also withdraws a cancellation at the period's end.
        if params.is_unset("cancel_at") {
            let both = ending.replace(false).is_some();
            Refusal::exclusive("cancel_at", "cancel_at, cancel_at_period_end").when(both)?;
        }
        let update = Self {
            prorate: params
                .choice("proration_behavior")?
                .unwrap_or(ProrationBehavior::CreateProrations),
            change: change(db, params, old)?,
            pause: pause(params)?,
            trial_end,
            ending,
            metadata,
        };
        params.finish()?;
        Ok(update)
    }
}

/// The new items: one with an id is changed or deleted, one without is added.
fn items(db: &mut Database, params: &Params, old: &Subscription) -> Result<Option<Vec<Item>>> {
    let mut items: Vec<Item> = old.items().cloned().collect();
    let names = params.below("items");
    for name in &names {
        let at = |field: &str| format!("items[{name}][{field}]");
        let price = params.text(&at("price"))?;
        if let Some(id) = &price {
            db.named::<Price>(id, &at("price"))?;
        }
        let quantity = params.integer::<i64>(&at("quantity"))?;
        Refusal::not_positive(at("quantity"))
            .when(quantity.is_some_and(|quantity| !(1..=MAX_QUANTITY).contains(&quantity)))?;
        let deleted = params.flag(&at("deleted"))? == Some(true);
        let Some(id) = params.text(&at("id"))? else {
            items.push(Item {
                id: db.ids.usual("si_"),
                created: db.now,
                price: need(price, &at("price"))?,
                quantity: quantity.unwrap_or(1),
            });
            continue;
        };
        let Some(item) = items.iter_mut().find(|item| item.id == id) else {
            let message = format!("No such subscription_item: '{id}'");
            return Err(Refusal::param(at("id"), message).with_code("resource_missing"));
        };
        item.price = price.unwrap_or_else(|| item.price.clone());
        item.quantity = quantity.unwrap_or(item.quantity);
        if deleted {
            items.retain(|item| item.id != id);
        }
    }
    let message = format!("A subscription has 1 to {MAX_ITEMS} items.");
    Refusal::param("items", message).when(items.is_empty() || items.len() > MAX_ITEMS)?;
    Ok((!names.is_empty()).then_some(items))
}

fn change(db: &mut Database, params: &Params, old: &Subscription) -> Result<Option<Change>> {
    let items = items(db, params, old)?;
    let prorate = params.choice("proration_behavior")?;
    let prorate = prorate.unwrap_or(ProrationBehavior::CreateProrations);
    let must_pay = params.word(
        "payment_behavior",
        &[
            "allow_incomplete",
            "default_incomplete",
            "error_if_incomplete",
        ],
    )? == Some("error_if_incomplete");
    let anchored_now = params.word("billing_cycle_anchor", &["now", "unchanged"])? == Some("now");
    let wanted = items.is_some() || anchored_now;
    Ok(wanted.then(|| Change {
        items: items.unwrap_or_else(|| old.items().cloned().collect()),
        prorate,
        anchored_now,
        must_pay,
    }))
}

fn pause(params: &Params) -> Result<Option<Option<Pause>>> {
    const PATH: &str = "pause_collection";
    if params.is_unset(PATH) {
        return Ok(Some(None));
    }
    if params.below(PATH).is_empty() {
        return Ok(None);
    }
    let path = format!("{PATH}[behavior]");
    let behavior = need(params.choice(&path)?, &path)?;
    let resumes_at = params.integer(&format!("{PATH}[resumes_at]"))?;
    Ok(Some(Some(Pause {
        behavior,
        resumes_at,
    })))
}

pub(super) fn update(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let mut subscription: Subscription = db.find(id)?;
    let update = Update::read(db, params, &subscription)?;
    let message = "A canceled subscription can only update its cancellation_details and metadata.";
    Refusal::invalid(message).when(subscription.ended_at.is_some())?;
    if let (Some(_), Some(plan)) = (update.ending, &subscription.schedule) {
        let message = format!(
            "The subscription is managed by the subscription schedule `{plan}`, and updating any \
             cancelation behavior directly is not allowed. Please update the schedule instead."
        );
        return Err(Refusal::invalid(message));
    }
    if let Some(change) = update.change {
        // First, since only this can still be refused.
        subscription = subscription.change(db, change)?;
    }
    if let Some(at) = update.trial_end {
        subscription = subscription.set_trial_end(db, at, update.prorate)?;
    }
    match update.pause {
        Some(Some(pause)) => subscription = subscription.pause_collection(db, pause)?,
        Some(None) => subscription = subscription.collect_again(db),
        None => {}
    }
    if update.metadata != subscription.metadata {
        subscription.metadata = update.metadata;
        db.put_and_emit("customer.subscription.updated", &subscription);
    }
    if let Some(ending) = update.ending {
        subscription = subscription.cancel_at_end(db, ending)?;
    }
    Ok(subscription.view(db))
}

/// Resumes a subscription whose trial ended without a card.
pub(super) fn resume(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let anchor = params.word("billing_cycle_anchor", &["now", "unchanged"])?;
    params.choice::<ProrationBehavior>("proration_behavior")?;
    let anchored_now = anchor != Some("unchanged");
    read::changed(db, params, id, |subscription: Subscription, db| {
        subscription.resume(db, anchored_now)
    })
}

pub(super) fn cancel(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    params.flag("invoice_now")?;
    params.flag("prorate")?;
    read::changed(db, params, id, Subscription::cancel_now)
}
