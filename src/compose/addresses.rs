//! The addresses that a service listens on, with their TLS, and how others reach it there.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::Arc,
};

use accounts::ProviderEnvironment;
use actors::{Cipher, ServerKeys};
use dashboard::OIDC_CALLBACK;
use identity::oidc::Oidc;
use tokio::net::TcpSocket;

use super::{Error, error::taken};
use crate::{
    config::{Config, Http},
    server::{
        self,
        tls::{Files, Tls},
    },
};

/// Any port of the loopback address.
const INNER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Addresses that are bound, but not listened on yet; and the TLS for them.
pub(super) struct BoundSockets {
    pub(super) main: TcpSocket,
    pub(super) metrics: Option<TcpSocket>,
    pub(super) admin: Option<TcpSocket>,
    pub(super) tls: Option<Arc<Tls>>,
    pub(super) inner: Option<TcpSocket>,
}

impl BoundSockets {
    pub(super) fn all_of(config: &Config) -> Result<Self, Error> {
        let reserve = |setting, address| {
            server::reserve(address).map_err(|error| taken(setting, address, &error))
        };
        let tls = open_tls(&config.http)?;
        Ok(Self {
            main: reserve("listen", config.listen)?,
            metrics: {
                let listen = config.metrics.listen;
                listen.map(|it| reserve("metrics.listen", it)).transpose()?
            },
            admin: {
                let listen = config.admin.listen;
                listen.map(|it| reserve("admin.listen", it)).transpose()?
            },
            inner: tls.as_ref().map(|_| reserve("http", INNER)).transpose()?,
            tls,
        })
    }

    /// Where others reach the process, and where it reaches itself.
    pub(super) fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        let address = self.main.local_addr()?;
        let own = self.inner.as_ref().map(TcpSocket::local_addr).transpose()?;
        Ok((address, own.unwrap_or(address)))
    }
}

/// Opens the certificate and its key, where they are set.
fn open_tls(http: &Http) -> Result<Option<Arc<Tls>>, Error> {
    let files = http.tls_cert.clone().zip(http.tls_key.clone());
    if let Some((_, key)) = &files
        && is_open_to_others(key)
    {
        tracing::warn!(
            "{} can be read by every user of this machine: chmod o= it",
            key.display()
        );
    }
    let tls = files.map(|(cert, key)| Tls::open(Files { cert, key }));
    Ok(tls.transpose()?.map(Arc::new))
}

/// Whether a file can be read by others than its owner and its group: the group is how a server is let to a key.
pub fn is_open_to_others(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|known| known.permissions().mode() & 0o007 != 0)
}

/// The scheme at the address that a service listens on: `https` or `http`.
pub fn scheme(config: &Config) -> &'static str {
    match config.http.tls_cert {
        Some(_) => "https",
        None => "http",
    }
}

/// Where browsers reach the dashboard: at the public address unless administrators have one of their own.
pub(super) fn dashboard(config: &Config, public_url: &str) -> String {
    match config.admin.listen {
        Some(admin) => format!("{}://{}", scheme(config), server::reachable(admin)),
        None => public_url.to_owned(),
    }
}

/// The identity provider by which people sign in to the dashboard at this address, if one is set.
pub(super) fn oidc(
    config: &Config,
    base: &str,
    server_keys: &ServerKeys,
) -> Result<Option<Arc<Oidc>>, Error> {
    // For a drill nobody but callers is spoken with.
    if !config.oidc.is_set() || config.offline {
        return Ok(None);
    }
    let redirect = format!("{base}{OIDC_CALLBACK}");
    let redirect = redirect.parse().map_err(std::io::Error::other)?;
    let cipher = Cipher::new(server_keys.newest(), "scrip/oidc/1");
    Ok(Some(Arc::new(Oidc::new(
        config.oidc.clone(),
        redirect,
        cipher,
    ))))
}

/// Where the identity provider sends browsers back to.
pub fn oidc_callback(config: &Config) -> String {
    let public = config.public_url.as_ref().map(ToString::to_string);
    let base = dashboard(config, &public.unwrap_or_default());
    format!("{base}{OIDC_CALLBACK}")
}

/// A warning for an operator who listens on this address without TLS.
pub fn advice(address: SocketAddr, http: &Http) -> Option<String> {
    let plain = http.tls_cert.is_none() && !address.ip().to_canonical().is_loopback();
    plain.then(|| {
        format!(
            "warning: {address} is reached over plain HTTP: keys, codes and what they open can be read \
             on the way. Set http.tls_cert and http.tls_key, or listen on 127.0.0.1 behind a proxy that \
             speaks TLS (caddy reverse-proxy --from pay.example --to 127.0.0.1:{port}) and name it in \
             trusted_proxies",
            port = address.port()
        )
    })
}

/// The addresses of this server, from its settings and its sockets.
pub(super) fn provider_environment(
    config: &Config,
    address: SocketAddr,
    own: SocketAddr,
) -> ProviderEnvironment {
    let own_url = format!("http://{}", server::reachable(own));
    let at_address = || format!("{}://{}", scheme(config), server::reachable(address));
    let public_url = config.public_url.as_ref();
    ProviderEnvironment {
        public_url: public_url.map_or_else(at_address, ToString::to_string),
        own_url,
        stripe_api: config.stripe.api_base.clone(),
        offline: config.offline,
        stripe_per_second: config.stripe.background_per_second,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn a_server_without_tls_gets_advice() {
        let mut http = Config::read(&Flags::default()).unwrap().http;
        let advice_for = |address: &str, http: &Http| advice(address.parse().unwrap(), http);
        for open in ["0.0.0.0:8787", "192.0.2.1:80", "[::]:8787"] {
            let text = advice_for(open, &http).unwrap();
            assert!(text.contains(open) && text.contains("tls_cert"), "{text}");
        }
        assert_eq!(advice_for("127.0.0.1:8787", &http), None);
        assert_eq!(advice_for("[::1]:8787", &http), None);
        http.tls_cert = Some("cert.pem".into());
        assert_eq!(advice_for("0.0.0.0:8787", &http), None);
    }
}
