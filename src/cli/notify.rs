//! Notifies systemd that the server is ready (`Type=notify`), by a datagram to the socket that it names.

use std::os::{
    linux::net::SocketAddrExt as _,
    unix::net::{SocketAddr, UnixDatagram},
};

/// The variable that names the supervisor's socket.
const VARIABLE: &str = "NOTIFY_SOCKET";

/// Reports that requests are answered from now on. Without a supervisor it does nothing.
pub(super) fn ready() {
    let Some(name) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) else {
        return;
    };
    if let Err(error) = send(name.as_encoded_bytes(), b"READY=1\n") {
        tracing::warn!(%error, "The supervisor could not be notified");
    }
}

fn send(name: &[u8], what: &[u8]) -> std::io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    let sent = match name.strip_prefix(b"@") {
        Some(name) => socket.send_to_addr(what, &SocketAddr::from_abstract_name(name)?),
        None => {
            let path = std::path::Path::new(std::str::from_utf8(name).unwrap_or_default());
            socket.send_to(what, path)
        }
    };
    sent.map(drop)
}
