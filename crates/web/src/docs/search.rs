//! The index that the pages' script searches: every section of every page, and every operation of the references.

use serde_json::{Value, json};

use super::{
    markdown::headings,
    pages::PAGES,
    reference::{Reference, operations},
};

/// `[{page, title, url, text}]` as JSON.
pub(super) fn index(references: &[(Reference, Value)]) -> String {
    let mut entries = Vec::new();
    for page in PAGES {
        for section in headings(page.text) {
            let url = match section.is_title() {
                true => format!("/docs/{}", page.name),
                false => format!("/docs/{}#{}", page.name, section.id),
            };
            let entry = json!({ "page": page.title(), "title": section.text, "url": url, "text": section.body });
            entries.push(entry);
        }
    }
    for (reference, document) in references {
        for operation in operations(document) {
            let url = format!("/docs/{}#{}", reference.name, operation.text("operationId"));
            let route = format!(
                "{} {}{}",
                operation.method.to_uppercase(),
                reference.base,
                operation.path
            );
            let text = format!("{route} {}", operation.text("description").replace('`', ""));
            entries.push(
                json!({ "page": reference.title, "title": operation.text("summary"), "url": url, "text": text }),
            );
        }
    }
    Value::Array(entries).to_string()
}
