//! How objects look to callers: the shape of the API version that this program's own client asks
//! for, complete enough for the official libraries. Shows what is kept and decides nothing.

use serde_json::{Value, json};

use super::{books::Books, records::Operation};

mod billing;
mod catalog;
mod endpoints;
mod payments;
mod portal;
mod schedules;
mod sessions;

pub(crate) use billing::invoice_url;
pub(crate) use portal::portal_url;
pub(crate) use sessions::{checkout_url, line_items};

/// An object that callers see.
pub(crate) trait View {
    fn view(&self, books: &Books) -> Value;
}

/// A whole list in an answer.
fn inner_list(data: Vec<Value>, url: &str) -> Value {
    json!({
        "object": "list",
        "total_count": data.len(),
        "data": data,
        "has_more": false,
        "url": url,
    })
}

/// One object of two: the macro takes only so many fields at once.
fn joined(mut first: Value, second: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (first.as_object_mut(), second) {
        fields.extend(more);
    }
    first
}

impl View for Operation {
    /// Never asked for: it is no object of the API.
    fn view(&self, _: &Books) -> Value {
        self.body.clone()
    }
}
