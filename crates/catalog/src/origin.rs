//! Typed origins, parsed by the same parser that checks redirects.

use domain::catalog::{Origin, Refusal};
use url::{Host, Url};

/// Parses typed origins, and returns them in their normal form.
/// # Errors
/// [`Refusal::Invalid`] for the first that is not an origin: it has a path, for example, or is `http` and not loopback.
pub fn origins(typed: &[String]) -> Result<Vec<Origin>, Refusal> {
    let read = typed.iter().enumerate();
    read.map(|(at, text)| origin(text).ok_or_else(|| Origin::refusal(at)))
        .collect()
}

fn origin(text: &str) -> Option<Origin> {
    // Characters that the parser would ignore, or that an origin does not have.
    if text.contains(['*', '?', '#', '@', '\\']) {
        return None;
    }
    let url = Url::parse(text).ok().filter(|url| url.path() == "/")?;
    Origin::new(&url.origin().ascii_serialization())
}

/// Whether a URL's host is loopback: `localhost`, a name below it, or a loopback IP address.
pub fn is_loopback(url: &Url) -> bool {
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

    fn normal(text: &str) -> Option<String> {
        origin(text).map(|origin| origin.as_str().to_owned())
    }

    #[test]
    fn origins_are_kept_in_their_normal_form() {
        for (typed, kept) in [
            ("https://Shop.Example:443", "https://shop.example"),
            ("https://shop.example/", "https://shop.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://[::1]:80", "http://[::1]"),
            ("https://Bücher.example", "https://xn--bcher-kva.example"),
            ("https://[2001:DB8::0001]", "https://[2001:db8::1]"),
        ] {
            assert_eq!(normal(typed).as_deref(), Some(kept));
        }
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
            assert_eq!(normal(typed), None, "{typed}");
        }
        assert_eq!(
            origins(&["https://a".into(), "b".into()]),
            Err(Origin::refusal(1))
        );
    }

    #[test]
    fn an_origin_and_a_redirect_agree_on_what_is_loopback() {
        for host in [
            "localhost",
            "shop.localhost",
            "127.0.0.1",
            "127.1",
            "[::1]",
            "localhost.example",
            "10.0.0.1",
            "[::2]",
        ] {
            let typed = format!("http://{host}");
            let url = Url::parse(&typed).unwrap();
            assert_eq!(normal(&typed).is_some(), is_loopback(&url), "{host}");
        }
    }
}
