//! Why a service does not start, or does not end in order.

use std::{io::ErrorKind, net::SocketAddr};

use actors::notes;
use operations::data_dir::secrets;
use outbound::mail;
use scrip_http::connections::{descriptors::TooFewDescriptors, tls};

/// Why the service did not start, or did not end in order.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data directory cannot be opened or closed.
    #[error(transparent)]
    Store(#[from] persistence::Error),
    /// A secret is missing or does not fit.
    #[error(transparent)]
    Secrets(#[from] secrets::Error),
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    /// A note that was stored cannot be read.
    #[error(transparent)]
    Notes(#[from] notes::Error),
    #[error(transparent)]
    Wallets(#[from] actors::Error),
    #[error("mail: {0}")]
    Mail(#[from] mail::Error),
    /// The operating system refused something else.
    #[error(transparent)]
    System(#[from] std::io::Error),
    #[error("TLS: {0}")]
    Tls(#[from] tls::Error),
    /// The limit of open files allows too few connections.
    #[error(transparent)]
    Descriptors(#[from] TooFewDescriptors),
    /// A setting, or the place that it names, cannot be used.
    #[error("{0}")]
    Setting(String),
}

/// Why a setting's address cannot be listened on.
pub(super) fn taken(setting: &str, address: SocketAddr, error: &std::io::Error) -> Error {
    let advice = match (error.kind(), setting) {
        (ErrorKind::AddrInUse, "listen") => format!(
            ". `--listen {}` takes a free port",
            SocketAddr::new(address.ip(), 0)
        ),
        (ErrorKind::AddrInUse, _) => format!(". Set {setting} to another address"),
        _ => String::new(),
    };
    Error::Setting(format!(
        "cannot listen on {address} (setting `{setting}`): {error}{advice}"
    ))
}
