//! The page for people, from the document for programs. Whatever comes from the document is
//! escaped.

use std::{
    fmt::{self, Write},
    sync::LazyLock,
};

use serde_json::{Map, Value};

use crate::html::Escaped;

const HEAD: &str = include_str!("page.head.html");
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The whole page.
pub(super) fn render(document: &Value) -> String {
    let mut page = String::with_capacity(128 * 1024);
    // Writing to a string cannot fail.
    let _: fmt::Result = write(&mut page, document);
    page
}

fn write(page: &mut String, document: &Value) -> fmt::Result {
    page.push_str(HEAD);
    let operations = operations(document);
    page.push_str("<nav>");
    for tag in tags(&operations) {
        write!(page, "<h2>{}</h2><ul>", Escaped(tag))?;
        for operation in operations.iter().filter(|operation| operation.tag() == tag) {
            write!(
                page,
                "<li><a href=\"#{}\">{}</a></li>",
                Escaped(operation.id()),
                Escaped(operation.text("summary")),
            )?;
        }
        page.push_str("</ul>");
    }
    page.push_str("<h2>Schemas</h2><ul>");
    let schemas = object(document.pointer("/components/schemas"));
    for name in schemas.keys() {
        write!(
            page,
            "<li><a href=\"#schema-{0}\">{0}</a></li>",
            Escaped(name)
        )?;
    }
    page.push_str("</ul></nav><main><h1>Scrip API</h1>");
    let introduction = document
        .pointer("/info/description")
        .and_then(Value::as_str);
    write!(page, "{}", Prose(introduction.unwrap_or_default()))?;
    page.push_str(
        "<p>For programs: <a href=\"/api/openapi.json\">/api/openapi.json</a>. All paths below \
         begin with <code>/api/v1</code>.</p>",
    );
    for operation in &operations {
        operation.write(page)?;
    }
    for (name, schema) in schemas {
        write!(
            page,
            "<section id=\"schema-{0}\"><h2>{0}</h2>",
            Escaped(name)
        )?;
        write_schema(page, schema)?;
        page.push_str("</section>");
    }
    page.push_str("</main>\n");
    Ok(())
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
    // As in the contents beside them; within a tag as the document has them.
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
        self.value
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn id(&self) -> &'a str {
        self.text("operationId")
    }

    fn tag(&self) -> &'a str {
        self.value
            .pointer("/tags/0")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn write(&self, page: &mut String) -> fmt::Result {
        write!(
            page,
            "<section id=\"{}\"><h2>{}</h2><p class=\"route\"><b>{}</b> <code>{}</code></p>{}",
            Escaped(self.id()),
            Escaped(self.text("summary")),
            self.method.to_uppercase(),
            Escaped(self.path),
            Prose(self.text("description")),
        )?;
        let secret_only = self.value.get("security").is_some_and(|security| {
            !security
                .as_array()
                .into_iter()
                .flatten()
                .any(|one| one.get("publishable").is_some())
        });
        page.push_str(if secret_only {
            "<p>Needs a secret key.</p>"
        } else {
            "<p>Takes a publishable or a secret key.</p>"
        });
        self.write_parameters(page)?;
        if let Some(schema) = self
            .value
            .pointer("/requestBody/content/application~1json/schema")
        {
            write!(page, "<h3>Body</h3><p>{}</p>", Type(schema))?;
        }
        page.push_str("<h3>Answers</h3><table>");
        for (status, response) in object(self.value.get("responses")) {
            let description = response.get("description").and_then(Value::as_str);
            write!(page, "<tr><th>{}</th><td>", Escaped(status))?;
            write!(page, "{}", Prose(description.unwrap_or_default()))?;
            if let Some(schema) = response.pointer("/content/application~1json/schema") {
                write!(page, "{}", Type(schema))?;
            }
            let headers: Vec<_> = object(response.get("headers"))
                .keys()
                .map(String::as_str)
                .collect();
            write!(
                page,
                "<p class=\"headers\">{}</p></td></tr>",
                Escaped(&headers.join(", "))
            )?;
        }
        page.push_str("</table></section>");
        Ok(())
    }

    fn write_parameters(&self, page: &mut String) -> fmt::Result {
        let Some(parameters) = self.value.get("parameters").and_then(Value::as_array) else {
            return Ok(());
        };
        page.push_str("<h3>Parameters</h3><table>");
        for parameter in parameters {
            let text = |name| {
                parameter
                    .get(name)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            write!(
                page,
                "<tr><th>{}</th><td>{}</td><td>{}{}</td></tr>",
                Escaped(text("name")),
                Escaped(text("in")),
                Prose(text("description")),
                Type(parameter.get("schema").unwrap_or(&Value::Null)),
            )?;
        }
        page.push_str("</table>");
        Ok(())
    }
}

fn write_schema(page: &mut String, schema: &Value) -> fmt::Result {
    let description = schema.get("description").and_then(Value::as_str);
    write!(page, "{}", Prose(description.unwrap_or_default()))?;
    let parts = ["allOf", "oneOf", "anyOf"]
        .iter()
        .filter_map(|name| schema.get(name)?.as_array());
    for part in parts.flatten() {
        if part.get("properties").is_some() {
            write_schema(page, part)?;
        } else {
            write!(page, "<p>{}</p>", Type(part))?;
        }
    }
    let required: Vec<_> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = object(schema.get("properties"));
    if properties.is_empty() {
        return Ok(());
    }
    page.push_str("<table>");
    for (name, property) in properties {
        let description = property.get("description").and_then(Value::as_str);
        let optional = if required.contains(&name.as_str()) {
            ""
        } else {
            " (optional)"
        };
        write!(
            page,
            "<tr><th>{}</th><td>{}{optional}</td><td>{}</td></tr>",
            Escaped(name),
            Type(property),
            Prose(description.unwrap_or_default()),
        )?;
    }
    page.push_str("</table>");
    Ok(())
}

fn object(value: Option<&Value>) -> &Map<String, Value> {
    static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    value.and_then(Value::as_object).unwrap_or(&EMPTY)
}

/// A schema in a few words, with a link where it has a name.
struct Type<'a>(&'a Value);

impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(schema) = self;
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return write!(f, "<a href=\"#schema-{0}\">{0}</a>", Escaped(name));
        }
        if let Some(parts) = ["oneOf", "anyOf", "allOf"]
            .iter()
            .find_map(|name| schema.get(name)?.as_array())
        {
            for (position, part) in parts.iter().enumerate() {
                write!(
                    f,
                    "{}{}",
                    if position == 0 { "" } else { " or " },
                    Self(part)
                )?;
            }
            return Ok(());
        }
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "array" => {
                write!(
                    f,
                    "list of {}",
                    Self(schema.get("items").unwrap_or(&Value::Null))
                )
            }
            Some(Value::String(kind)) => write!(f, "{}", Escaped(kind)),
            Some(Value::Array(kinds)) => {
                let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).collect();
                write!(f, "{}", Escaped(&kinds.join(" or ")))
            }
            _ => Ok(()),
        }
    }
}

/// Text with its paragraphs and its `code`.
struct Prose<'a>(&'a str);

impl fmt::Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for paragraph in self
            .0
            .split("\n\n")
            .filter(|paragraph| !paragraph.trim().is_empty())
        {
            f.write_str("<p>")?;
            for (position, part) in paragraph.split('`').enumerate() {
                if position.is_multiple_of(2) {
                    write!(f, "{}", Escaped(part))?;
                } else {
                    write!(f, "<code>{}</code>", Escaped(part))?;
                }
            }
            f.write_str("</p>")?;
        }
        Ok(())
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
            Prose("a <b> `c & d`").to_string(),
            "<p>a &lt;b&gt; <code>c &amp; d</code></p>"
        );
    }
}
