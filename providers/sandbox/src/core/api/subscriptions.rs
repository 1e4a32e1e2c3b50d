//! Subscriptions, their invoices, and what paid those.

use serde_json::Value;

use super::read;
use crate::core::{
    billing::{self, Change, Prorate},
    books::Desk,
    params::{Metadata, Params},
    records::{Invoice, InvoicePayment, Meanwhile, Pause, Price, Standing, Subscription},
    refusal::Refusal,
    views::View as _,
};

const MAX_QUANTITY: i64 = 999_999;

pub(super) fn list(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    const WORDS: [&str; 9] = [
        "active",
        "past_due",
        "paused",
        "trialing",
        "canceled",
        "incomplete",
        "incomplete_expired",
        "ended",
        "all",
    ];
    let customer = params.text("customer")?;
    let price = params.text("price")?;
    let status = params.word("status", &WORDS)?;
    read::some::<Subscription>(desk, params, "/v1/subscriptions", |subscription| {
        let stands = match status {
            None => subscription.status != Standing::Canceled,
            Some("all") => true,
            Some("ended") => subscription.ended_at.is_some(),
            Some(status) => subscription.status.word() == status,
        };
        stands
            && customer
                .as_ref()
                .is_none_or(|customer| *customer == subscription.customer)
            && price
                .as_ref()
                .is_none_or(|price| *price == subscription.price)
    })
}

/// What a form asks of a subscription.
struct Update {
    change: Option<Change>,
    /// `Some(None)`: collect again.
    pause: Option<Option<Pause>>,
    /// `Some(None)`: now.
    trial_end: Option<Option<i64>>,
    ending: Option<bool>,
    metadata: Metadata,
}

impl Update {
    fn read(desk: &Desk<'_>, params: &Params, old: &Subscription) -> Result<Self, Refusal> {
        let mut metadata = old.metadata.clone();
        params.change_metadata("metadata", &mut metadata)?;
        params.text("default_payment_method")?;
        params.bounded("description", 500)?;
        params.word("off_session", &["true", "false"])?;
        params.integer::<i64>("proration_date")?;
        let trial_end = match params.text("trial_end")? {
            None => None,
            Some(word) if word == "now" => Some(None),
            Some(text) => Some(Some(text.parse().map_err(|_| {
                let message = format!("Invalid integer: {text}");
                Refusal::param("trial_end", message).with_code("parameter_invalid_integer")
            })?)),
        };
        let update = Self {
            change: change(desk, params, old)?,
            pause: pause(params)?,
            trial_end,
            ending: params.flag("cancel_at_period_end")?,
            metadata,
        };
        params.finish()?;
        Ok(update)
    }
}

fn change(desk: &Desk<'_>, params: &Params, old: &Subscription) -> Result<Option<Change>, Refusal> {
    let items = params.below("items");
    if items.len() > 1 {
        let message = "A subscription of the sandbox has one item.";
        return Err(Refusal::param("items", message));
    }
    let (mut price, mut quantity) = (None, None);
    if let Some(item) = items.first() {
        let path = format!("items[{item}][id]");
        match params.text(&path)? {
            Some(id) if id == old.item => {}
            Some(id) => {
                let message = format!("No such subscription_item: '{id}'");
                return Err(Refusal::param(path, message).with_code("resource_missing"));
            }
            None => {
                let message = "A subscription of the sandbox has one item: name it, or this would \
                               be a second one.";
                return Err(Refusal::param(path, message));
            }
        }
        let path = format!("items[{item}][price]");
        if let Some(id) = params.text(&path)? {
            let found = desk.books.find::<Price>(&id);
            price = Some(found.map_err(|refusal| refusal.of_param(path))?);
        }
        let path = format!("items[{item}][quantity]");
        quantity = params.integer::<i64>(&path)?;
        if quantity.is_some_and(|quantity| !(1..=MAX_QUANTITY).contains(&quantity)) {
            let message = "This value must be greater than or equal to 1.";
            return Err(Refusal::param(path, message));
        }
    }
    let prorate = match params.word(
        "proration_behavior",
        &["always_invoice", "create_prorations", "none"],
    )? {
        Some("always_invoice") => Prorate::AtOnce,
        Some("none") => Prorate::No,
        _ => Prorate::NextTime,
    };
    let must_pay = params.word(
        "payment_behavior",
        &[
            "allow_incomplete",
            "default_incomplete",
            "error_if_incomplete",
        ],
    )? == Some("error_if_incomplete");
    let anchored_now = params.word("billing_cycle_anchor", &["now", "unchanged"])? == Some("now");
    let wanted = price.is_some() || quantity.is_some() || anchored_now;
    Ok(wanted.then_some(Change {
        price,
        quantity,
        prorate,
        anchored_now,
        must_pay,
    }))
}

fn pause(params: &Params) -> Result<Option<Option<Pause>>, Refusal> {
    const PATH: &str = "pause_collection";
    if params.is_unset(PATH) {
        return Ok(Some(None));
    }
    if params.below(PATH).is_empty() {
        return Ok(None);
    }
    let path = format!("{PATH}[behavior]");
    let behavior = match params.word(&path, &["keep_as_draft", "mark_uncollectible", "void"])? {
        Some("keep_as_draft") => Meanwhile::KeepAsDraft,
        Some("mark_uncollectible") => Meanwhile::MarkUncollectible,
        Some(_) => Meanwhile::Void,
        None => return Err(Refusal::missing(path)),
    };
    let resumes_at = params.integer(&format!("{PATH}[resumes_at]"))?;
    Ok(Some(Some(Pause {
        behavior,
        resumes_at,
    })))
}

pub(super) fn update(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let mut subscription: Subscription = desk.books.find(id)?;
    let update = Update::read(desk, params, &subscription)?;
    if subscription.ended_at.is_some() {
        let message =
            "A canceled subscription can only update its cancellation_details and metadata.";
        return Err(Refusal::invalid(message));
    }
    if let (Some(_), Some(plan)) = (update.ending, &subscription.schedule) {
        let message = format!(
            "The subscription is managed by the subscription schedule `{plan}`, and updating any \
             cancelation behavior directly is not allowed. Please update the schedule instead."
        );
        return Err(Refusal::invalid(message));
    }
    if let Some(change) = update.change {
        // First, since it alone can still be refused.
        subscription = billing::change(desk, subscription, change)?;
    }
    if let Some(at) = update.trial_end {
        subscription = billing::set_trial_end(desk, subscription, at)?;
    }
    match update.pause {
        Some(Some(pause)) => subscription = billing::pause_collection(desk, subscription, pause)?,
        Some(None) => subscription = billing::collect_again(desk, subscription),
        None => {}
    }
    if update.metadata != subscription.metadata {
        subscription.metadata = update.metadata;
        desk.books.put(subscription.clone());
        desk.emit("customer.subscription.updated", &subscription);
    }
    if let Some(ending) = update.ending {
        subscription = billing::cancel_at_end(desk, subscription, ending)?;
    }
    Ok(subscription.view(desk.books))
}

/// One whose trial ended without a card goes on.
pub(super) fn resume(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let anchor = params.word("billing_cycle_anchor", &["now", "unchanged"])?;
    params.word(
        "proration_behavior",
        &["always_invoice", "create_prorations", "none"],
    )?;
    params.finish()?;
    let subscription: Subscription = desk.books.find(id)?;
    let subscription = billing::resume(desk, subscription, anchor != Some("unchanged"))?;
    Ok(subscription.view(desk.books))
}

pub(super) fn cancel(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    params.flag("invoice_now")?;
    params.flag("prorate")?;
    params.finish()?;
    let subscription: Subscription = desk.books.find(id)?;
    let subscription = billing::cancel_now(desk, subscription)?;
    Ok(subscription.view(desk.books))
}

pub(super) fn invoice(
    desk: &mut Desk<'_>,
    params: &Params,
    id: &str,
    word: &str,
) -> Result<Value, Refusal> {
    params.flag("auto_advance")?;
    params.text("payment_method")?;
    params.finish()?;
    let invoice: Invoice = desk.books.find(id)?;
    match word {
        "finalize" => billing::finalize(desk, invoice)?,
        "pay" => billing::pay(desk, invoice)?,
        "void" => billing::void(desk, invoice)?,
        _ => return Err(Refusal::no_route("POST", &format!("invoices/{id}/{word}"))),
    }
    let invoice: Invoice = desk.books.find(id)?;
    Ok(invoice.view(desk.books))
}

pub(super) fn invoices(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let customer = params.text("customer")?;
    let subscription = params.text("subscription")?;
    let status = params.word(
        "status",
        &["draft", "open", "paid", "uncollectible", "void"],
    )?;
    read::some::<Invoice>(desk, params, "/v1/invoices", |invoice| {
        customer
            .as_ref()
            .is_none_or(|customer| *customer == invoice.customer)
            && subscription
                .as_ref()
                .is_none_or(|id| *id == invoice.subscription)
            && status.is_none_or(|status| invoice.status.word() == status)
    })
}

pub(super) fn invoice_payments(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let invoice = params.text("invoice")?;
    let status = params.word("status", &["open", "paid", "canceled"])?;
    let kind = params.word("payment[type]", &["payment_intent", "charge"])?;
    let intent = params.text("payment[payment_intent]")?;
    if kind == Some("payment_intent") && intent.is_none() {
        return Err(Refusal::missing("payment[payment_intent]"));
    }
    if intent.is_some() && kind.is_none() {
        return Err(Refusal::missing("payment[type]"));
    }
    read::some::<InvoicePayment>(desk, params, "/v1/invoice_payments", |payment| {
        let word = if payment.paid_at.is_some() {
            "paid"
        } else {
            "open"
        };
        invoice
            .as_ref()
            .is_none_or(|invoice| *invoice == payment.invoice)
            && intent
                .as_ref()
                .is_none_or(|intent| *intent == payment.intent)
            && status.is_none_or(|status| status == word)
            && kind != Some("charge")
    })
}
