//! Turns a deserializer's error into a refusal that names the input at fault and says what was
//! expected of it. It never repeats what was there instead: that may be a secret in the wrong place.

use super::error::Error;

/// The refusal for a deserializer's message about the value at this path. The path `.` is the whole
/// input, which the refusal calls `whole`.
pub fn invalid_input(path: &str, message: &str, whole: &str) -> Error {
    let inside = |field: &str| match path {
        "." => field.to_owned(),
        path => format!("{path}.{field}"),
    };
    let named = |start: &str| message.strip_prefix(start)?.strip_suffix('`');
    if let Some(field) = named("duplicate field `") {
        let param = inside(field);
        let message = format!("{param} appears twice.");
        return Error::invalid(param, message);
    }
    if let Some(field) = named("missing field `") {
        let param = inside(field);
        let message = format!("{param} is missing.");
        return Error::invalid(param, message);
    }
    match (message.rsplit_once(", expected "), path) {
        (Some((_, expected)), ".") => {
            Error::malformed(format!("{whole} has to be {}.", plain(expected)))
        }
        (Some((_, expected)), path) => {
            Error::invalid(path, format!("{path} has to be {}.", plain(expected)))
        }
        (None, ".") => Error::malformed(format!("{whole} does not have the expected shape.")),
        (None, path) => Error::invalid(path, format!("{path} is not valid.")),
    }
}

/// What serde expects, in words for people who do not write Rust.
fn plain(expected: &str) -> &str {
    match expected {
        "i64" => "a whole number",
        "u32" => "a whole number from 0 to 4294967295",
        "a sequence" => "a list",
        "a map" => "an object",
        other => other,
    }
}
