//! Reading objects: one, or a page of them, the newest first.

use crate::core::prelude::*;

const USUAL: usize = 10;
const MOST: usize = 100;

/// One by its identifier.
pub(super) fn one<T: Kept>(books: &Books, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let object: T = books.find(id)?;
    Ok(object.view(books))
}

/// Forgets one.
pub(super) fn delete<T: Kept>(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    books.find::<T>(id)?;
    Ok(deleted::<T>(books, id))
}

/// What is said of one that is no more.
pub(super) fn deleted<T: Kept>(books: &mut Books, id: &str) -> Value {
    books.forget::<T>(id);
    json!({ "id": id, "object": T::NAME, "deleted": true })
}

/// Which page.
pub(crate) struct Paging {
    pub(crate) limit: usize,
    pub(crate) after: Option<String>,
    pub(crate) before: Option<String>,
}

impl Paging {
    pub(crate) fn read(params: &Params) -> Result<Self> {
        let limit = params.integer::<usize>("limit")?.unwrap_or(USUAL);
        let message = format!("Invalid limit: must be between 1 and {MOST}");
        Refusal::param("limit", message).when(!(1..=MOST).contains(&limit))?;
        Ok(Self {
            limit,
            after: params.text("starting_after")?,
            before: params.text("ending_before")?,
        })
    }

    /// The page of what is there as callers see it.
    pub(super) fn views(&self, found: &[Value], url: &str) -> Result<Value> {
        let id = |view: &Value| Some(view.get("id")?.as_str()?.to_owned());
        self.page(found.iter().collect(), id, Value::clone, url)
    }

    /// The page of what is there, each with its identifier.
    fn page<'a, T>(
        &self,
        found: Vec<&'a T>,
        id: impl Fn(&T) -> Option<String>,
        view: impl Fn(&'a T) -> Value,
        url: &str,
    ) -> Result<Value> {
        let place = |wanted: &Option<String>, param: &str| {
            let place = found.iter().position(|object| id(object) == *wanted);
            let none = || Refusal::no_such("object", wanted.as_deref().unwrap_or_default());
            place.ok_or_else(|| none().of_param(param))
        };
        let from = match &self.after {
            None => 0,
            after => place(after, "starting_after")?.saturating_add(1),
        };
        let to = match &self.before {
            None => found.len(),
            before => place(before, "ending_before")?,
        };
        let between = found.get(from..to.max(from)).unwrap_or_default();
        let skipped = match self.before {
            Some(_) => between.len().saturating_sub(self.limit),
            None => 0,
        };
        let shown = between.iter().skip(skipped).take(self.limit);
        let data = shown.map(|object| view(object)).collect();
        Ok(list(data, between.len() > self.limit, url))
    }
}

/// A part of a list.
pub(crate) fn list(data: Vec<Value>, has_more: bool, url: &str) -> Value {
    json!({ "object": "list", "has_more": has_more, "data": data, "url": url })
}

/// `created[gte]` and the like, or one instant: from one second to another, both included.
pub(crate) fn created(params: &Params) -> Result<(i64, i64)> {
    let bound = |name: &str| params.integer::<i64>(&format!("created[{name}]"));
    if let Some(exactly) = params.integer("created")? {
        return Ok((exactly, exactly));
    }
    let after = bound("gt")?.map(|after| after.saturating_add(1));
    let before = bound("lt")?.map(|before| before.saturating_sub(1));
    let least = after.into_iter().chain(bound("gte")?).max();
    let most = before.into_iter().chain(bound("lte")?).min();
    Ok((least.unwrap_or(i64::MIN), most.unwrap_or(i64::MAX)))
}

/// A page of those that pass.
pub(super) fn some<T: Kept>(
    books: &Books,
    params: &Params,
    url: &str,
    pass: impl Fn(&T) -> bool,
) -> Result<Value> {
    let paging = Paging::read(params)?;
    let (least, most) = created(params)?;
    params.finish()?;
    let in_time = |object: &T| (least..=most).contains(&object.head().created);
    let found = books.newest(|object: &T| in_time(object) && pass(object));
    let id = |object: &T| Some(object.head().id.clone());
    paging.page(found, id, |object: &T| object.view(books), url)
}

/// A page of those that say of themselves what the parameters of these names ask for: `name`, or `name=a|b`
/// where only these words are possible.
pub(super) fn by<T: Kept>(
    books: &Books,
    params: &Params,
    path: &str,
    names: &[&'static str],
) -> Result<Value> {
    let mut wanted = Vec::new();
    for name in names {
        let text = match name.split_once('=') {
            None => (*name, params.text(name)?),
            Some((name, words)) => {
                let words: Vec<&str> = words.split('|').collect();
                (name, params.word(name, &words)?.map(str::to_owned))
            }
        };
        wanted.extend(text.1.map(|said| (text.0, said)));
    }
    some::<T>(books, params, &format!("/v1/{path}"), |object| {
        let said = match wanted.is_empty() {
            true => Value::Null,
            // Texts and numbers alone: this cannot fail.
            false => serde_json::to_value(object).unwrap_or_default(),
        };
        wanted
            .iter()
            .all(|(name, text)| said.get(*name).is_some_and(|said| said == text.as_str()))
    })
}
