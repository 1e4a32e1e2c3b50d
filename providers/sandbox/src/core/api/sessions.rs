//! Checkout sessions.

use serde_json::Value;

use super::{list::Paging, read};
use crate::core::{
    books::Desk,
    checkout,
    params::Params,
    records::{Session, Status},
    refusal::Refusal,
    views::{View as _, line_items},
};

pub(super) fn create(desk: &mut Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let session = checkout::create(desk, params)?;
    Ok(session.view(desk.books))
}

/// As it is now: one whose time is over is closed before anybody sees it open.
fn current(desk: &mut Desk<'_>, id: &str) -> Result<Session, Refusal> {
    let session: Session = desk.books.find(id)?;
    if session.status == Status::Open && session.expires_at <= desk.now {
        return Ok(checkout::close(desk, session));
    }
    Ok(session)
}

pub(super) fn retrieve(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    params.finish()?;
    let session = current(desk, id)?;
    Ok(session.view(desk.books))
}

pub(super) fn expire(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    params.finish()?;
    let session: Session = desk.books.find(id)?;
    if session.status != Status::Open {
        let message = format!(
            "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session \
             has a status of {}.",
            session.status.word(),
        );
        return Err(Refusal::invalid(message));
    }
    let session = checkout::close(desk, session);
    Ok(session.view(desk.books))
}

pub(super) fn items(desk: &Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let paging = Paging::read(params)?;
    params.finish()?;
    let session: Session = desk.books.find(id)?;
    let items = line_items(&session, desk.books);
    let url = format!("/v1/checkout/sessions/{id}/line_items");
    let id = |item: &Value| {
        item.get("id")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let ids: Vec<(String, Value)> = items.into_iter().map(|item| (id(&item), item)).collect();
    paging.page(
        ids.iter().collect(),
        |(id, _)| id,
        |(_, item)| item.clone(),
        &url,
    )
}

pub(super) fn list(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let customer = params.text("customer")?;
    let status = params.word("status", &["open", "complete", "expired"])?;
    let intent = params.text("payment_intent")?;
    let subscription = params.text("subscription")?;
    read::some::<Session>(desk, params, "/v1/checkout/sessions", |session| {
        status.is_none_or(|status| session.status.word() == status)
            && (customer.is_none() || customer == session.customer)
            && (intent.is_none() || intent == session.intent)
            && (subscription.is_none() || subscription == session.subscription)
    })
}
