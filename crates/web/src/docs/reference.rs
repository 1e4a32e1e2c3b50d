//! The API's reference for people, from the document for programs.

use std::sync::LazyLock;

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{frame, schema};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The whole page.
pub(super) fn render(document: &Value) -> String {
    let operations = operations(document);
    let schemas = object(document.pointer("/components/schemas"));
    let introduction = text(document.get("info"), "description");
    let main = html! {
        h1 { "Scrip API" }
        (prose(introduction))
        p {
            "For programs: " a href="/api/openapi.json" { "/api/openapi.json" }
            ". All paths below begin with " code { "/api/v1" } ". What each refusal means, and what to do: "
            a href="/docs/errors" { "errors" } "."
        }
        @for operation in &operations { (operation.shown()) }
        @for (name, schema) in schemas {
            section id={ "schema-" (name) } { h2 { (name) } (schema::table(schema)) }
        }
    };
    frame::page("Scrip API", &contents(&operations, schemas), &main)
}

fn contents(operations: &[Operation<'_>], schemas: &Map<String, Value>) -> Markup {
    html! {
        (frame::menu(None))
        @for tag in tags(operations) {
            h2 { (tag) }
            ul {
                @for operation in operations.iter().filter(|operation| operation.tag() == tag) {
                    li { a href={ "#" (operation.text("operationId")) } { (operation.text("summary")) } }
                }
            }
        }
        h2 { "Schemas" }
        ul {
            @for name in schemas.keys() { li { a href={ "#schema-" (name) } { (name) } } }
        }
    }
}

struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    value: &'a Value,
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let mut found = Vec::new();
    for (path, item) in object(document.get("paths")) {
        for method in METHODS {
            if let Some(value) = item.get(method) {
                found.push(Operation {
                    method,
                    path,
                    value,
                });
            }
        }
    }
    // In the order of the contents; within a tag, in that of the document.
    found.sort_by_key(Operation::tag);
    found
}

fn tags<'a>(operations: &[Operation<'a>]) -> Vec<&'a str> {
    let mut tags: Vec<_> = operations.iter().map(Operation::tag).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

impl<'a> Operation<'a> {
    fn text(&self, name: &str) -> &'a str {
        text(Some(self.value), name)
    }

    fn tag(&self) -> &'a str {
        let tag = self.value.pointer("/tags/0").and_then(Value::as_str);
        tag.unwrap_or_default()
    }

    fn takes_publishable(&self) -> bool {
        let keys = self.value.get("security").and_then(Value::as_array);
        let mut keys = keys.into_iter().flatten();
        keys.any(|key| key.get("publishable").is_some())
    }

    fn shown(&self) -> Markup {
        let body = "/requestBody/content/application~1json/schema";
        html! {
            section id=(self.text("operationId")) {
                h2 { (self.text("summary")) }
                p class="route" { b { (self.method.to_uppercase()) } " " code { (self.path) } }
                (prose(self.text("description")))
                p {
                    @if self.takes_publishable() { "Takes a publishable or a secret key." }
                    @else { "Needs a secret key." }
                }
                (self.parameters())
                @if let Some(schema) = self.value.pointer(body) {
                    h3 { "Body" }
                    p { (schema::name(schema)) }
                }
                h3 { "Answers" }
                table {
                    @for (status, response) in object(self.value.get("responses")) {
                        tr { th { (status) } td { (answer(response)) } }
                    }
                }
            }
        }
    }

    fn parameters(&self) -> Markup {
        let parameters = self.value.get("parameters").and_then(Value::as_array);
        html! {
            @if let Some(parameters) = parameters {
                h3 { "Parameters" }
                table {
                    @for parameter in parameters {
                        @let schema = parameter.get("schema");
                        tr {
                            th { (text(Some(parameter), "name")) }
                            td { (text(Some(parameter), "in")) }
                            td {
                                (prose(text(Some(parameter), "description")))
                                (prose(text(schema, "description")))
                                @if let Some(schema) = schema { (schema::name(schema)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn answer(response: &Value) -> Markup {
    let headers = object(response.get("headers")).keys();
    let headers: Vec<_> = headers.map(String::as_str).collect();
    html! {
        (prose(text(Some(response), "description")))
        @if let Some(schema) = response.pointer("/content/application~1json/schema") {
            (schema::name(schema))
        }
        p class="headers" { (headers.join(", ")) }
    }
}

/// A text of an object; empty where there is none.
pub(super) fn text<'a>(object: Option<&'a Value>, name: &str) -> &'a str {
    let text = object.and_then(|object| object.get(name)?.as_str());
    text.unwrap_or_default()
}

/// An object, or an empty one.
pub(super) fn object(value: Option<&Value>) -> &Map<String, Value> {
    static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    value.and_then(Value::as_object).unwrap_or(&EMPTY)
}

/// Text with its paragraphs and its `code`.
pub(super) fn prose(text: &str) -> Markup {
    let paragraphs = text.split("\n\n").filter(|text| !text.trim().is_empty());
    html! {
        @for paragraph in paragraphs {
            p {
                @for (position, part) in paragraph.split('`').enumerate() {
                    @if position.is_multiple_of(2) { (part) } @else { code { (part) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_every_route_and_loads_nothing() {
        let document = crate::api::description::document();
        let page = render(&document);
        for path in object(document.get("paths")).keys() {
            assert!(page.contains(&format!("<code>{path}</code>")), "{path}");
        }
        for loaded in [
            "<script", "src=", "<link", "@import", "url(", "http://", "https://",
        ] {
            assert!(!page.contains(loaded), "{loaded}");
        }
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            prose("a <b> `c & d`").into_string(),
            "<p>a &lt;b&gt; <code>c &amp; d</code></p>"
        );
    }
}
