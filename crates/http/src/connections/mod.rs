//! Accepts connections: a bounded number in all and of each client, none that may be slow to send
//! or to take, and a clean end. What is sent and answered is the affair of a [`Responder`].

mod body;
mod clients;
mod connection;
pub mod descriptors;
pub mod public;
pub mod signals;
mod stream;
pub mod tls;

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
use hyper_util::rt::TokioIo;
use ipnet::IpNet;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{Semaphore, watch},
    time::{Instant, timeout},
};
use tower::Service as _;

pub use body::{RequestBody, TimedBody};
use clients::Clients;
use connection::{IdleTracker, Timeouts};
use stream::MonitoredStream;
use tls::Tls;

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: u32 = 4096;
/// What a connection buffers of a head and of what is written: enough for any reasonable head, and
/// little enough for all connections at once. Bodies come in pieces of it.
const BUFFER_BYTES: usize = 32 * 1024;
/// How long a client may take to agree on TLS.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);
/// Time between two log lines about clients with too many connections.
const WARN_INTERVAL: Duration = Duration::from_secs(60);
/// Added to a body's deadline, so that a handler with its own deadline gives up first and answers.
const LATER: Duration = Duration::from_secs(1);
/// Pause after an `accept` that failed for lack of a resource.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// Binds an address without listening on it yet: a connection is refused, not kept waiting.
/// # Errors
/// [`std::io::Error`] when the address is in use, or not one of this machine.
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

/// Starts to listen on a bound address.
/// # Errors
/// [`std::io::Error`] when the operating system refuses.
pub fn listen(socket: TcpSocket) -> std::io::Result<TcpListener> {
    socket.listen(BACKLOG)
}

/// An address that a client on this machine can use.
pub fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// A request whose body arrives in time, or ends with an error.
pub type IncomingRequest = hyper::Request<TimedBody<RequestBody>>;

/// What answers the requests of a server.
pub trait Responder: Clone + Send + Sync + 'static {
    /// Answers a request. Errors are answers, too.
    fn answer(
        self: Arc<Self>,
        request: IncomingRequest,
        peer: SocketAddr,
    ) -> impl Future<Output = Response> + Send;
}

impl Responder for Router {
    async fn answer(self: Arc<Self>, request: IncomingRequest, peer: SocketAddr) -> Response {
        routed(self.as_ref().clone(), request, peer).await
    }
}

/// The answer of a router.
pub async fn routed(mut router: Router, request: IncomingRequest, peer: SocketAddr) -> Response {
    let mut request: Request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    let Ok(response): Result<_, Infallible> = router.call(request).await;
    response
}

/// What a server allows its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerSettings {
    /// Connections open at once.
    pub max_connections: usize,
    /// Connections of one client address open at once.
    pub max_connections_per_client: usize,
    /// Seconds for a request's head.
    pub head_timeout_seconds: u64,
    /// Seconds for a request's body.
    pub body_timeout_seconds: u64,
    /// Seconds for a client to take what is written to it.
    pub write_timeout_seconds: u64,
}

/// A listener, and what answers the requests of its connections.
#[derive(Debug)]
pub struct Server<F> {
    listener: TcpListener,
    front: F,
    settings: ServerSettings,
    clients: Clients,
    tls: Option<Arc<Tls>>,
}

impl<F: Responder> Server<F> {
    /// A server that accepts nothing until [`Server::run`].
    pub fn new(listener: TcpListener, front: F, settings: ServerSettings) -> Self {
        Self {
            listener,
            front,
            clients: Clients::new(settings.max_connections_per_client),
            tls: None,
            settings,
        }
    }

    /// Does not count the connections of these proxies, which carry other clients' requests.
    #[must_use]
    pub fn trusting(mut self, proxies: &[IpNet]) -> Self {
        self.clients.exempt(proxies);
        self
    }

    /// Speaks TLS, if there is a certificate.
    #[must_use]
    pub fn speaking(mut self, tls: Option<Arc<Tls>>) -> Self {
        self.tls = tls;
        self
    }

    /// Serves until `stop`, then lets requests in flight finish until `give_up`.
    pub async fn run(self, stop: impl Future<Output = ()>, give_up: impl Future<Output = ()>) {
        let (stopping, stopped) = watch::channel(false);
        let places = Arc::new(Semaphore::new(self.settings.max_connections));
        let mut warned = None;
        tokio::pin!(stop);
        loop {
            let accepted = async {
                // The semaphore is never closed: this only waits for a place.
                let place = Arc::clone(&places).acquire_owned().await.ok();
                (self.listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                biased;
                () = &mut stop => break,
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, peer)) => match self.clients.seat(peer.ip()) {
                    Some(seat) => {
                        let connection = self.connection(stream, peer, stopped.clone());
                        tokio::spawn(async move {
                            connection.await;
                            drop((place, seat));
                        });
                    }
                    // Closed without an answer, which would have to be waited for.
                    None => warn_of_too_many(&mut warned, peer),
                },
                Err(error) => {
                    tracing::warn!(error = %error, "A connection could not be accepted");
                    tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                }
            }
        }
        drop(self.listener);
        stopping.send_replace(true);
        tokio::select! {
            // All connections have ended.
            _ = places.acquire_many(u32::try_from(self.settings.max_connections).unwrap_or(u32::MAX)) => {}
            () = give_up => tracing::warn!("Requests were still in flight and are cut off"),
        }
    }

    fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        stopped: watch::Receiver<bool>,
    ) -> impl Future<Output = ()> + Send + use<F> {
        let timeouts = Timeouts {
            idle: Duration::from_secs(self.settings.head_timeout_seconds),
            stalled: Duration::from_secs(self.settings.write_timeout_seconds),
            taken: Duration::MAX,
        };
        let body = Duration::from_secs(self.settings.body_timeout_seconds).saturating_add(LATER);
        settle(&stream, timeouts.stalled);
        let waiting = Arc::new(IdleTracker::new());
        // One for each connection, so that not all of them count references in one place.
        let front = Arc::new(self.front.clone());
        let stream = MonitoredStream::new(stream, Arc::clone(&waiting));
        let acceptor = self.tls.as_ref().map(|tls| tls.acceptor());
        let conversation = Conversation {
            front,
            peer,
            body,
            waiting,
            timeouts,
            stopped,
        };
        async move {
            let Some(acceptor) = acceptor else {
                return conversation.hold(stream).await;
            };
            match timeout(HANDSHAKE_WITHIN, acceptor.accept(stream)).await {
                Ok(Ok(stream)) => conversation.hold(stream).await,
                Ok(Err(error)) => tracing::debug!(%error, "A client could not agree on TLS"),
                Err(_) => tracing::debug!("A client took too long to agree on TLS"),
            }
        }
    }
}

/// All that a connection's requests share.
struct Conversation<F> {
    front: Arc<F>,
    peer: SocketAddr,
    body: Duration,
    waiting: Arc<IdleTracker>,
    timeouts: Timeouts,
    stopped: watch::Receiver<bool>,
}

impl<F: Responder> Conversation<F> {
    async fn hold(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Self {
            front,
            peer,
            body,
            waiting,
            timeouts,
            stopped,
        } = self;
        // Counted by this connection alone.
        let stops = Arc::new(stopped.clone());
        let service = service_fn(|request: hyper::Request<Incoming>| {
            waiting.ends();
            let (front, waiting) = (Arc::clone(&front), Arc::clone(&waiting));
            let stopped = Some(Arc::clone(&stops));
            let request = request.map(|it| TimedBody::new(RequestBody::Left(it), body, stopped));
            async move {
                let response = front.answer(request, peer).await;
                Ok::<_, Infallible>(body::until_sent(response, waiting))
            }
        });
        let mut protocol = http1::Builder::new();
        protocol.max_buf_size(BUFFER_BYTES);
        // Head and body are copied together: answers are small, and two pieces cost the kernel more than the copy.
        protocol.writev(false);
        let connection = protocol.serve_connection(TokioIo::new(stream), service);
        let ended = connection::run(connection, &waiting, timeouts, stopped).await;
        if let Err(error) = ended {
            tracing::debug!(error = %error, "A connection ended early");
        }
    }
}

fn settle(stream: &TcpStream, stalled: Duration) {
    // Answers are small and written at once: waiting to fill a packet only delays them.
    drop(stream.set_nodelay(true));
    // After a connection is cut off, the kernel does not keep unsent data for its client.
    let millis = u32::try_from(stalled.as_millis()).unwrap_or(u32::MAX);
    let _: Result<(), _> = rustix::net::sockopt::set_tcp_user_timeout(stream, millis);
}

/// Says that a client has too many connections, once in a while.
fn warn_of_too_many(warned: &mut Option<Instant>, peer: SocketAddr) {
    if warned.is_none_or(|at| at.elapsed() >= WARN_INTERVAL) {
        *warned = Some(Instant::now());
        tracing::warn!(
            client.address = %peer.ip(),
            "A client has as many connections as http.max_connections_per_client allows; more are \
             closed. If it is a proxy of yours, name it in trusted_proxies"
        );
    }
}

#[cfg(test)]
mod tests;
