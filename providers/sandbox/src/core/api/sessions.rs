//! Checkout sessions.

use serde_json::Value;

use super::list::Paging;
use crate::core::{
    books::{Desk, Kept as _},
    checkout,
    objects::{Session, Status, line_items},
    params::Params,
    refusal::Refusal,
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
    paging.views(&items, &format!("/v1/checkout/sessions/{id}/line_items"))
}
