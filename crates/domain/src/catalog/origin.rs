//! Origins (scheme, host and port) to which a publishable key may send a buyer back. Typed addresses are parsed at the
//! edge, by the parser that also reads redirects; this module checks the result.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Refusal;

/// A DNS name has at most 253 characters; scheme and port come on top.
const MAX_LENGTH: usize = 300;

/// An origin in its normal form: `https://host` or `https://host:port`, in lower case, without the
/// scheme's own port; `http` on loopback only. Any other entry of an allowlist would match nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// `None` if the text is not an origin in its normal form.
    pub fn new(normal: &str) -> Option<Self> {
        let (scheme, authority) = normal.split_once("://")?;
        let (host, port) = split(authority)?;
        let allowed = match scheme {
            "https" => true,
            "http" => is_loopback(host),
            _ => false,
        };
        let own_port = if scheme == "https" { 443 } else { 80 };
        let fits = allowed && normal.len() <= MAX_LENGTH && is_host(host) && port != Some(own_port);
        fits.then(|| Self(normal.to_owned()))
    }

    /// The refusal of a list entry that is not an origin.
    #[must_use]
    pub fn refusal(at: usize) -> Refusal {
        Refusal::invalid(
            format!("allowedOrigins[{at}]"),
            "An origin is https://host or https://host:port; http only on loopback.",
        )
    }

    /// The origin as a browser writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Splits host and port. An IPv6 address is in brackets.
fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let colon = authority.rfind(':');
    let Some(colon) = colon.filter(|_| !authority.ends_with(']')) else {
        return Some((authority, None));
    };
    let (host, port) = authority.split_at_checked(colon)?;
    let port = port.strip_prefix(':')?;
    let number: u16 = port.parse().ok()?;
    // No sign, no leading zero.
    (number.to_string() == port).then_some((host, Some(number)))
}

fn is_host(host: &str) -> bool {
    if let Some(address) = in_brackets(host) {
        let lower = !address.bytes().any(|byte| byte.is_ascii_uppercase());
        return lower && address.parse::<Ipv6Addr>().is_ok();
    }
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
    !host.is_empty() && host.bytes().all(fits)
}

fn is_loopback(host: &str) -> bool {
    if let Some(address) = in_brackets(host) {
        return address.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback());
    }
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

fn in_brackets(host: &str) -> Option<&str> {
    host.strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_https_or_loopback() {
        for normal in [
            "https://shop.example",
            "https://shop.example:8443",
            "https://xn--bcher-kva.example",
            "https://10.0.0.1",
            "https://[2001:db8::1]:8443",
            "http://localhost:3000",
            "http://shop.localhost",
            "http://127.0.0.1",
            "http://[::1]:8000",
        ] {
            assert_eq!(Origin::new(normal).unwrap().as_str(), normal);
        }
    }

    #[test]
    fn what_is_not_in_its_normal_form_is_none() {
        let long = format!("https://{}", "a".repeat(300));
        for text in [
            "",
            "null",
            "shop.example",
            "https://",
            "https://shop.example/",
            "https://Shop.example",
            "https://shop.example:443",
            "https://shop.example:",
            "https://shop.example:080",
            "https://shop.example:65536",
            "https://u@shop.example",
            "https://*.example",
            "https://[shop]",
            "https://[2001:DB8::1]",
            "http://shop.example",
            "http://10.0.0.1",
            "http://localhost:80",
            "http://localhost.example",
            "ftp://localhost",
            &long,
        ] {
            assert_eq!(Origin::new(text), None, "{text}");
        }
    }
}
