//! Why a service does not start, or does not end in order.

use std::{io::ErrorKind, net::SocketAddr, path::PathBuf};

use actors::notes;
use operations::data_dir::secrets;
use outbound::mail;
use scrip_http::connections::{descriptors::TooFewDescriptors, tls};

/// Why the service did not start, or did not end in order.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is in use, or not one of this machine.
    #[error("cannot listen on {address} (setting `{setting}`): {error}{}", instead(setting, *address, error))]
    Listen {
        /// The setting that names the address.
        setting: &'static str,
        /// The address to listen on.
        address: SocketAddr,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// The data directory cannot be opened or closed.
    #[error(transparent)]
    Store(#[from] persistence::Error),
    /// The data directory cannot be made or looked into.
    #[error("{} cannot be used: {error}", path.display())]
    Data {
        /// The path that cannot be used.
        path: PathBuf,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// A secret is missing or does not fit.
    #[error(transparent)]
    Secrets(#[from] secrets::Error),
    /// The catalog cannot be read.
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    /// A note that was stored cannot be read.
    #[error(transparent)]
    Notes(#[from] notes::Error),
    /// The wallets did not start.
    #[error(transparent)]
    Wallets(#[from] actors::Error),
    /// Mails cannot be sent as configured.
    #[error("mail: {0}")]
    Mail(#[from] mail::Error),
    /// The operating system refused something else.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The certificate or its key cannot be used.
    #[error("TLS: {0}")]
    Tls(#[from] tls::Error),
    /// The limit of open files allows too few connections.
    #[error(transparent)]
    Descriptors(#[from] TooFewDescriptors),
    /// `log` in the configuration is not a valid filter, or logging was set up before.
    #[error("configuration: log: {0}")]
    Log(String),
}

/// What to do about an address that is in use.
fn instead(setting: &str, address: SocketAddr, error: &std::io::Error) -> String {
    match (error.kind(), setting) {
        (ErrorKind::AddrInUse, "listen") => format!(
            ". `--listen {}` takes a free port",
            SocketAddr::new(address.ip(), 0)
        ),
        (ErrorKind::AddrInUse, _) => format!(". Set {setting} to another address"),
        _ => String::new(),
    }
}
