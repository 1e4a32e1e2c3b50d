//! The OpenAPI document of the administration.

use serde_json::{Value, json};

use super::{PREFIX, routes};
use crate::http::openapi::{Interface, list_of};

const INTERFACE: Interface = Interface {
    title: "Scrip administration",
    description: "Projects, API keys, products, prices and webhooks. Sign in with the administrator's token as a \
        bearer token. Lists are complete, except those with a `nextCursor`. In a PATCH, a field that is left out stays as it is, and null \
        clears what can be cleared.",
    base: PREFIX,
    keys: &[("administrator", "The administrator's token.")],
};

/// The document that is served at `openapi.json` beside the routes.
#[must_use]
pub fn document() -> Value {
    let mut document = INTERFACE.document(&routes().into_openapi());
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        // A project's requests go to its own cell.
        if !path.contains("{projectId}") {
            let operations = item.as_object_mut().into_iter().flatten();
            operations.for_each(|(_, operation)| take_cell(operation));
        }
    }
    document
}

/// Adds the parameter by which the processes of several cells know whose request it is.
fn take_cell(operation: &mut Value) {
    let cell = json!({
        "name": "cell", "in": "query", "required": false, "schema": { "type": "integer", "minimum": 0, "maximum": i16::MAX },
        "description": "Where the processes have several cells: the one that answers. Without it, the lowest.",
    });
    if let Some(parameters) = list_of(operation, "parameters") {
        parameters.push(cell);
    }
}
