//! Where webhooks may go: to public addresses only, unless the operator allows others. The check is on the
//! address that is connected to, so that a name that resolves to a public address first and to a private one
//! later (DNS rebinding) leads nowhere.

use std::{
    future::Future,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::Pin,
    sync::Arc,
};

use ipnet::{Ipv4Net, Ipv6Net};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The IPv4 ranges that are not public.
const NOT_PUBLIC_V4: [Ipv4Net; 15] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    // Carrier-grade NAT.
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    // Link-local, with the metadata service of cloud machines.
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    // Multicast, and ranges that were never assigned.
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
];

/// Contains all public IPv6 addresses, and some that are not.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);
const NOT_PUBLIC_V6: [Ipv6Net; 4] = [
    // Teredo, ORCHID, benchmarks: for protocols, not for servers.
    v6(0x2001, 0, 23),
    v6(0x2001, 0x0db8, 32),
    // 6to4: embeds an IPv4 address.
    v6(0x2002, 0, 16),
    v6(0x3fff, 0, 20),
];
/// NAT64: networks without IPv4 reach it through this prefix; the IPv4 address inside is what counts.
const NAT64: Ipv6Net = v6(0x0064, 0xff9b, 96);

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(first: u16, second: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0), length)
}

pub(super) fn is_public(address: IpAddr) -> bool {
    // An IPv4-mapped IPv6 address is judged as the IPv4 address it leads to.
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) if NAT64.contains(&address) => {
            let [.., a, b, c, d] = address.octets();
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        IpAddr::V6(address) => {
            let inside = |net: &Ipv6Net| net.contains(&address);
            GLOBAL_V6.contains(&address) && !NOT_PUBLIC_V6.iter().any(inside)
        }
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !NOT_PUBLIC_V4.iter().any(|net| net.contains(&address))
}

/// Which addresses webhooks may go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkPolicy {
    /// Only public addresses, only by `https`.
    Public,
    /// Any address, also by `http`.
    Anywhere,
}

/// Why a URL or address must not be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    #[error("The URL must be https with a host, and have no user, password or fragment (#).")]
    Malformed,
    #[error("Only https is allowed (webhooks.allow_private_networks is off).")]
    Plain,
    #[error("The address is not a public one (webhooks.allow_private_networks is off).")]
    NotPublic,
}

impl NetworkPolicy {
    /// Parses a URL that somebody typed and checks what can be checked without resolving its name.
    /// # Errors
    /// Every [`InvalidUrl`].
    pub fn read(self, text: &str) -> Result<Url, InvalidUrl> {
        let url = Url::parse(text).map_err(|_| InvalidUrl::Malformed)?;
        let is_bare =
            url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        let host = url
            .host()
            .filter(|_| is_bare)
            .ok_or(InvalidUrl::Malformed)?;
        match (url.scheme(), self) {
            ("https", _) | ("http", Self::Anywhere) => {}
            ("http", Self::Public) => return Err(InvalidUrl::Plain),
            _ => return Err(InvalidUrl::Malformed),
        }
        // Literal addresses never reach the resolver: they are checked here.
        let literal = match host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
        };
        match literal.is_none_or(|address| self.allows(address)) {
            true => Ok(url),
            false => Err(InvalidUrl::NotPublic),
        }
    }

    fn allows(self, address: IpAddr) -> bool {
        self == Self::Anywhere || is_public(address)
    }
}

/// The result of resolving a name: the addresses it has now.
pub(super) type Resolution = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Resolves a host name.
pub(super) type LookUp = Arc<dyn Fn(String) -> Resolution + Send + Sync>;

/// The system's resolver.
pub(super) fn system() -> LookUp {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.collect())
        })
    })
}

/// A resolver for the HTTP client that returns only addresses it may connect to.
pub(super) struct GuardedResolver {
    pub(super) reach: NetworkPolicy,
    pub(super) look_up: LookUp,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, found) = (self.reach, (self.look_up)(name.as_str().to_owned()));
        Box::pin(async move {
            let mut found = found.await?;
            found.retain(|address| reach.allows(address.ip()));
            if found.is_empty() {
                return Err(InvalidUrl::NotPublic.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        for public in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "2a00:1450:4001::200e",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.19.0.1",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1.1.1.1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn what_is_typed_is_judged_however_it_is_written() {
        for fine in [
            "https://shop.example/hooks?to=a",
            "https://1.1.1.1:8443/",
            "https://[2606:4700::1111]/",
        ] {
            assert!(NetworkPolicy::Public.read(fine).is_ok(), "{fine}");
        }
        for (bad, why) in [
            ("http://shop.example/", InvalidUrl::Plain),
            ("https://127.0.0.1/", InvalidUrl::NotPublic),
            ("https://2130706433/", InvalidUrl::NotPublic),
            ("https://0x7f.1/", InvalidUrl::NotPublic),
            ("https://017700000001/", InvalidUrl::NotPublic),
            ("https://[::ffff:7f00:1]/", InvalidUrl::NotPublic),
            ("https://169.254.169.254/latest/", InvalidUrl::NotPublic),
            ("https://ann:pw@shop.example/", InvalidUrl::Malformed),
            ("https://ann@shop.example/", InvalidUrl::Malformed),
            ("https://shop.example/#a", InvalidUrl::Malformed),
            ("ftp://shop.example/", InvalidUrl::Malformed),
            ("file:///etc/passwd", InvalidUrl::Malformed),
            ("shop.example", InvalidUrl::Malformed),
        ] {
            assert_eq!(NetworkPolicy::Public.read(bad), Err(why), "{bad}");
        }
        assert!(
            NetworkPolicy::Anywhere
                .read("http://127.0.0.1:3000/")
                .is_ok()
        );
        assert!(NetworkPolicy::Anywhere.read("ftp://127.0.0.1/").is_err());
    }

    #[tokio::test]
    async fn a_name_is_resolved_again_each_time() {
        let exchange = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = Arc::clone(&exchange);
        let look_up: LookUp = Arc::new(move |_| {
            let first = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
            let address = if first { "1.1.1.1:0" } else { "127.0.0.1:0" };
            Box::pin(async move { Ok(vec![address.parse().unwrap()]) })
        });
        let guarded = GuardedResolver {
            reach: NetworkPolicy::Public,
            look_up,
        };
        let ask = || guarded.resolve("rebind.example".parse().unwrap());
        let first: Vec<_> = ask().await.ok().unwrap().collect();
        assert_eq!(first, ["1.1.1.1:0".parse().unwrap()]);
        let refused = ask().await.err().unwrap();
        assert_eq!(refused.downcast_ref(), Some(&InvalidUrl::NotPublic));
    }

    #[tokio::test]
    async fn private_ones_among_public_ones_are_left_out() {
        let look_up: LookUp = Arc::new(|_| {
            let all = ["10.0.0.1:0", "1.1.1.1:0", "[::1]:0"];
            Box::pin(async move { Ok(all.map(|it| it.parse().unwrap()).into()) })
        });
        let guarded = GuardedResolver {
            reach: NetworkPolicy::Public,
            look_up,
        };
        let found = guarded.resolve("mixed.example".parse().unwrap()).await;
        let found: Vec<_> = found.ok().unwrap().collect();
        assert_eq!(found, ["1.1.1.1:0".parse().unwrap()]);
    }
}
