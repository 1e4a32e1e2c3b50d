//! The part of a receiver's response that is kept to help find mistakes: its status, a few headers and the
//! beginning of its body. All of it is the receiver's own text and not to be trusted.

use domain::Timestamp;
use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};

/// Bytes of a body that are kept.
pub(super) const MAX_KEPT: usize = 2048;
/// Headers that are kept: they say who answered and why.
const HEADERS: [&str; 7] = [
    "content-type",
    "date",
    "location",
    "retry-after",
    "server",
    "www-authenticate",
    "x-request-id",
];
/// Characters of a header that are kept.
const MAX_OF_A_HEADER: usize = 200;

/// The kept part of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseSummary {
    /// When the request was sent.
    pub at: Timestamp,
    pub status_code: u16,
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// The beginning of its body.
    pub body: Box<str>,
    /// Whether the body goes on, or may go on.
    pub is_cut: bool,
}

pub(super) fn headers(all: &HeaderMap) -> Vec<(Box<str>, Box<str>)> {
    let named = HEADERS.iter().filter_map(|name| {
        let value = String::from_utf8_lossy(all.get(*name)?.as_bytes()).into_owned();
        let value: String = value.chars().take(MAX_OF_A_HEADER).map(visible).collect();
        Some(((*name).into(), value.into()))
    });
    named.collect()
}

/// A body's beginning as text. Invalid bytes and control characters are replaced.
pub(super) fn body(bytes: &[u8], is_cut: bool) -> Box<str> {
    let text = String::from_utf8_lossy(bytes);
    let text = if is_cut {
        // Drops a character that was cut in two.
        text.trim_end_matches(char::REPLACEMENT_CHARACTER)
    } else {
        &text
    };
    let printable = |char| match char {
        '\n' | '\t' => char,
        _ => visible(char),
    };
    let text = text.replace("\r\n", "\n");
    text.chars().map(printable).collect::<String>().into()
}

fn visible(char: char) -> char {
    if char.is_control() {
        char::REPLACEMENT_CHARACTER
    } else {
        char
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn any_body_becomes_text() {
        assert_eq!(&*body(b"a\r\n\tb", false), "a\n\tb");
        assert_eq!(
            &*body(b"a\x1b[2J\xffb\0", false),
            "a\u{fffd}[2J\u{fffd}b\u{fffd}"
        );
        assert_eq!(&*body("aé".as_bytes().split_last().unwrap().1, true), "a");
    }

    #[test]
    fn few_headers_are_kept_and_little_of_each() {
        let mut all = HeaderMap::new();
        all.insert("set-cookie", HeaderValue::from_static("a=secret"));
        all.insert("server", HeaderValue::from_str(&"x".repeat(5000)).unwrap());
        all.insert("date", HeaderValue::from_bytes(b"\xff").unwrap());
        let kept = headers(&all);
        let names: Vec<&str> = kept.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["date", "server"]);
        assert_eq!(&*kept[0].1, "\u{fffd}");
        assert_eq!(kept[1].1.len(), MAX_OF_A_HEADER);
    }
}
