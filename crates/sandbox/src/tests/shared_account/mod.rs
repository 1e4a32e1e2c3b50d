//! Other business on the account, for tests of its readers: objects of another product, events that are listed late or
//! in any order, and objects that cannot be read right after an event named them.

mod foreign;
mod lists;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use self::{foreign::ForeignSales, lists::Listing};
use super::{Answer, FaultInjector, FaultProfile, MAX_REMEMBERED, Parameters, Request};
use crate::core::refusal::Refusal;

#[derive(Debug, Default)]
pub(super) struct SharedAccount {
    foreign: ForeignSales,
    /// Objects that an event named, with how many more reads find nothing.
    unread: HashMap<String, u32>,
    /// Events whose objects were added to `unread`.
    seen_events: HashSet<String>,
}

impl SharedAccount {
    /// Applies settings. Background sales keep their times unless their number or days change.
    pub(super) fn switch(&mut self, former: &FaultProfile, settings: &FaultProfile, now: i64) {
        let sales = |of: &FaultProfile| (of.foreign_sales, of.foreign_days);
        if sales(settings) != sales(former) {
            self.foreign = ForeignSales::new(settings, now);
        }
    }

    /// The refusal to read an object that an event named just now.
    pub(super) fn unread(&mut self, request: &Request<'_>) -> Option<Refusal> {
        let (path, id) = request.path.strip_prefix("/v1/")?.rsplit_once('/')?;
        let kind = path.trim_end_matches('s').replace('/', ".");
        let left = self
            .unread
            .get_mut(id)
            .filter(|_| request.method == "GET")?;
        *left = left.checked_sub(1)?;
        Some(Refusal::no_such(&kind, id))
    }

    /// Reads that are rewritten: of the other product's objects, and of lists that contain them or are late.
    pub(super) fn rewrite_read<E>(
        &self,
        settings: &FaultProfile,
        request: &Request<'_>,
        ask: &mut impl FnMut(&str, &str, &Parameters) -> Result<Answer, E>,
    ) -> Result<Option<Answer>, E> {
        if request.method != "GET" {
            return Ok(None);
        }
        let answer = self.foreign.read(request.path, request.form);
        if answer.is_some() {
            return Ok(answer);
        }
        let Some(listing) = Listing::of(settings, &self.foreign, request) else {
            return Ok(None);
        };
        listing.page(ask).map(Some)
    }

    /// Remembers which objects new events named.
    pub(super) fn note_events(&mut self, settings: &FaultProfile, body: &Value) {
        if settings.missing_reads == 0 {
            return;
        }
        let listed = body.get("data").and_then(Value::as_array);
        let events = listed.map_or(std::slice::from_ref(body), Vec::as_slice);
        for event in events {
            let object = event.get("data").and_then(|data| data.get("object"));
            let (Some(id), Some(object)) = (event.get("id").and_then(Value::as_str), object) else {
                continue;
            };
            let is_full = self.seen_events.len() >= MAX_REMEMBERED;
            if is_full || self.seen_events.contains(id) || foreign::number(id).is_some() {
                continue;
            }
            self.seen_events.insert(id.to_owned());
            for field in ["id", "payment_intent"] {
                if let Some(id) = object.get(field).and_then(Value::as_str) {
                    self.unread.insert(id.to_owned(), settings.missing_reads);
                }
            }
        }
    }
}

impl FaultInjector {
    /// The other product's `number`th event, as a webhook delivers it.
    #[must_use]
    pub fn foreign_event(&self, number: u32) -> Option<Value> {
        let mut event = self.shared.foreign.object("events", number)?;
        self.pad(&mut event);
        Some(event)
    }
}
