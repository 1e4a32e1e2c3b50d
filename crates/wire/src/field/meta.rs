//! The caller's note on an operation: a JSON object of at most 4 KiB, kept as text without
//! insignificant space.

use std::borrow::Cow;

use api_types::schema;
use domain::text::{MAX_META_BYTES, Meta};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, Unexpected},
};
use serde_json::value::RawValue;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

/// Deepest nesting of a note; more would break those who read the ledger.
const MAX_DEPTH: usize = 64;

/// A note that was checked and made compact.
#[derive(Debug, Clone)]
pub struct MetaObject(pub Meta);

impl<'de> Deserialize<'de> for MetaObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        read(raw.get())
            .map(Self)
            .map_err(|wanted| D::Error::invalid_value(Unexpected::Other("meta"), &wanted))
    }
}

impl PartialSchema for MetaObject {
    fn schema() -> RefOr<Schema> {
        schema::Meta::schema()
    }
}

impl ToSchema for MetaObject {
    fn name() -> Cow<'static, str> {
        "Meta".into()
    }
}

/// Checks a note and makes it compact, or says what was expected.
fn read(raw: &str) -> Result<Meta, &'static str> {
    const SMALL: &str = "an object of at most 4 KiB";
    if !raw.starts_with('{') {
        return Err("an object");
    }
    let compact = compact(raw).ok_or("an object nested at most 64 deep")?;
    if compact.len() > MAX_META_BYTES {
        return Err(SMALL);
    }
    // The parser that took this text out did not decode its escapes: they may be lone surrogates.
    let escapes = compact.contains("\\u");
    if escapes && serde_json::from_str::<serde_json::Value>(&compact).is_err() {
        return Err("an object whose strings are Unicode");
    }
    Meta::new(compact).map_err(|_| SMALL)
}

/// The same value without space between its tokens; `None`: it is nested too deep. The text is valid
/// JSON already.
fn compact(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len().min(MAX_META_BYTES));
    let mut depth: usize = 0;
    // Within a string, whether the character before was an unpaired backslash.
    let mut string: Option<bool> = None;
    for character in raw.chars() {
        match (&mut string, character) {
            (Some(escaped @ true), _) => *escaped = false,
            (Some(escaped), '\\') => *escaped = true,
            (Some(_), '"') => string = None,
            (Some(_), _) => {}
            (None, ' ' | '\t' | '\n' | '\r') => continue,
            (None, '"') => string = Some(false),
            (None, '{' | '[') => depth = depth.saturating_add(1),
            (None, '}' | ']') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        if depth > MAX_DEPTH {
            return None;
        }
        text.push(character);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, serde_json::Error> {
        let read = serde_json::from_str(text);
        read.map(|MetaObject(meta)| meta.as_str().to_owned())
    }

    #[test]
    fn space_goes_and_texts_stay() {
        let text = r#" { "a b" : [ 1.50 , true ] , "q\" {" : "\\" , "é" : "\u0041 \n" } "#;
        assert_eq!(
            read(text).unwrap(),
            r#"{"a b":[1.50,true],"q\" {":"\\","é":"\u0041 \n"}"#
        );
    }

    #[test]
    fn only_objects_of_four_kibibytes_unicode_and_some_depth() {
        for text in [
            "1",
            "[]",
            "\"{}\"",
            "true",
            r#"{"a":"\ud800"}"#,
            r#"{"\udc00":1}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let of = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
        assert!(read(&of(4096)).is_ok());
        assert!(read(&of(4097)).is_err());
        assert!(read(&format!("{{\"a\":{}1{}}}", "[".repeat(63), "]".repeat(63))).is_ok());
        assert!(read(&format!("{{\"a\":{}1{}}}", "[".repeat(64), "]".repeat(64))).is_err());
    }
}
