//! The list of events, newest first, for callers that missed a webhook.

use super::read;
use crate::core::prelude::*;

const MAX_TYPES: usize = 20;

/// Whether a type is wanted: `charge.*` means all that begin with `charge.`.
pub(crate) fn covers(wanted: &str, kind: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(beginning) => kind.starts_with(beginning),
        None => wanted == kind,
    }
}

fn kinds(params: &Params) -> Result<Vec<String>> {
    let mut kinds = params.list("types")?;
    let message = format!("You may pass up to {MAX_TYPES} types.");
    Refusal::param("types", message).when(kinds.len() > MAX_TYPES)?;
    if let Some(kind) = params.text("type")? {
        Refusal::exclusive("type", "type, types").when(!kinds.is_empty())?;
        kinds.push(kind);
    }
    Ok(kinds)
}

pub(super) fn list(db: &Database, params: &Params) -> Result<Value> {
    let kinds = kinds(params)?;
    let delivered = params.flag("delivery_success")?;
    read::some::<Event>(db, params, "events", &[], |event| {
        event.head.created >= oldest(db)
            && delivered.is_none_or(|delivered| delivered == event.is_delivered())
            && (kinds.is_empty() || kinds.iter().any(|kind| covers(kind, &event.kind)))
    })
}

const fn oldest(db: &Database) -> i64 {
    db.now.saturating_sub(EVENT_SECONDS)
}

/// A single event, while Stripe would keep it.
pub(super) fn one(db: &Database, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let event: Event = db.find(id)?;
    Refusal::no_such("event", id).when(event.head.created < oldest(db))?;
    Ok(event.view(db))
}
