//! The OpenAPI document of the administration.

use serde_json::Value;

use super::{PREFIX, operations};
use crate::http::{openapi::Interface, operation::ADMINISTRATOR};

const INTERFACE: Interface = Interface {
    title: "Scrip administration",
    description: "Projects, API keys, products, prices and webhooks. Sign in with the administrator's token as a \
        bearer token. Lists are complete, except those with a `nextCursor`. In a PATCH, a field that is left out stays as it is, and null \
        clears what can be cleared.",
    base: PREFIX,
    keys: &[(ADMINISTRATOR, "The administrator's token.")],
};

/// The document that is served at `openapi.json` beside the routes.
#[must_use]
pub fn document() -> Value {
    INTERFACE.document(operations())
}
