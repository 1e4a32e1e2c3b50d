//! Stripe's lists: a page of objects, the newest first.

use crate::core::prelude::*;

const USUAL: usize = 10;
const MOST: usize = 100;

/// Which page.
pub(super) struct Paging {
    pub(super) limit: usize,
    pub(super) after: Option<String>,
    pub(super) before: Option<String>,
}

impl Paging {
    pub(super) fn read(params: &Params) -> Result<Self> {
        let limit = params.integer::<usize>("limit")?.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            let message = format!("Invalid limit: must be between 1 and {MOST}");
            return Err(Refusal::param("limit", message));
        }
        Ok(Self {
            limit,
            after: params.text("starting_after")?,
            before: params.text("ending_before")?,
        })
    }

    /// The page of what is there as callers see it.
    pub(super) fn views(&self, found: &[Value], url: &str) -> Result<Value> {
        fn id(view: &Value) -> &str {
            let id = view.get("id").and_then(Value::as_str);
            id.unwrap_or_default()
        }
        self.page(found.iter().collect(), id, Value::clone, url)
    }

    /// The page of what is there, each with its identifier.
    pub(super) fn page<'a, T>(
        &self,
        found: Vec<&'a T>,
        id: impl Fn(&T) -> &str,
        view: impl Fn(&'a T) -> Value,
        url: &str,
    ) -> Result<Value> {
        let place = |wanted: &str, param: &str| {
            let place = found.iter().position(|object| id(object) == wanted);
            place.ok_or_else(|| Refusal::no_such("object", wanted).of_param(param))
        };
        let from = match &self.after {
            Some(after) => place(after, "starting_after")?.saturating_add(1),
            None => 0,
        };
        let to = match &self.before {
            Some(before) => place(before, "ending_before")?,
            None => found.len(),
        };
        let between = found.get(from..to.max(from)).unwrap_or_default();
        let skipped = match self.before {
            Some(_) => between.len().saturating_sub(self.limit),
            None => 0,
        };
        let data: Vec<Value> = between
            .iter()
            .skip(skipped)
            .take(self.limit)
            .map(|object| view(object))
            .collect();
        Ok(json!({
            "object": "list",
            "has_more": data.len() < between.len(),
            "data": data,
            "url": url,
        }))
    }
}
