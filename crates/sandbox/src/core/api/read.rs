//! Reading objects: a single one, or a page of them, newest first.

use crate::core::prelude::*;

const USUAL: usize = 10;
const MAX_LIMIT: usize = 100;

pub(super) fn one<T: StoredObject>(db: &Database, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let object: T = db.find(id)?;
    Ok(object.view(db))
}

/// Changes an object, refusing further parameters, and returns it.
pub(crate) fn changed<T: StoredObject>(
    db: &mut Database,
    params: &Params,
    id: &str,
    change: impl FnOnce(T, &mut Database) -> Result<T>,
) -> Result<Value> {
    params.finish()?;
    let object = db.find(id)?;
    let object = change(object, db)?;
    Ok(object.view(db))
}

pub(super) fn delete<T: StoredObject>(
    db: &mut Database,
    params: &Params,
    id: &str,
) -> Result<Value> {
    params.finish()?;
    db.find::<T>(id)?;
    Ok(deleted::<T>(db, id))
}

/// Forgets an object and returns the response of a deletion.
pub(super) fn deleted<T: StoredObject>(db: &mut Database, id: &str) -> Value {
    db.forget::<T>(id);
    json!({ "id": id, "object": T::NAME, "deleted": true })
}

pub(crate) struct Paging {
    pub(crate) limit: usize,
    pub(crate) after: Option<String>,
    pub(crate) before: Option<String>,
}

impl Paging {
    pub(crate) fn read(params: &Params) -> Result<Self> {
        let limit = params.integer::<usize>("limit")?.unwrap_or(USUAL);
        let message = format!("Invalid limit: must be between 1 and {MAX_LIMIT}");
        Refusal::param("limit", message).when(!(1..=MAX_LIMIT).contains(&limit))?;
        Ok(Self {
            limit,
            after: params.text("starting_after")?,
            before: params.text("ending_before")?,
        })
    }

    pub(crate) fn views(&self, objects: &[Value], url: &str) -> Result<Value> {
        let id = |view: &Value| Some(view.get("id")?.as_str()?.to_owned());
        self.page(objects.iter().collect(), id, Value::clone, url)
    }

    /// The page of `objects`, whose ids and views the closures give.
    fn page<'a, T>(
        &self,
        objects: Vec<&'a T>,
        id: impl Fn(&T) -> Option<String>,
        view: impl Fn(&'a T) -> Value,
        url: &str,
    ) -> Result<Value> {
        let place = |wanted: &Option<String>, param: &str| {
            let place = objects.iter().position(|object| id(object) == *wanted);
            let none = || Refusal::no_such("object", wanted.as_deref().unwrap_or_default());
            place.ok_or_else(|| none().of_param(param))
        };
        let from = match &self.after {
            None => 0,
            after => place(after, "starting_after")?.saturating_add(1),
        };
        let to = match &self.before {
            None => objects.len(),
            before => place(before, "ending_before")?,
        };
        let between = objects.get(from..to.max(from)).unwrap_or_default();
        let skipped = match self.before {
            Some(_) => between.len().saturating_sub(self.limit),
            None => 0,
        };
        let shown = between.iter().skip(skipped).take(self.limit);
        let data = shown.map(|object| view(object)).collect();
        Ok(list(data, between.len() > self.limit, url))
    }
}

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

/// A page of the matching objects, filtered by the list's parameters.
pub(super) fn some<T: StoredObject>(
    db: &Database,
    params: &Params,
    path: &str,
    rules: &[&'static str],
    pass: impl Fn(&T) -> bool,
) -> Result<Value> {
    let mut filters = Vec::new();
    for rule in rules {
        filters.extend(filter(params, rule)?);
    }
    let paging = Paging::read(params)?;
    let (least, most) = created(params)?;
    params.finish()?;
    let in_time = |object: &T| (least..=most).contains(&object.head().created);
    let matches = |object: &T| {
        // Texts and numbers always become JSON.
        let stored = serde_json::to_value(object).unwrap_or_default();
        filters
            .iter()
            .all(|(field, values)| match stored.pointer(field) {
                Some(value) => values.contains(value),
                None => object
                    .view(db)
                    .pointer(field)
                    .is_some_and(|value| values.contains(value)),
            })
    };
    let all = filters.is_empty();
    let listed =
        db.newest(|object: &T| in_time(object) && pass(object) && (all || matches(object)));
    let id = |object: &T| Some(object.head().id.clone());
    let url = format!("/v1/{path}");
    paging.page(listed, id, |object: &T| object.view(db), &url)
}

/// The filter of a rule, as the field's path and its allowed values, if the parameter was sent. A rule `name` compares
/// a text with that field, `name=a|b` one of these words, `name?` a flag, and `names[]=name` several texts.
fn filter(params: &Params, rule: &'static str) -> Result<Option<(String, Vec<Value>)>> {
    let at = |field: &str| format!("/{}", field.replace('[', "/").replace(']', ""));
    let (name, rest) = rule.split_once('=').unwrap_or((rule, ""));
    if let Some(name) = name.strip_suffix('?') {
        let flag = params.flag(name)?;
        return Ok(flag.map(|flag| (at(name), vec![flag.into()])));
    }
    if let Some(name) = name.strip_suffix("[]") {
        let texts: Vec<Value> = params.list(name)?.into_iter().map(Value::from).collect();
        return Ok((!texts.is_empty()).then(|| (at(rest), texts)));
    }
    let text = match rest {
        "" => params.text(name)?,
        words => {
            let words: Vec<&str> = words.split('|').collect();
            params.word(name, &words)?.map(str::to_owned)
        }
    };
    Ok(text.map(|text| (at(name), vec![text.into()])))
}
