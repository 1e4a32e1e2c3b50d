//! HTTP client settings by the kind of address, for all outgoing requests: calls, webhooks, the command line.

use std::{error::Error, iter, net::IpAddr};

use reqwest::{ClientBuilder, Url, redirect};

/// The innermost cause of an error, such as a refused connection.
#[must_use]
pub fn root_cause<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    iter::successors(Some(error), |error| (**error).source())
        .last()
        .unwrap_or(error)
}

/// What an address implies for its client: plain HTTP or TLS, this machine or another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressKind {
    plain: bool,
    loopback: bool,
}

impl AddressKind {
    /// The kind of an address.
    pub fn of(url: &Url) -> Self {
        Self {
            plain: url.scheme() == "http",
            loopback: is_loopback(url),
        }
    }

    /// Whether it is a loopback address of this machine.
    pub const fn is_loopback(self) -> bool {
        self.loopback
    }

    /// A client for addresses of this kind. It follows no redirects, which would send the request to another server.
    pub fn client(self) -> ClientBuilder {
        // Fails only where a crypto provider is installed already; any will do.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = reqwest::Client::builder().redirect(redirect::Policy::none());
        if self.plain {
            // Plain HTTP needs no certificate authorities on the machine.
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
    fn loopback_is_distinguished_from_other_addresses() {
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
