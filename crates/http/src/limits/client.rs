//! Who a request comes from, as far as limits care: an address, or a network that one subscriber
//! owns.
//!
//! Read by hand: `axum-client-ip` takes the right-most hop as it is and knows no list of proxies, so
//! that behind two of them every client would be the outer one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// An IPv4 address or an IPv6 /64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// An IPv4 address.
    V4(Ipv4Addr),
    /// The upper half of an IPv6 address.
    V6(u64),
}

/// Whether a peer that is not a trusted proxy sends `X-Forwarded-For`.
pub(super) fn speaks_for_others(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> bool {
    let peer = peer.to_canonical();
    headers.contains_key(X_FORWARDED_FOR) && !trusted.iter().any(|net| net.contains(&peer))
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            // The shift leaves 64 bits.
            IpAddr::V6(address) => Self::V6(u64::try_from(address.to_bits() >> 64).unwrap_or(0)),
        }
    }
}

impl std::fmt::Display for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::V4(address) => address.fmt(f),
            Self::V6(_) => write!(f, "{}/64", self.address()),
        }
    }
}

impl Client {
    /// An address of this client: of a network the first.
    pub fn address(&self) -> IpAddr {
        match self {
            Self::V4(address) => (*address).into(),
            Self::V6(network) => Ipv6Addr::from_bits(u128::from(*network) << 64).into(),
        }
    }

    /// The first client of the site that this one is at: a line has up to an IPv6 /48, and would be as many clients as
    /// it likes.
    pub const fn site(self) -> Self {
        match self {
            Self::V4(address) => Self::V4(address),
            Self::V6(network) => Self::V6(network & !0xffff),
        }
    }

    /// All clients, where a limit does not distinguish them.
    pub const ANY: Self = Self::V4(Ipv4Addr::UNSPECIFIED);

    /// The peer, or the right-most hop of `X-Forwarded-For` that is not one of our proxies when the
    /// peer is one. A hop that cannot be read ends the search: what lies left of it cannot be
    /// trusted.
    pub fn of(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> Self {
        let is_trusted = |address: IpAddr| trusted.iter().any(|net| net.contains(&address));
        let mut client = peer.to_canonical();
        if trusted.is_empty() || !is_trusted(client) {
            return client.into();
        }
        let lines = headers.get_all(X_FORWARDED_FOR).iter().rev();
        for hop in lines.flat_map(|line| line.as_bytes().rsplit(|&byte| byte == b',')) {
            let Some(address) = parse_hop(hop) else { break };
            client = address.to_canonical();
            if !is_trusted(client) {
                break;
            }
        }
        client.into()
    }
}

/// An address, with or without a port: `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1`, `[2001:db8::1]:80`.
fn parse_hop(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim();
    if let Ok(address) = hop.parse::<IpAddr>() {
        return Some(address);
    }
    if let Ok(address) = hop.parse::<std::net::SocketAddr>() {
        return Some(address.ip());
    }
    hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str]) -> Client {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(X_FORWARDED_FOR, line.parse().unwrap());
        }
        Client::of(peer.parse().unwrap(), &headers, &trusted)
    }

    fn v4(text: &str) -> Client {
        Client::V4(text.parse().unwrap())
    }

    #[test]
    fn a_stranger_cannot_claim_another_address() {
        assert_eq!(client("192.0.2.1", &["203.0.113.9"]), v4("192.0.2.1"));
    }

    #[test]
    fn the_right_most_untrusted_hop_counts() {
        assert_eq!(
            client("10.0.0.1", &["1.1.1.1, 203.0.113.9, 10.2.3.4"]),
            v4("203.0.113.9")
        );
        assert_eq!(
            client("10.0.0.1", &["1.1.1.1", "203.0.113.9", "10.2.3.4"]),
            v4("203.0.113.9")
        );
        assert_eq!(
            client("::ffff:10.0.0.1", &["203.0.113.9:8080"]),
            v4("203.0.113.9")
        );
    }

    #[test]
    fn an_unreadable_hop_ends_the_search() {
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9, garbage"]),
            v4("10.0.0.1")
        );
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9, x, 10.9.9.9"]),
            v4("10.9.9.9")
        );
        assert_eq!(client("10.0.0.1", &[]), v4("10.0.0.1"));
    }

    #[test]
    fn ipv6_clients_are_one_per_64() {
        let one = client("fd00::1", &["2001:db8:1:2:3:4:5:6"]);
        assert_eq!(one, client("fd00::1", &["[2001:db8:1:2::9]:443"]));
        let next = client("fd00::1", &["2001:db8:1:3::9"]);
        assert_ne!(one, next);
        assert_eq!(one.site(), next.site());
        assert_ne!(one.site(), client("fd00::1", &["2001:db8:2:2::9"]).site());
    }
}
