//! Lists of the account in which there is more than the shop's own, and lists of events that are late or
//! in no order.

use serde_json::Value;

use super::{
    Answer, Form, Request,
    foreign::{Foreign, number},
    settings::Unkindness,
};
use crate::core::{
    api::{Paging, created},
    params::Params,
};

/// Pages of the shop's own that are read at most.
const MOST_PAGES: usize = 1000;
/// Fields of a request that choose a page, and none of the objects.
pub(super) const PAGING: [&str; 4] = ["limit", "starting_after", "ending_before", "created"];

/// A list that is not answered as it is kept.
pub(super) struct Listing<'a> {
    settings: &'a Unkindness,
    foreign: &'a Foreign,
    request: Request<'a>,
    /// Such as `charges`.
    kind: &'a str,
    paging: Paging,
    /// Of the list of events; none: all.
    types: Vec<&'a String>,
    since: i64,
    until: i64,
}

impl<'a> Listing<'a> {
    /// `None`: the list is as it is kept.
    pub(super) fn of(
        settings: &'a Unkindness,
        foreign: &'a Foreign,
        request: &Request<'a>,
    ) -> Option<Self> {
        let kind = request.path.strip_prefix("/v1/")?;
        let is_of_events = kind == "events";
        let is_late = settings.events_late_seconds > 0 || settings.events_shuffled;
        let shared = foreign.sales > 0 && (is_of_events || Foreign::has_any(kind));
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
        // What is wrong with it is said by who keeps it.
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

    /// The page that is asked for, the newest first; at one instant the other product's stand in front.
    pub(super) fn page<E>(
        &self,
        ask: &mut impl FnMut(&str, &str, &Form) -> Result<Answer, E>,
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

    /// What of the other product may be on the page: there may be far more of it than anybody asks for.
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
        // The one that it goes on after, and one more than fit.
        let most = match self.paging.before {
            Some(_) => usize::MAX,
            None => self.paging.limit.saturating_add(2),
        };
        objects.take(most).collect()
    }

    /// All of the shop's own, the newest first, or why there is no list.
    fn own<E>(
        &self,
        ask: &mut impl FnMut(&str, &str, &Form) -> Result<Answer, E>,
    ) -> Result<Result<Vec<Value>, Answer>, E> {
        let mut form = self.request.form.clone();
        form.remove("starting_after");
        form.insert("limit".into(), "100".into());
        let mut own: Vec<Value> = Vec::new();
        for _ in 0..MOST_PAGES {
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
            let event = Foreign::kind(number);
            return self.types.iter().any(|kind| *kind == event);
        }
        Foreign::has(self.kind, number)
    }

    /// Whether the list has heard of one of the shop's own by now.
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

/// The same for the same name, and like chance otherwise: FNV-1a.
fn hash(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    text.bytes().fold(2_166_136_261, step)
}
