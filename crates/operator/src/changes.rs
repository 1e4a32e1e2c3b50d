//! What a change of something stored changes, in a sentence's words.

use edge::audit::AuditEvent;
use serde::Serialize;
use serde_json::Value;

/// The most characters of a value.
const MAX_CHARS: usize = 200;
/// The settings that switch a kind of mails on or off.
const MAIL_KINDS: [&str; 4] = ["low_balance", "top_up_failed", "limit_reached", "receipt"];

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
    let mut fields = serde_json::to_value(stored).unwrap_or_default();
    // Of each kind of mails, the event after which it is sent is stored: it is on or off.
    let mails = fields.get_mut("mails").and_then(Value::as_object_mut);
    for (name, value) in mails.into_iter().flatten() {
        if MAIL_KINDS.contains(&name.as_str()) {
            *value = (!value.is_null()).into();
        }
    }
    fields
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
            let mut text = text(other);
            if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
                text.replace_range(end.., "…");
            }
            format!("“{text}”")
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
