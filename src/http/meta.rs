//! The caller's note on an operation: a JSON object of at most 4 KiB, kept as text without
//! insignificant space.

use domain::text::{MAX_META_BYTES, Meta};
use serde_json::value::RawValue;

use super::error::Error;

/// Deeper notes would choke the readers of the ledger.
const MAX_DEPTH: usize = 64;

/// Checks a note and makes it compact.
pub(crate) fn parse(meta: Option<&RawValue>) -> Result<Option<Meta>, Error> {
    let Some(raw) = meta else { return Ok(None) };
    let raw = raw.get();
    if !raw.starts_with('{') {
        return Err(Error::invalid("meta", "meta has to be an object."));
    }
    let compact = compact(raw)?;
    if compact.len() > MAX_META_BYTES {
        return Err(Error::invalid(
            "meta",
            "meta is a JSON object of at most 4 KiB.",
        ));
    }
    // The parser that cut this text out did not look into its escapes: they may be half surrogates.
    let escapes = compact.contains("\\u");
    if escapes && serde_json::from_str::<serde_json::Value>(&compact).is_err() {
        return Err(Error::invalid(
            "meta",
            "meta has a string that is not Unicode.",
        ));
    }
    Meta::new(compact)
        .map(Some)
        .map_err(|error| Error::text("meta", error))
}

/// The same value without space between its tokens. The text is valid JSON already.
fn compact(raw: &str) -> Result<String, Error> {
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
            return Err(Error::invalid("meta", "meta is nested at most 64 deep."));
        }
        text.push(character);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, Error> {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        parse(Some(raw)).map(|meta| meta.unwrap().as_str().to_owned())
    }

    #[test]
    fn space_goes_and_texts_stay() {
        let text = r#" { "a b" : [ 1.50 , true ] , "q\" {" : "\\" , "é" : "\u0041 \n" } "#;
        assert_eq!(
            read(text).unwrap(),
            r#"{"a b":[1.50,true],"q\" {":"\\","é":"\u0041 \n"}"#
        );
        assert_eq!(parse(None).unwrap(), None);
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
            assert_eq!(read(text).unwrap_err().param(), Some("meta"), "{text}");
        }
        let of = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
        assert!(read(&of(4096)).is_ok());
        assert!(read(&of(4097)).is_err());
        assert!(read(&format!("{{\"a\":{}1{}}}", "[".repeat(63), "]".repeat(63))).is_ok());
        assert!(read(&format!("{{\"a\":{}1{}}}", "[".repeat(64), "]".repeat(64))).is_err());
    }
}
