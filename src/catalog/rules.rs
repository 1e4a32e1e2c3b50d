//! The bounds of what an administrator may write. Each answers with the input at fault.

use std::collections::BTreeSet;

use domain::{MAX_CREDITS, text::Feature};
use url::{Host, Url};

use super::Error;

/// So that any document fits one append of the log.
const MAX_FEATURES: usize = 100;
const MAX_ORIGINS: usize = 100;
/// A DNS name has at most 253 characters; scheme and port come on top.
const MAX_ORIGIN_LENGTH: usize = 300;

/// 1 to `max` characters, not only spaces, no control characters.
pub(super) fn text(param: &str, text: &str, max: usize) -> Result<(), Error> {
    let fits = !text.trim().is_empty() && text.chars().count() <= max;
    if fits && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Error::invalid(
        param,
        format!("{param} has 1 to {max} characters and no control characters."),
    ))
}

/// The same where there is a text at all.
pub(super) fn optional_text(param: &str, value: Option<&str>, max: usize) -> Result<(), Error> {
    value.map_or(Ok(()), |value| text(param, value, max))
}

/// 0 to 2^53 - 1.
pub(super) fn whole(param: &str, number: i64) -> Result<(), Error> {
    within(param, number, 0, MAX_CREDITS)
}

/// The same, as the smaller number that it then is.
pub(super) fn bounded(param: &str, number: i64, least: i64, most: i64) -> Result<u32, Error> {
    within(param, number, least, most)?;
    u32::try_from(number).map_err(|_| Error::invalid(param, format!("{param} is too large.")))
}

/// `least` to `most`.
pub(super) fn within(param: &str, number: i64, least: i64, most: i64) -> Result<(), Error> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(Error::invalid(
        param,
        format!("{param} is a whole number from {least} to {most}."),
    ))
}

/// Three capitals, as in ISO 4217. Which currencies there are is the payment provider's affair.
pub(super) fn currency(text: &str) -> Result<(), Error> {
    if text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Ok(());
    }
    Err(Error::invalid(
        "currency",
        "currency is an ISO 4217 code in capitals, such as EUR.",
    ))
}

/// Feature slugs, each once.
pub(super) fn features(slugs: Vec<String>) -> Result<BTreeSet<Feature>, Error> {
    if slugs.len() > MAX_FEATURES {
        let message = format!("A price unlocks at most {MAX_FEATURES} features.");
        return Err(Error::invalid("features", message));
    }
    let read = slugs.into_iter().enumerate().map(|(at, slug)| {
        Feature::new(slug).map_err(|error| Error::invalid(format!("features[{at}]"), error.0))
    });
    read.collect()
}

/// Origins in their normal form, each once, in the order given.
pub(super) fn origins(texts: &[String]) -> Result<Vec<String>, Error> {
    if texts.len() > MAX_ORIGINS {
        let message = format!("A project allows at most {MAX_ORIGINS} origins.");
        return Err(Error::invalid("allowedOrigins", message));
    }
    let mut seen = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        let origin = origin(text).ok_or_else(|| {
            Error::invalid(
                format!("allowedOrigins[{at}]"),
                "An origin is https://host or https://host:port; http only on loopback.",
            )
        })?;
        if !seen.contains(&origin) {
            seen.push(origin);
        }
    }
    Ok(seen)
}

/// Scheme, host and port and nothing else. A redirect must be `https`, or `http` on loopback, with
/// an allowlist or without: any other entry would match nothing.
fn origin(text: &str) -> Option<String> {
    if text.len() > MAX_ORIGIN_LENGTH || text.contains(['*', '?', '#', '@', '\\']) {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let allowed = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
    (allowed && url.path() == "/").then(|| url.origin().ascii_serialization())
}

/// Whether an address leads to the very machine that opens it.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_kept_in_their_normal_form() {
        let typed = [
            "https://Shop.Example:443",
            "https://shop.example/",
            "http://localhost:3000",
        ];
        let kept = origins(&typed.map(str::to_owned)).unwrap();
        assert_eq!(kept, ["https://shop.example", "http://localhost:3000"]);
        assert_eq!(origin("http://[::1]:80").unwrap(), "http://[::1]");
    }

    #[test]
    fn anything_but_an_origin_is_refused() {
        for typed in [
            "",
            "shop.example",
            "https://",
            "http://shop.example",
            "https://shop.example/pay",
            "https://*.example",
            "https://u@shop.example",
            "https://shop.example?x=1",
            "ftp://a",
            "https://shop.example#x",
            "javascript:alert(1)",
            "http://10.0.0.1",
            "null",
        ] {
            assert_eq!(origin(typed), None, "{typed}");
        }
        let Err(Error::Invalid { param, .. }) = origins(&["https://a".into(), "b".into()]) else {
            panic!("the second is no origin");
        };
        assert_eq!(param, "allowedOrigins[1]");
    }

    #[test]
    fn currencies_are_three_capitals() {
        assert!(currency("EUR").is_ok());
        for typed in ["eur", "EU", "EURO", "E1R", "€€€", ""] {
            assert!(currency(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn texts_have_bounds() {
        assert!(text("name", &"é".repeat(200), 200).is_ok());
        for typed in ["", "   ", "a\nb", "a\u{0}"] {
            assert!(text("name", typed, 200).is_err(), "{typed:?}");
        }
        assert!(text("name", &"x".repeat(201), 200).is_err());
    }

    #[test]
    fn a_bad_feature_is_named_by_its_place() {
        let slugs = vec!["export.pdf".to_owned(), "no spaces".to_owned()];
        let Err(Error::Invalid { param, .. }) = features(slugs) else {
            panic!("a slug has no spaces")
        };
        assert_eq!(param, "features[1]");
        let twice = features(vec!["a".to_owned(), "a".to_owned()]).unwrap();
        assert_eq!(twice.len(), 1);
    }
}
