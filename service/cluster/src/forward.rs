//! Sends a request to the process that leads, as it came, and its answer back. A request is sent again only where it was
//! provably not taken; where nobody can tell, the caller hears so.

use std::{
    error::Error as _,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    BoxError,
    body::Body,
    http::{
        HeaderValue, Request, Response, Uri, Version, header, request::Parts, uri::PathAndQuery,
    },
};
use connections::IncomingRequest;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, Client as HttpClient, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use ipnet::IpNet;
use limits::Client;
use rustls::ClientConfig;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};
use tower::Service;

use crate::{
    body::{Payload, Relayed},
    headers::{FORWARDED, NOT_LEADING, X_FORWARDED_FOR, keep_end_to_end},
    origin::Origin,
    tls,
    token::ForwardKey,
};

/// For a connection, with TLS where the leader speaks it.
const CONNECT_WITHIN: Duration = Duration::from_secs(1);
/// For the head of an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// Unused connections are closed after this, long before the leader closes them: one that it closes while a request is
/// written to it leaves the request's outcome unknown.
const IDLE_FOR: Duration = Duration::from_secs(5);
/// Unused connections that are kept.
const IDLE_CONNECTIONS: usize = 256;
/// Between probes of a connection on which nothing comes: streams may be silent for long, also when their leader's
/// machine is gone.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read ahead of its client.
const BUFFER_BYTES: usize = 64 * 1024;
/// Bytes of bodies that are kept at once to be sent again.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// What a forwarder is told by the configuration.
#[derive(Debug, Clone)]
pub struct ForwardSettings {
    /// Proxies whose `X-Forwarded-For` is believed, as for the limits. It is judged here; the leader hears the result.
    pub trusted_proxies: Vec<IpNet>,
    /// Bytes of a body that is kept to be sent again: as large as the API takes any. Larger ones are passed on unread.
    pub max_kept_body_bytes: usize,
    /// Requests that may be under way to the leader at once, open streams among them: no more than the leader takes
    /// connections from this process.
    pub max_under_way: usize,
    /// How leaders that speak TLS are judged, as by [`tls::trusting`]. `None`: none of them is trusted.
    pub tls: Option<ClientConfig>,
}

type Connector = Timed<HttpsConnector<HttpConnector>>;

/// Passes requests on to the leader. Cheap to clone.
#[derive(Clone)]
pub struct Forwarder(Arc<Inner>);

struct Inner {
    key: ForwardKey,
    trusted_proxies: Vec<IpNet>,
    max_kept: usize,
    kept: Arc<Semaphore>,
    under_way: Arc<Semaphore>,
    client: HttpClient<Connector, Body>,
    /// Whether the log says already that the leader cannot be reached.
    cut_off: AtomicBool,
}

impl std::fmt::Debug for Forwarder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Forwarder(..)")
    }
}

/// A request that is to be forwarded.
pub(super) struct Outgoing {
    /// As it came: this process may come to lead while it waits.
    pub(super) head: Parts,
    pub(super) payload: Payload,
    /// Its client, as this process sees it.
    client: SocketAddr,
}

/// What became of a request.
pub(super) enum Fate {
    /// The leader has answered.
    Answered(Response<Body>),
    /// Nothing was done.
    NotTaken,
    /// It was sent, and there is no answer.
    Unknown,
    /// It was not sent, since too many are under way.
    NoRoom,
}

impl Forwarder {
    /// A forwarder that trusts processes with this server key.
    ///
    /// # Errors
    ///
    /// Only where TLS cannot be set up at all, which is a defect.
    pub fn new(server_key: &[u8; 32], settings: ForwardSettings) -> Result<Self, rustls::Error> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT_WITHIN));
        http.set_keepalive(Some(PROBE_EVERY));
        http.set_keepalive_interval(Some(PROBE_EVERY));
        http.set_keepalive_retries(Some(3));
        let config = settings.tls.map_or_else(tls::trusting_nobody, Ok)?;
        let https = HttpsConnectorBuilder::new().with_tls_config(config);
        let connector = Timed(https.https_or_http().enable_http1().wrap_connector(http));
        let client = HttpClient::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_FOR)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(BUFFER_BYTES)
            .build(connector);
        Ok(Self(Arc::new(Inner {
            key: ForwardKey::new(server_key),
            trusted_proxies: settings.trusted_proxies,
            max_kept: settings.max_kept_body_bytes,
            kept: Arc::new(Semaphore::new(KEPT_BYTES)),
            under_way: Arc::new(Semaphore::new(
                settings.max_under_way.min(Semaphore::MAX_PERMITS),
            )),
            client,
            cut_off: AtomicBool::new(false),
        })))
    }

    /// Takes the proof off a request. `Some`: another process passed it on, for this client.
    pub(super) fn open(&self, request: &mut IncomingRequest) -> Option<SocketAddr> {
        self.0.key.open(request)
    }

    /// Reads a request as far as it is kept.
    ///
    /// # Errors
    ///
    /// Its body does not arrive.
    pub(super) async fn read(
        &self,
        request: IncomingRequest,
        peer: SocketAddr,
    ) -> Result<Outgoing, BoxError> {
        let (head, body) = request.into_parts();
        let client = Client::of(peer.ip(), &head.headers, &self.0.trusted_proxies);
        let client = match client {
            Client::V4(address) => IpAddr::V4(address),
            // All of a network is one client.
            Client::V6(network) => Ipv6Addr::from_bits(u128::from(network) << 64).into(),
        };
        let payload = Payload::read(body, self.0.max_kept, &self.0.kept).await?;
        let client = SocketAddr::new(client, peer.port());
        Ok(Outgoing {
            head,
            payload,
            client,
        })
    }

    /// Sends a request to the process that leads. `deposed` ends when that process no longer does.
    pub(super) async fn send<D>(
        &self,
        origin: &Origin,
        outgoing: &mut Outgoing,
        deposed: impl Fn() -> D,
    ) -> Fate
    where
        D: Future<Output = ()> + Send + 'static,
    {
        let Ok(place) = Arc::clone(&self.0.under_way).try_acquire_owned() else {
            return Fate::NoRoom;
        };
        let Some(request) = self.request(origin, outgoing) else {
            return Fate::NotTaken;
        };
        let sent = tokio::select! {
            sent = timeout(ANSWER_WITHIN, self.0.client.request(request)) => sent,
            () = deposed() => return Fate::Unknown,
        };
        match sent {
            Ok(Ok(response)) => {
                if self.0.cut_off.swap(false, Relaxed) {
                    tracing::info!(leader = %origin, "The leader is reached again");
                }
                if response.headers().contains_key(NOT_LEADING) {
                    return Fate::NotTaken;
                }
                Fate::Answered(relayed(response, place, deposed))
            }
            Ok(Err(error)) if is_unsent(&error) => {
                if !self.0.cut_off.swap(true, Relaxed) {
                    tracing::warn!(leader = %origin, error = %root(&error), "The leader cannot be reached");
                }
                Fate::NotTaken
            }
            Ok(Err(error)) => {
                tracing::debug!(leader = %origin, error = %root(&error), "The leader broke off");
                Fate::Unknown
            }
            Err(_) => {
                tracing::debug!(leader = %origin, "The leader does not answer");
                Fate::Unknown
            }
        }
    }

    /// The request as it is sent; `None` where its body is gone, or it has no address there.
    fn request(&self, origin: &Origin, outgoing: &mut Outgoing) -> Option<Request<Body>> {
        let head = &outgoing.head;
        let root = PathAndQuery::from_static("/");
        let path = head.uri.path_and_query().cloned().unwrap_or(root);
        let uri = origin.with(path).ok()?;
        let token = self.0.key.sign(outgoing.client, &head.method, &uri)?;
        let mut headers = head.headers.clone();
        keep_end_to_end(&mut headers);
        headers.remove(X_FORWARDED_FOR);
        headers.insert(FORWARDED, token);
        let mut request = Request::new(outgoing.payload.take()?);
        *request.method_mut() = outgoing.head.method.clone();
        *request.uri_mut() = uri;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = headers;
        Some(request)
    }
}

/// The leader's answer, for the client.
fn relayed<D>(
    response: Response<Incoming>,
    place: OwnedSemaphorePermit,
    deposed: impl Fn() -> D,
) -> Response<Body>
where
    D: Future<Output = ()> + Send + 'static,
{
    let (mut head, body) = response.into_parts();
    keep_end_to_end(&mut head.headers);
    head.extensions.clear();
    let media_type = head
        .headers
        .get(header::CONTENT_TYPE)
        .map(HeaderValue::as_bytes);
    let is_endless = media_type.is_some_and(|it| it.starts_with(b"text/event-stream"));
    let cut =
        is_endless.then(|| -> Pin<Box<dyn Future<Output = ()> + Send>> { Box::pin(deposed()) });
    Response::from_parts(
        head,
        Body::new(Relayed {
            body,
            cut,
            is_over: false,
            _place: place,
        }),
    )
}

/// Whether nothing of a request was written.
fn is_unsent(error: &legacy::Error) -> bool {
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<hyper::Error>());
    error.is_connect() || source.is_some_and(hyper::Error::is_canceled)
}

/// The innermost cause, such as a refused connection.
fn root(error: &legacy::Error) -> &dyn std::error::Error {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause
}

/// A connector with a time limit for all of it: names, connection and TLS.
#[derive(Debug, Clone)]
struct Timed<C>(C);

impl<C> Service<Uri> for Timed<C>
where
    C: Service<Uri, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move {
            tokio::select! {
                connected = connecting => connected.map_err(Into::into),
                () = sleep(CONNECT_WITHIN) => Err("it took too long to connect".into()),
            }
        })
    }
}
