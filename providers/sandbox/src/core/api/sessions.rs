//! Checkout sessions.

use super::read::Paging;
use crate::core::{checkout, prelude::*};

pub(super) fn create(books: &mut Books, params: &Params) -> Result<Value> {
    let session = checkout::create(books, params)?;
    Ok(session.view(books))
}

/// As it is now: one whose time is over is closed before anybody sees it open.
fn current(books: &mut Books, id: &str) -> Result<Session> {
    let session: Session = books.find(id)?;
    if session.status == Status::Open && session.expires_at <= books.now {
        return Ok(checkout::close(books, session));
    }
    Ok(session)
}

pub(super) fn retrieve(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let session = current(books, id)?;
    Ok(session.view(books))
}

pub(super) fn expire(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let session: Session = books.find(id)?;
    let message = format!(
        "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session \
         has a status of {}.",
        session.status.word(),
    );
    Refusal::invalid(message).when(session.status != Status::Open)?;
    let session = checkout::close(books, session);
    Ok(session.view(books))
}

pub(super) fn items(books: &Books, params: &Params, id: &str) -> Result<Value> {
    let paging = Paging::read(params)?;
    params.finish()?;
    let session: Session = books.find(id)?;
    let items = line_items(&session, books);
    paging.views(&items, &format!("/v1/checkout/sessions/{id}/line_items"))
}
