//! Untrusted text: user ids, names, e-mail addresses, notes. Its direction does not affect the page, and invisible
//! characters are escaped.

use domain::text::Meta;
use maud::{Markup, html};
use serde_json::{Map, Value};
use wire::visible::visible;

const MAX_BRIEF: usize = 60;

/// Untrusted text, as part of a page.
pub(super) fn verbatim(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}

/// The beginning of untrusted text where a page has many of them, which may be long.
pub(super) fn brief(text: &str) -> Markup {
    let cut = text.char_indices().nth(MAX_BRIEF);
    let begin = cut.and_then(|(end, _)| text.get(..end));
    html! { (verbatim(begin.unwrap_or(text))) @if begin.is_some() { "…" } }
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
