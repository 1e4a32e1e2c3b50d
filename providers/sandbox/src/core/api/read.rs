//! Reading objects, one or all.

use serde_json::{Value, json};

use super::{list::Paging, range::Range};
use crate::core::{
    books::{Books, Desk, Kept},
    params::Params,
    refusal::Refusal,
    views::View,
};

/// One by its identifier.
pub(super) fn one<T: Kept + View>(
    desk: &Desk<'_>,
    params: &Params,
    id: &str,
) -> Result<Value, Refusal> {
    params.finish()?;
    let object: T = desk.books.find(id)?;
    Ok(object.view(desk.books))
}

/// A page of those that pass.
pub(super) fn some<T: Kept + View>(
    desk: &Desk<'_>,
    params: &Params,
    url: &str,
    pass: impl Fn(&T) -> bool,
) -> Result<Value, Refusal> {
    let paging = Paging::read(params)?;
    let created = Range::read(params, "created")?;
    params.finish()?;
    let found = desk
        .books
        .newest(|object: &T| created.has(object.head().created) && pass(object));
    let view = |object: &T| object.view(desk.books);
    paging.page(found, |object| &object.head().id, view, url)
}

/// A page of all.
pub(super) fn all<T: Kept + View>(
    desk: &Desk<'_>,
    params: &Params,
    url: &str,
) -> Result<Value, Refusal> {
    some::<T>(desk, params, url, |_| true)
}

/// A list within an object.
pub(super) fn inner<T: View>(books: &Books, found: &[&T], url: &str) -> Value {
    let data: Vec<Value> = found.iter().map(|object| object.view(books)).collect();
    json!({ "object": "list", "has_more": false, "data": data, "url": url })
}
