//! The address of the service from outside, with which links to it begin.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use serde::{Deserialize, Deserializer, de::Error as _};
use url::{Position, Url};

/// Scheme, host and port, in their normal form and without a slash at the end: a path that begins
/// with one may be put behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// The URL of an address that the service listens on, as its own machine reaches it.
    pub fn local(address: SocketAddr) -> Self {
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let address = SocketAddr::new(ip, address.port());
        if address.port() == 80 {
            let text = address.to_string();
            return Self(format!("http://{}", text.trim_end_matches(":80")));
        }
        Self(format!("http://{address}"))
    }

    /// As text, without a slash at the end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads `https://HOST` or `http://HOST:PORT`, without a path; `None`: anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let url: Url = text.parse().ok()?;
        let origin = &url[..Position::BeforePath];
        // The parser repairs much; a repaired address is not what the operator meant.
        let as_meant = text.get(..8)?.contains("://")
            && !text.contains(['@', '?', '#', '\\'])
            && !text.contains(|c: char| c.is_control() || c.is_whitespace())
            && url.path() == "/";
        (as_meant && matches!(url.scheme(), "http" | "https")).then(|| Self(origin.into()))
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An empty text means none.
pub(super) fn empty_is_none<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<PublicUrl>, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() {
        return Ok(None);
    }
    PublicUrl::parse(&text).map(Some).ok_or_else(|| {
        D::Error::custom("public_url is https://HOST or http://HOST:PORT, without a path")
    })
}
