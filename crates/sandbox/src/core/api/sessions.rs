//! The endpoints of checkout sessions.

use super::read::{self, Paging};
use crate::core::prelude::*;

/// A session. An expired one is closed first, so that it is never shown as open.
pub(super) fn retrieve(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    read::changed(db, params, id, |session: Session, db| {
        let is_over = session.status == SessionStatus::Open && session.expires_at <= db.now;
        Ok(match is_over {
            true => checkout::close(db, session),
            false => session,
        })
    })
}

pub(super) fn expire(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    read::changed(db, params, id, |session: Session, db| {
        let message = format!(
            "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout \
             Session has a status of {}.",
            session.status.word(),
        );
        Refusal::invalid(message).when(session.status != SessionStatus::Open)?;
        Ok(checkout::close(db, session))
    })
}

pub(super) fn items(db: &Database, params: &Params, id: &str) -> Result<Value> {
    let paging = Paging::read(params)?;
    params.finish()?;
    let session: Session = db.find(id)?;
    let items = line_items(&session, db);
    paging.views(&items, &format!("/v1/checkout/sessions/{id}/line_items"))
}
