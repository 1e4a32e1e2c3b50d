//! Language tags, checked for their form.

use utoipa::openapi::ObjectBuilder;

use super::{FromText, Text};

/// Maximum length of a tag; real ones have at most 35 characters (RFC 5646, section 4.4.1).
const MAX_CHARS: usize = 100;

/// A well-formed language tag (BCP 47), or `auto`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language(pub String);

/// A language tag as callers send it.
pub type LanguageText = Text<Language>;

impl FromText for Language {
    const NAME: &'static str = "Locale";
    const WANTED: &'static str = "a language tag such as en, pt-BR or zh-Hant-TW, or auto";

    fn from_text(text: &str) -> Option<Self> {
        let fits = text.len() <= MAX_CHARS && (text == "auto" || is_well_formed(text));
        fits.then(|| Self(text.to_owned()))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string
            .description(Some(
                "A language tag (BCP 47) of at most 100 characters, or auto.",
            ))
            .examples(["en-US"])
    }
}

fn is_well_formed(text: &str) -> bool {
    let mut subtags = text.split('-').peekable();
    let language = subtags.next().unwrap_or_default();
    if !language.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let mut private = match language.len() {
        1 if language.eq_ignore_ascii_case("x") || language.eq_ignore_ascii_case("i") => true,
        2 | 3 => false,
        _ => return false,
    };
    if private && subtags.peek().is_none() {
        return false;
    }
    while let Some(part) = subtags.next() {
        let fits = (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
        if !fits {
            return false;
        }
        if private || part.len() > 1 {
            continue;
        }
        private = part.eq_ignore_ascii_case("x");
        // An extension has at least one subtag.
        match subtags.peek() {
            Some(next) if private || next.len() > 1 => {}
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_every_form_are_read_and_what_is_none_is_refused() {
        let read = "en auto en-US zh-Hant-TW es-419 sl-rozaj-biske DE-de en-u-hc-h12 de-x-a x-anything \
            i-klingon en-a-bb-x-a-b";
        for tag in read.split(' ') {
            assert!(Language::from_text(tag).is_some(), "{tag}");
        }
        let long = format!("en{}", "-abcdefgh".repeat(12));
        let refused =
            "e english en_US en- -en en--US e1 en-toolongapart en-u en-u- en-a-b x auto-DE 日本";
        for tag in refused.split(' ').chain(["", "en US", long.as_str()]) {
            assert!(Language::from_text(tag).is_none(), "{tag}");
        }
    }
}
