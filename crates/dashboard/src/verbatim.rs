//! What strangers chose: user ids, names, e-mail addresses, notes. Within a page it keeps its direction to itself, and
//! what would not be seen is written out.

use domain::text::Meta;
use maud::{Markup, html};
use serde_json::{Map, Value};
use wire::visible::visible;

/// A stranger's text.
pub(super) fn verbatim(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}

/// A caller's `meta`: what it says, where that is short and simple; else as it was sent.
pub(super) fn meta(meta: &Meta) -> Markup {
    verbatim(&in_words(meta.as_str()).unwrap_or_else(|| meta.as_str().to_owned()))
}

fn in_words(meta: &str) -> Option<String> {
    let fields: Map<String, Value> = serde_json::from_str(meta).ok()?;
    let said = fields.iter().map(|(name, value)| match value {
        Value::String(text) => Some(format!("{name}: {text}")),
        Value::Array(_) | Value::Object(_) => None,
        _ => Some(format!("{name}: {value}")),
    });
    Some(said.collect::<Option<Vec<_>>>()?.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn what_is_simple_is_said_without_brackets() {
        let said = |meta| in_words(meta).unwrap_or_default();
        assert_eq!(said(r#"{"feature":"draw","n":3}"#), "feature: draw · n: 3");
        assert_eq!(in_words(r#"{"a":{"b":1}}"#), None);
    }
}
