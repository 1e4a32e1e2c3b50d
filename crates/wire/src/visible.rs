//! Escapes untrusted text for display: characters that are invisible, or that reorder other text, are written out.

use std::borrow::Cow;

/// Whether a character cannot be seen, or changes how others are shown.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text as a person may take it to be: as it is, or in quotes if it begins or ends with a space, has characters that
/// are not seen, or is in quotes itself. Within quotes, those characters are written as `\u{202e}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| is_hidden(c) || (c.is_whitespace() && c != ' ');
    let looks_quoted = text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    if !looks_quoted && text.trim() == text && !text.chars().any(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut written = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => written.extend(['\\', c]),
            '\n' => written.push_str("\\n"),
            _ if is_odd(c) => written.extend(c.escape_unicode()),
            _ => written.push(c),
        }
    }
    written.push('"');
    Cow::Owned(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for plain in [
            "ann",
            "Ann B.",
            "a\"b",
            "\"",
            "Jörg",
            "王",
            "a\\u{202e}",
            "",
        ] {
            assert_eq!(visible(plain), plain);
        }
        for (odd, shown) in [
            ("A ", "\"A \""),
            (" A", "\" A\""),
            ("\u{a0}A", "\"\\u{a0}A\""),
            ("a\u{202e}b", "\"a\\u{202e}b\""),
            ("a\u{200b}", "\"a\\u{200b}\""),
            ("a\tb\nc\u{1b}", "\"a\\u{9}b\\nc\\u{1b}\""),
            ("\"A \"", "\"\\\"A \\\"\""),
            ("\\\u{feff}", "\"\\\\\\u{feff}\""),
        ] {
            assert_eq!(visible(odd), shown);
        }
    }
}
