//! What a change of something stored changes, in a sentence's words.

use edge::audit::AuditEvent;
use serde::Serialize;
use serde_json::Value;

/// The most characters of a value.
const MAX_CHARS: usize = 200;

/// The fields that differ, with their former and their present values; `None`: nothing differs.
pub(crate) fn changes(before: &Value, after: &Value) -> Option<String> {
    let fields = after.as_object().into_iter().flatten();
    let changed = fields.filter(|(name, value)| before.get(name).unwrap_or(&Value::Null) != *value);
    let changed = changed.filter_map(|(name, value)| {
        let former = before.get(name).unwrap_or(&Value::Null);
        if former.is_object() && value.is_object() {
            return changes(former, value);
        }
        let name = camel_case(name);
        Some(format!("{name} {} -> {}", quoted(former), quoted(value)))
    });
    let changed: Vec<_> = changed.collect();
    (!changed.is_empty()).then(|| changed.join(", "))
}

/// What the log says of several changes at once.
pub(crate) fn event_of(sentences: &[String]) -> AuditEvent {
    match sentences.is_empty() {
        true => AuditEvent::DidNothing,
        false => AuditEvent::Did(sentences.join("; ")),
    }
}

/// The fields of something stored.
pub(crate) fn fields<T: Serialize>(stored: &T) -> Value {
    serde_json::to_value(stored).unwrap_or_default()
}

/// A name as the API has it.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        name + &initial.to_uppercase() + rest
    })
}

fn quoted(value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        other => {
            let text = text(other);
            let cut = if text.chars().count() > MAX_CHARS {
                "…"
            } else {
                ""
            };
            let shown: String = text.chars().take(MAX_CHARS).collect();
            format!("“{shown}{cut}”")
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.lines().collect::<Vec<_>>().join(", "),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
