//! Taking connections: a bounded number at a time, none that may dawdle with its head, and a
//! clean end. Bodies and answers are the affair of whatever is behind.

mod connection;
pub mod signals;

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    response::Response,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{rt::TokioIo, server::graceful::GracefulConnection};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{Semaphore, watch},
};
use tower::Service as _;

use crate::config::Http;
use connection::Waiting;

/// Connections that the kernel keeps while we do not accept.
const BACKLOG: u32 = 4096;
/// After an `accept` that failed for want of a resource.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// Reserves an address without listening on it yet: whoever connects is refused, not kept waiting.
pub fn reserve(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Starts to listen on a reserved address.
pub fn listen(socket: TcpSocket) -> std::io::Result<TcpListener> {
    socket.listen(BACKLOG)
}

/// An address that a client on this machine can use.
#[must_use]
pub fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// What answers the requests of a server.
pub trait Front: Clone + Send + Sync + 'static {
    /// Answers one. What goes wrong is an answer too.
    fn answer(
        self: Arc<Self>,
        request: hyper::Request<Incoming>,
        peer: SocketAddr,
    ) -> impl Future<Output = Response> + Send;
}

impl Front for Router {
    async fn answer(
        self: Arc<Self>,
        request: hyper::Request<Incoming>,
        peer: SocketAddr,
    ) -> Response {
        routed(self.as_ref().clone(), request, peer).await
    }
}

/// A router's answer.
pub async fn routed(
    mut router: Router,
    request: hyper::Request<Incoming>,
    peer: SocketAddr,
) -> Response {
    let mut request: Request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    let Ok(response): Result<_, Infallible> = router.call(request).await;
    response
}

/// Something that answers, behind a listener.
#[derive(Debug)]
pub struct Server<F> {
    listener: TcpListener,
    front: F,
    http: Http,
}

impl<F: Front> Server<F> {
    /// Serves nothing until [`Server::run`].
    #[must_use]
    pub const fn new(listener: TcpListener, front: F, http: Http) -> Self {
        Self {
            listener,
            front,
            http,
        }
    }

    /// Serves until `stop`, then lets requests in flight finish until `give_up`.
    pub async fn run(self, stop: impl Future<Output = ()>, give_up: impl Future<Output = ()>) {
        let (stopping, stopped) = watch::channel(false);
        let places = Arc::new(Semaphore::new(self.http.max_connections));
        let limit = Duration::from_secs(self.http.head_timeout_seconds);
        tokio::pin!(stop);
        loop {
            let accepted = async {
                // Closed by nobody: only a place in it is waited for.
                let place = Arc::clone(&places).acquire_owned().await.ok();
                (self.listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                biased;
                () = &mut stop => break,
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let waiting = Arc::new(Waiting::new());
                    let connection = self.connection(stream, peer, &waiting);
                    let stopped = stopped.clone();
                    tokio::spawn(async move {
                        if let Err(error) =
                            connection::run(connection, &waiting, limit, stopped).await
                        {
                            tracing::debug!(error = %error, "a connection ended early");
                        }
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(error = %error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                }
            }
        }
        drop(self.listener);
        stopping.send_replace(true);
        tokio::select! {
            // All places are free again.
            _ = places.acquire_many(u32::try_from(self.http.max_connections).unwrap_or(u32::MAX)) => {}
            () = give_up => tracing::warn!("requests were still in flight and are cut off"),
        }
    }

    fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        waiting: &Arc<Waiting>,
    ) -> impl GracefulConnection<Error = hyper::Error> + Send + use<F> {
        // Answers are small and written at once: waiting to fill a packet only delays them.
        drop(stream.set_nodelay(true));
        // The connection's own, so that requests of several do not count references in one place.
        let front = Arc::new(self.front.clone());
        let waiting = Arc::clone(waiting);
        let service = service_fn(move |request| {
            waiting.ends();
            let (front, waiting) = (Arc::clone(&front), Arc::clone(&waiting));
            async move {
                let response = front.answer(request, peer).await;
                waiting.begins();
                Ok::<_, Infallible>(response)
            }
        });
        http1::Builder::new().serve_connection(TokioIo::new(stream), service)
    }
}

#[cfg(test)]
mod tests;
