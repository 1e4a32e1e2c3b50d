//! Untrusted text: user ids, names, e-mail addresses, notes. Its direction does not affect the page, and invisible
//! characters are escaped.

use domain::text::Meta;
use maud::{Markup, html};
use serde_json::{Map, Value};
use wire::visible::visible;

/// Untrusted text, as part of a page.
pub(super) fn verbatim(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}

/// A caller's `meta`: without brackets if it is flat, else as it was sent.
pub(super) fn meta(meta: &Meta) -> Markup {
    verbatim(&in_words(meta.as_str()).unwrap_or_else(|| meta.as_str().to_owned()))
}

fn in_words(meta: &str) -> Option<String> {
    let fields: Map<String, Value> = serde_json::from_str(meta).ok()?;
    let pairs = fields.iter().map(|(name, value)| match value {
        Value::String(text) => Some(format!("{name}: {text}")),
        Value::Array(_) | Value::Object(_) => None,
        _ => Some(format!("{name}: {value}")),
    });
    Some(pairs.collect::<Option<Vec<_>>>()?.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn flat_objects_are_shown_without_brackets() {
        let words = |meta| in_words(meta).unwrap_or_default();
        assert_eq!(words(r#"{"feature":"draw","n":3}"#), "feature: draw · n: 3");
        assert_eq!(in_words(r#"{"a":{"b":1}}"#), None);
    }
}
