//! Subscriptions, their invoices, and what paid those.

use serde_json::Value;

use super::read;
use crate::core::{
    billing,
    books::Desk,
    params::Params,
    records::{Invoice, InvoicePayment, Price, Standing, Subscription},
    refusal::Refusal,
    views::View as _,
};

pub(super) fn list(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    const WORDS: [&str; 7] = [
        "active",
        "past_due",
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

pub(super) fn update(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let mut subscription: Subscription = desk.books.find(id)?;
    let items = params.below("items");
    if items.len() > 1 {
        let message = "A subscription of the sandbox has one item.";
        return Err(Refusal::param("items", message));
    }
    let mut price = None;
    if let Some(item) = items.first() {
        let path = format!("items[{item}][id]");
        if params
            .text(&path)?
            .is_some_and(|id| id != subscription.item)
        {
            return Err(Refusal::param(path, "No such subscription item"));
        }
        let path = format!("items[{item}][price]");
        price = params.text(&path)?;
        if let Some(id) = &price {
            desk.books
                .find::<Price>(id)
                .map_err(|refusal| refusal.of_param(path))?;
        }
    }
    params.word(
        "proration_behavior",
        &["always_invoice", "create_prorations"],
    )?;
    params.word(
        "payment_behavior",
        &["error_if_incomplete", "allow_incomplete"],
    )?;
    let ending = params.flag("cancel_at_period_end")?;
    let mut metadata = subscription.metadata.clone();
    params.change_metadata("metadata", &mut metadata)?;
    params.finish()?;
    if price.is_some() {
        // First, since it alone can still be refused.
        subscription = billing::switch(desk, subscription, &price.unwrap_or_default())?;
    }
    if metadata != subscription.metadata {
        subscription.metadata = metadata;
        desk.books.put(subscription.clone());
        desk.emit("customer.subscription.updated", &subscription);
    }
    if let Some(ending) = ending {
        subscription = billing::cancel_at_end(desk, subscription, ending)?;
    }
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
