//! Lists that also contain the other product's objects, and lists of late or unordered events.

use serde_json::Value;

use super::{
    FaultProfile, Parameters, Request,
    foreign::{ForeignSales, number},
};
use crate::core::{
    api::{Paging, created},
    params::Params,
    refusal::Answer,
};

/// The most pages of the shop's own objects to read.
const MAX_PAGES: usize = 1000;
/// Parameters that choose a page rather than filter objects.
pub(super) const PAGING: [&str; 4] = ["limit", "starting_after", "ending_before", "created"];

pub(super) struct Listing<'a> {
    settings: &'a FaultProfile,
    foreign: &'a ForeignSales,
    request: Request<'a>,
    /// Path of the list, for example `charges`.
    kind: &'a str,
    paging: Paging,
    /// The types of events to list; empty for all.
    types: Vec<&'a String>,
    since: i64,
    until: i64,
}

impl<'a> Listing<'a> {
    /// The list that a request reads; `None` if it is not rewritten.
    pub(super) fn of(
        settings: &'a FaultProfile,
        foreign: &'a ForeignSales,
        request: &Request<'a>,
    ) -> Option<Self> {
        let kind = request.path.strip_prefix("/v1/")?;
        let is_of_events = kind == "events";
        let is_late = settings.events_late_seconds > 0 || settings.events_shuffled;
        let shared = foreign.sales > 0 && (is_of_events || ForeignSales::has_any(kind));
        if !(shared || is_of_events && is_late) {
            return None;
        }
        let is_of_all = |name: &String| {
            let field = name.split('[').next().unwrap_or_default();
            PAGING.contains(&field)
                || field == "expand"
                || is_of_events && field.starts_with("type")
        };
        if !request.form.keys().all(is_of_all) {
            return None;
        }
        // Wrong parameters are refused by the account itself.
        let params = Params::new(request.form.clone()).ok()?;
        let (since, until) = created(&params).ok()?;
        let paging = Paging::read(&params).ok()?;
        let types = request.form.iter();
        let types = types
            .filter(|(name, _)| name.starts_with("type"))
            .map(|(_, kind)| kind);
        Some(Self {
            settings,
            foreign,
            request: *request,
            kind,
            paging,
            types: types.collect(),
            since,
            until,
        })
    }

    /// The requested page, newest first; of the same instant the other product's objects come first.
    pub(super) fn page<E>(
        &self,
        ask: &mut impl FnMut(&str, &str, &Parameters) -> Result<Answer, E>,
    ) -> Result<Answer, E> {
        let mut own = match self.own(ask)? {
            Ok(own) => own,
            Err(refusal) => return Ok(refusal),
        };
        if self.settings.events_shuffled && self.kind == "events" {
            own.sort_by_key(|event| (std::cmp::Reverse(made_at(event)), hash(id(event))));
        }
        own.retain(|event| self.is_listed(event));
        let mut all = self.others(&own);
        all.extend(own);
        all.sort_by_key(|object| std::cmp::Reverse(made_at(object)));
        Ok(self.paging.views(&all, self.request.path).into())
    }

    /// The other product's objects that may be on the page; all would be too many.
    fn others(&self, own: &[Value]) -> Vec<Value> {
        let least = self.foreign.since(self.since);
        let mut most = self.foreign.since(self.until.saturating_add(1));
        if let Some(after) = &self.paging.after {
            let place = own.iter().find(|object| id(object) == after);
            most = most.min(match (number(after), place) {
                (Some(number), _) => number.saturating_add(1),
                (None, Some(place)) => self.foreign.since(made_at(place)),
                (None, None) => most,
            });
        }
        let wanted = (least..most.max(least))
            .rev()
            .filter(|number| self.wants(*number));
        let objects = wanted.filter_map(|number| self.foreign.object(self.kind, number));
        // The one before the page, and one more than fits.
        let most = match self.paging.before {
            Some(_) => usize::MAX,
            None => self.paging.limit.saturating_add(2),
        };
        objects.take(most).collect()
    }

    /// All of the shop's own objects, newest first, or the refusal to list them.
    fn own<E>(
        &self,
        ask: &mut impl FnMut(&str, &str, &Parameters) -> Result<Answer, E>,
    ) -> Result<Result<Vec<Value>, Answer>, E> {
        let mut form = self.request.form.clone();
        form.remove("starting_after");
        form.insert("limit".into(), "100".into());
        let mut own: Vec<Value> = Vec::new();
        for _ in 0..MAX_PAGES {
            let mut answer = ask("GET", self.request.path, &form)?;
            if answer.status >= 300 {
                return Ok(Err(answer));
            }
            let Some(Value::Array(page)) = answer.body.get_mut("data").map(Value::take) else {
                break;
            };
            own.extend(page);
            let last = own.last().map(|object| id(object).to_owned());
            match last.filter(|_| answer.body.get("has_more") == Some(&Value::Bool(true))) {
                Some(last) => form.insert("starting_after".into(), last),
                None => break,
            };
        }
        own.retain(|object| (self.since..=self.until).contains(&made_at(object)));
        Ok(Ok(own))
    }

    /// Whether a sale of the other product is in this list.
    fn wants(&self, number: u32) -> bool {
        if !self.types.is_empty() {
            let event = ForeignSales::kind(number);
            return self.types.iter().any(|kind| *kind == event);
        }
        ForeignSales::has(self.kind, number)
    }

    /// Whether one of the shop's own objects is listed by now.
    fn is_listed(&self, object: &Value) -> bool {
        let most = self.settings.events_late_seconds;
        if self.kind != "events" || most == 0 {
            return true;
        }
        let late = &self.settings.late_types;
        let kind = object["type"].as_str().unwrap_or_default();
        let by = match (late.is_empty(), late.contains(kind)) {
            (true, _) => hash(id(object))
                .checked_rem(most.saturating_add(1))
                .unwrap_or(0),
            (false, true) => most,
            (false, false) => 0,
        };
        made_at(object).saturating_add(i64::from(by)) <= self.request.now
    }
}

fn made_at(object: &Value) -> i64 {
    object["created"].as_i64().unwrap_or(0)
}

fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap_or_default()
}

/// A pseudo-random number for each text: FNV-1a.
fn hash(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    text.bytes().fold(2_166_136_261, step)
}
