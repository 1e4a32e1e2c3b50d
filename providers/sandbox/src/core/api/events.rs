//! What happened, the newest first, for who was not told or missed it.

use std::collections::BTreeMap;

use super::{list::Paging, range::Range};
use crate::core::prelude::*;

const MAX_TYPES: usize = 20;

/// What somebody wants to hear of.
struct Wanted {
    /// None: everything.
    kinds: Vec<String>,
    delivered: Option<bool>,
}

impl Wanted {
    fn read(params: &Params) -> Result<Self> {
        let mut kinds = params.list("types")?;
        if kinds.len() > MAX_TYPES {
            let message = format!("You may pass up to {MAX_TYPES} types.");
            return Err(Refusal::param("types", message));
        }
        if let Some(kind) = params.text("type")? {
            if !kinds.is_empty() {
                let message = "You may only specify one of these parameters: type, types.";
                return Err(Refusal::param("type", message));
            }
            kinds.push(kind);
        }
        Ok(Self {
            kinds,
            delivered: params.flag("delivery_success")?,
        })
    }

    fn is(&self, event: &Event) -> bool {
        let kind = &event.kind;
        (self.kinds.is_empty() || self.kinds.iter().any(|wanted| covers(wanted, kind)))
            && self
                .delivered
                .is_none_or(|delivered| delivered == event.is_delivered())
    }
}

/// `charge.*` stands for all that begin so.
pub(crate) fn covers(wanted: &str, kind: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(beginning) => kind.starts_with(beginning),
        None => wanted == kind,
    }
}

pub(super) fn list(books: &Books, params: &Params) -> Result<Value> {
    let paging = Paging::read(params)?;
    let created = Range::read(params, "created")?;
    let wanted = Wanted::read(params)?;
    params.finish()?;
    let oldest = books.now.saturating_sub(EVENT_SECONDS);
    let mut low = (created.least().max(oldest), 0);
    let mut high = (created.most(), u64::MAX);
    let place = |id: &String, param: &str| {
        let event = books.find::<Event>(id);
        let event = event.map_err(|refusal| refusal.of_param(param))?;
        Ok::<_, Refusal>((event.head.created, event.head.n))
    };
    if let Some(id) = &paging.after {
        let (at, n) = place(id, "starting_after")?;
        high = high.min((at, n.saturating_sub(1)));
    }
    if let Some(id) = &paging.before {
        let (at, n) = place(id, "ending_before")?;
        low = low.max((at, n.saturating_add(1)));
    }
    let all: &BTreeMap<(i64, u64), String> = books.events();
    let mut between: Vec<&Event> = Vec::new();
    let most = paging.limit.saturating_add(1);
    if low <= high {
        let range = all.range(low..=high);
        let event = |(_, id): (&(i64, u64), &String)| books.get::<Event>(id);
        if paging.before.is_some() {
            let found = range.filter_map(event).filter(|event| wanted.is(event));
            between.extend(found.take(most));
        } else {
            let found = range.rev().filter_map(event);
            between.extend(found.filter(|event| wanted.is(event)).take(most));
        }
    }
    let has_more = between.len() > paging.limit;
    between.truncate(paging.limit);
    if paging.before.is_some() {
        between.reverse();
    }
    let data: Vec<Value> = between.iter().map(|event| event.view(books)).collect();
    Ok(json!({
        "object": "list",
        "has_more": has_more,
        "data": data,
        "url": "/v1/events",
    }))
}

/// As long as it is kept.
pub(super) fn one(books: &Books, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let event: Event = books.find(id)?;
    if event.head.created < books.now.saturating_sub(EVENT_SECONDS) {
        return Err(Refusal::no_such("event", id));
    }
    Ok(event.view(books))
}
