//! The fields of an action: a form or a JSON object of a few fields, by name.

use std::collections::BTreeMap;

use axum::http::header;

use super::Sent;
use crate::core::prelude::*;

const MAX_CHARS: usize = 512;

/// Reads a body of `allowed` fields; empty ones are left out.
pub(super) fn fields((headers, body): &Sent, allowed: &[&str]) -> Result<Params> {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok());
    // A body that begins with a brace is JSON: a form does not.
    let json = kind.is_some_and(|kind| kind.starts_with("application/json"))
        || body.trim_ascii_start().starts_with(b"{");
    let pairs = match json {
        true => from_json(body)?,
        false => url::form_urlencoded::parse(body).into_owned().collect(),
    };
    let mut filled = Vec::new();
    for (name, value) in pairs {
        if !allowed.contains(&name.as_str()) {
            let message = format!("Received unknown parameter: {name}");
            return Err(Refusal::param(name, message).with_code("parameter_unknown"));
        }
        Refusal::param(&name, "This value is too long.").when(value.chars().count() > MAX_CHARS)?;
        let value = value.trim().to_owned();
        if !value.is_empty() {
            filled.push((name, value));
        }
    }
    Params::new(filled)
}

fn from_json(body: &[u8]) -> Result<Vec<(String, String)>> {
    if body.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let refusal = |_| Refusal::invalid("The body is not a JSON object.");
    let fields: BTreeMap<String, Value> = serde_json::from_slice(body).map_err(refusal)?;
    let texts = fields.into_iter().map(|(name, value)| match value {
        Value::Null => Ok((name, String::new())),
        Value::String(text) => Ok((name, text)),
        Value::Bool(flag) => Ok((name, flag.to_string())),
        Value::Number(number) => Ok((name, number.to_string())),
        Value::Array(_) | Value::Object(_) => Err(Refusal::param(
            name,
            "A text, number or boolean is expected.",
        )),
    });
    texts.collect()
}
