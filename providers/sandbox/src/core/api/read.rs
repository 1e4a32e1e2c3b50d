//! Reading objects, one or all.

use serde_json::Value;

use super::list::Paging;
use crate::core::{
    books::{Desk, Kept},
    params::Params,
    records::Event,
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
    params.finish()?;
    let found = desk.books.newest(pass);
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

/// A page of events.
pub(super) fn events(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let kind = params.text("type")?;
    let kinds = params.list("types")?;
    some::<Event>(desk, params, "/v1/events", |event| {
        kind.as_ref().is_none_or(|kind| *kind == event.kind)
            && (kinds.is_empty() || kinds.contains(&event.kind))
    })
}
