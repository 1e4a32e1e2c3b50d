//! The endpoints of checkout sessions.

use super::read::{self, Paging};
use crate::core::prelude::*;

pub(super) fn create(books: &mut Books, params: &Params) -> Result<Value> {
    let session = checkout::create(books, params)?;
    Ok(session.view(books))
}

/// A session. An expired one is closed first, so that it is never shown as open.
pub(super) fn retrieve(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    read::changed(books, params, id, |session: Session, books| {
        let is_over = session.status == SessionStatus::Open && session.expires_at <= books.now;
        Ok(match is_over {
            true => checkout::close(books, session),
            false => session,
        })
    })
}

pub(super) fn expire(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    read::changed(books, params, id, |session: Session, books| {
        let message = format!(
            "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout \
             Session has a status of {}.",
            session.status.word(),
        );
        Refusal::invalid(message).when(session.status != SessionStatus::Open)?;
        Ok(checkout::close(books, session))
    })
}

pub(super) fn items(books: &Books, params: &Params, id: &str) -> Result<Value> {
    let paging = Paging::read(params)?;
    params.finish()?;
    let session: Session = books.find(id)?;
    let items = line_items(&session, books);
    paging.views(&items, &format!("/v1/checkout/sessions/{id}/line_items"))
}
