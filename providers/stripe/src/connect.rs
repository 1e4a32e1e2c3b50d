//! What every connection to or from a provider has in common, whoever opens it.

use std::net::IpAddr;

use reqwest::{ClientBuilder, Url, redirect};

/// How an address is reached: all addresses of one kind are reached alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    plain: bool,
    loopback: bool,
}

impl Kind {
    /// The kind of an address.
    #[must_use]
    pub fn of(url: &Url) -> Self {
        Self {
            plain: url.scheme() == "http",
            loopback: is_loopback(url),
        }
    }

    /// Whether it is this machine's own.
    #[must_use]
    pub const fn is_loopback(self) -> bool {
        self.loopback
    }

    /// A client to addresses of this kind. It follows no redirects: that would hand what is sent to
    /// whoever is named.
    pub fn client(self) -> ClientBuilder {
        // Refused only where one is chosen already; any will do.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = reqwest::Client::builder().redirect(redirect::Policy::none());
        if self.plain {
            // Without TLS no certificate authorities have to be there.
            builder = builder.tls_certs_only([]);
        }
        if self.loopback {
            // No proxy reaches this machine's own addresses.
            builder = builder.no_proxy();
        }
        builder
    }
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_from_other_addresses() {
        for (url, loopback) in [
            ("http://127.0.0.1:8787/x", true),
            ("http://[::1]:1", true),
            ("http://localhost", true),
            ("https://api.stripe.com", false),
            ("http://127.0.0.1.example", false),
        ] {
            assert_eq!(is_loopback(&url.parse().unwrap()), loopback, "{url}");
        }
    }
}
