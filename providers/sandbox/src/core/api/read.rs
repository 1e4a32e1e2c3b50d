//! Reading objects, one or all.

use super::{list::Paging, range::Range};
use crate::core::prelude::*;

/// One by its identifier.
pub(super) fn one<T: Kept>(books: &Books, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let object: T = books.find(id)?;
    Ok(object.view(books))
}

/// A page of those that pass.
pub(super) fn some<T: Kept>(
    books: &Books,
    params: &Params,
    url: &str,
    pass: impl Fn(&T) -> bool,
) -> Result<Value> {
    let paging = Paging::read(params)?;
    let created = Range::read(params, "created")?;
    params.finish()?;
    let found = books.newest(|object: &T| created.has(object.head().created) && pass(object));
    let view = |object: &T| object.view(books);
    paging.page(found, |object| &object.head().id, view, url)
}

/// A page of those that say of themselves what the parameters of these names ask for: `name`, or `name=a|b`
/// where only these words are possible.
pub(super) fn by<T: Kept>(
    books: &Books,
    params: &Params,
    path: &str,
    names: &[&str],
) -> Result<Value> {
    let mut wanted = Vec::new();
    for name in names {
        let (name, words) = name.split_once('=').unwrap_or((name, ""));
        let text = params.text(name)?;
        let possible = |text: &&String| words.split('|').any(|word| word == *text);
        if !words.is_empty() && text.as_ref().filter(possible) != text.as_ref() {
            let message = format!(
                "Invalid {name}: must be one of {}",
                words.replace('|', ", ")
            );
            return Err(Refusal::param(name, message));
        }
        wanted.extend(text.map(|text| (name, text)));
    }
    some::<T>(books, params, &format!("/v1/{path}"), |object| {
        let said = match wanted.is_empty() {
            true => Value::Null,
            // Texts and numbers alone: this cannot fail.
            false => serde_json::to_value(object).unwrap_or_default(),
        };
        wanted.iter().all(|(name, text)| match said.get(*name) {
            Some(Value::String(word)) => word == text,
            Some(Value::Bool(flag)) => flag.to_string() == *text,
            _ => false,
        })
    })
}

/// A list within an object.
pub(super) fn inner<T: Kept>(books: &Books, found: &[&T], url: &str) -> Value {
    let data: Vec<Value> = found.iter().map(|object| object.view(books)).collect();
    json!({ "object": "list", "has_more": false, "data": data, "url": url })
}
