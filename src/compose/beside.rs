//! Listeners beside the main one.

use std::{sync::Arc, time::Duration};

use scrip_http::connections::{Responder, Server, tls::Tls};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

use crate::config::Config;

/// How long a process that ends waits for answers to what it has passed on.
const PASSED_ON_WITHIN: Duration = Duration::from_secs(10);

/// Serves at another address, until the task is aborted.
pub(super) fn serve_beside(
    listener: TcpListener,
    service: impl Responder,
    config: &Config,
    tls: Option<Arc<Tls>>,
) -> JoinHandle<()> {
    let server = Server::new(listener, service, (&config.http).into())
        .trusting(&config.trusted_proxies)
        .speaking(tls);
    tokio::spawn(server.run(std::future::pending(), std::future::pending()))
}

/// Waits for the answers to what was passed on. Streams have no end of their own.
pub(super) async fn last_answers(mut server: JoinHandle<()>, cut_off: &Notify) {
    if tokio::time::timeout(PASSED_ON_WITHIN, &mut server)
        .await
        .is_err()
    {
        cut_off.notify_one();
        drop(server.await);
    }
}
