//! The list of events, newest first, for callers that missed a webhook.

use super::read::{self, Paging};
use crate::core::prelude::*;

const MAX_TYPES: usize = 20;

/// Whether a type is wanted: `charge.*` means all that begin with `charge.`.
pub(crate) fn covers(wanted: &str, kind: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(beginning) => kind.starts_with(beginning),
        None => wanted == kind,
    }
}

/// The requested types; empty for all.
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
    let Paging {
        limit,
        after,
        before,
    } = Paging::read(params)?;
    let (least, most) = read::created(params)?;
    let kinds = kinds(params)?;
    let delivered = params.flag("delivery_success")?;
    params.finish()?;
    let mut low = (least.max(oldest(db)), 0);
    let mut high = (most, u64::MAX);
    let place = |id: &str, param: &str| {
        let event: Event = db.named(id, param)?;
        Ok::<_, Refusal>((event.head.created, event.head.n))
    };
    if let Some(id) = &after {
        let (at, n) = place(id, "starting_after")?;
        high = high.min((at, n.saturating_sub(1)));
    }
    if let Some(id) = &before {
        let (at, n) = place(id, "ending_before")?;
        low = low.max((at, n.saturating_add(1)));
    }
    // `range` panics on a range that begins behind its end.
    let range = (low <= high).then(|| db.events().range(low..=high));
    let wanted = range.into_iter().flatten().filter_map(|(_, id)| {
        let event = db.get::<Event>(id)?;
        let fits = delivered.is_none_or(|delivered| delivered == event.is_delivered());
        let named = kinds.is_empty() || kinds.iter().any(|kind| covers(kind, &event.kind));
        (fits && named).then_some(event)
    });
    let one_more = limit.saturating_add(1);
    let mut events: Vec<&Event> = match before {
        Some(_) => wanted.take(one_more).collect(),
        None => wanted.rev().take(one_more).collect(),
    };
    let has_more = events.len() > limit;
    events.truncate(limit);
    if before.is_some() {
        events.reverse();
    }
    let data = events.iter().map(|event| event.view(db)).collect();
    Ok(read::list(data, has_more, "/v1/events"))
}

/// The instant of the oldest event that is still shown, in seconds.
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
