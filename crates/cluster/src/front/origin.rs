//! Where a process is reached by the others.

use std::{fmt, net::SocketAddr, str::FromStr};

use axum::http::{
    Uri,
    uri::{Authority, InvalidUriParts, PathAndQuery, Scheme},
};

/// Scheme, host and port of a process: `http://10.0.0.2:8787`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    scheme: Scheme,
    authority: Authority,
}

/// An address that is not the origin of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an address of a process is http://HOST:PORT or https://HOST:PORT, without a path")]
pub struct InvalidOrigin;

impl Origin {
    /// The address of a path there.
    /// # Errors
    /// Only for `*`, which is no path and no address.
    pub(super) fn with(&self, path: PathAndQuery) -> Result<Uri, InvalidUriParts> {
        let mut parts = axum::http::uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path);
        Uri::from_parts(parts)
    }
}

impl FromStr for Origin {
    type Err = InvalidOrigin;

    fn from_str(text: &str) -> Result<Self, InvalidOrigin> {
        let parts = text.parse::<Uri>().map_err(|_| InvalidOrigin)?.into_parts();
        let known = |scheme: &Scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme);
        let bare = parts.path_and_query.is_none_or(|path| path == "/");
        let scheme = parts.scheme.filter(known).ok_or(InvalidOrigin)?;
        let authority = parts.authority.ok_or(InvalidOrigin)?;
        // A name and a password would be sent to nobody, but be logged.
        if !bare || authority.as_str().contains('@') {
            return Err(InvalidOrigin);
        }
        Ok(Self { scheme, authority })
    }
}

impl TryFrom<SocketAddr> for Origin {
    type Error = InvalidOrigin;

    /// A process that does not speak TLS.
    fn try_from(address: SocketAddr) -> Result<Self, InvalidOrigin> {
        format!("http://{address}").parse()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_a_host_and_a_port() {
        for text in [
            "http://10.0.0.2:8787",
            "https://a.example",
            "http://[::1]:1",
        ] {
            assert_eq!(text.parse::<Origin>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "/",
            "10.0.0.2:8787",
            "ftp://a",
            "http://a/b",
            "http://a?b",
            "http://u:p@a",
        ] {
            assert_eq!(text.parse::<Origin>(), Err(InvalidOrigin), "{text}");
        }
    }
}
