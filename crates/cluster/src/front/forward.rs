//! Sends a request to the process that leads, as it came, and its answer back. A request is sent again only where it was
//! provably not taken; where that is unknown, the answer says so.

use std::{
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use actors::Shares;
use axum::{
    BoxError,
    body::Body,
    http::{
        HeaderMap, HeaderValue, Method, Request, Response, Version, header, request::Parts,
        response, uri::PathAndQuery,
    },
};
use bytes::Bytes;
use http_body::Body as HttpBody;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy;
use ipnet::IpNet;
use rustls::{ClientConfig, RootCertStore};
use scrip_http::{client::root_cause, connections::IncomingRequest, limits::Client};
use tokio::time::timeout;

use crate::front::{
    body::{BLOCK_BYTES, Payload, Relayed},
    connector::{self, HttpClient, is_unsent},
    credentials::{Credentials, Held, Holder, Places},
    headers::{FOR_CELL, FORWARDED, NOT_LEADING, WHOSE, X_FORWARDED_FOR, keep_end_to_end},
    origin::Origin,
    tls,
    token::{Author, ForwardKey, Forwarded},
};

/// For an answer: its head, and all of it where it is kept.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Blocks of bodies that are kept at once.
const KEPT_BLOCKS: usize = 64 * 1024 * 1024 / BLOCK_BYTES;
/// Of the requests that may be under way to a leader, one in so many may be a stream, which lasts for as long as its
/// reader likes.
const STREAMS: usize = 4;
/// And one in so many may have a body that is passed on piece by piece, for as long as its sender or reader takes.
const PASSED_BODIES: usize = 8;
/// A client may have one stream, or one such body, of so many that are left.
const STREAMS_PART: usize = 8;
const PASSED_PART: usize = 4;

#[derive(Debug, Clone)]
pub struct ForwardSettings {
    /// Proxies whose `X-Forwarded-For` is believed, as for the limits. It is judged here; the leader gets the result.
    pub trusted_proxies: Vec<IpNet>,
    /// Bytes of a body that is kept: as large as the API takes any. Larger ones are passed on unread.
    pub max_kept_body_bytes: usize,
    /// Requests that may be under way to one leader at once: no more than a leader takes connections from this process.
    /// Streams, and bodies that are passed on, have places of their own among them; each project and client has its
    /// share.
    pub max_under_way: usize,
    /// How leaders that speak TLS are judged, as by [`tls::trusting_system`]. `None`: none of them is trusted.
    pub tls: Option<ClientConfig>,
}

/// Passes requests on to leaders. Cheap to clone.
#[derive(Clone)]
pub struct Forwarder(Arc<Inner>);

struct Inner {
    key: ForwardKey,
    trusted_proxies: Vec<IpNet>,
    max_kept: usize,
    max_under_way: usize,
    kept: Places,
    client: HttpClient,
    credentials: Credentials,
}

/// What this process keeps of its exchange with one cell, under any leader. Cells do not take each other's places.
pub(super) struct Link {
    pub(super) cell: i16,
    whole: Places,
    passed: Places,
    streams: Places,
    /// Whether the log says already that the leader cannot be reached.
    is_cut_off: AtomicBool,
}

/// A request that is to be forwarded.
pub(super) struct Outgoing {
    /// As it came: this process may come to lead while it waits.
    pub(super) head: Parts,
    pub(super) payload: Payload,
    /// Its client, as this process sees it.
    client: SocketAddr,
}

/// How an exchange broke off.
enum Failure {
    Unanswered(legacy::Error),
    Broken(BoxError),
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
    /// # Errors
    /// Only where TLS cannot be set up at all, which is a defect.
    pub fn new(server_key: &[u8; 32], settings: ForwardSettings) -> Result<Self, rustls::Error> {
        let tls = settings.tls;
        let tls = tls.map_or_else(|| tls::trusting(RootCertStore::empty()), Ok)?;
        Ok(Self(Arc::new(Inner {
            key: ForwardKey::new(server_key),
            trusted_proxies: settings.trusted_proxies,
            max_kept: settings.max_kept_body_bytes,
            max_under_way: settings.max_under_way,
            kept: Shares::new(KEPT_BLOCKS),
            client: connector::client(tls),
            credentials: Credentials::default(),
        })))
    }

    /// A link to a cell that none was made to before.
    pub(super) fn link(&self, cell: i16) -> Arc<Link> {
        let all = self.0.max_under_way;
        let part = |number: usize| all.div_euclid(number).max(1);
        let (streams, passed) = (part(STREAMS), part(PASSED_BODIES));
        let whole = all.saturating_sub(streams).saturating_sub(passed).max(1);
        Arc::new(Link {
            cell,
            whole: Shares::new(whole),
            passed: Shares::new(passed).with_client_part(PASSED_PART),
            streams: Shares::new(streams).with_client_part(STREAMS_PART),
            is_cut_off: AtomicBool::new(false),
        })
    }

    /// Takes the proof off a request. `Some`: another process passed it on.
    pub(super) fn open(&self, request: &mut IncomingRequest) -> Option<Forwarded> {
        self.0.key.open(request)
    }

    /// The client of a request, as this process sees it. All of a network is one.
    pub(super) fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> SocketAddr {
        let client = Client::of(peer.ip(), headers, &self.0.trusted_proxies);
        SocketAddr::new(client.address(), peer.port())
    }

    /// In whose name a request of this client takes places. All of a site is one there.
    pub(super) fn holder(&self, headers: &HeaderMap, client: SocketAddr) -> Holder {
        let site = Client::from(client.ip()).site();
        self.0.credentials.holder(headers, site.address())
    }

    /// Reads a request as far as it is kept.
    /// # Errors
    /// Its body does not arrive.
    pub(super) async fn read(
        &self,
        request: IncomingRequest,
        client: SocketAddr,
    ) -> Result<Outgoing, BoxError> {
        let (head, body) = request.into_parts();
        let room = self.holder(&head.headers, client).share(&self.0.kept);
        let payload = Payload::read(body, self.0.max_kept, room).await?;
        Ok(Outgoing {
            head,
            payload,
            client,
        })
    }

    /// Sends a request to the process that leads a cell. `superseded` ends when it is no longer for that process to answer.
    pub(super) async fn send<D>(
        &self,
        link: &Link,
        origin: &Origin,
        outgoing: &mut Outgoing,
        superseded: impl Fn() -> D,
    ) -> Fate
    where
        D: Future<Output = ()> + Send + 'static,
    {
        let holder = self.holder(&outgoing.head.headers, outgoing.client);
        let is_passed = matches!(outgoing.payload, Payload::Once(_));
        let places = if is_passed { &link.passed } else { &link.whole };
        let Some(place) = holder.take(places) else {
            return Fate::NoRoom;
        };
        let Some(request) = self.request(link.cell, origin, outgoing) else {
            return Fate::NotTaken;
        };
        let sent = tokio::select! {
            sent = timeout(ANSWER_TIMEOUT, self.answer(request, holder)) => sent,
            () = superseded() => return Fate::Unknown,
        };
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(Failure::Unanswered(error))) if is_unsent(&error) => {
                if !link.is_cut_off.swap(true, Relaxed) {
                    tracing::warn!(leader = %origin, error = %root_cause(&error), "The leader cannot be reached");
                }
                return Fate::NotTaken;
            }
            Ok(Err(Failure::Unanswered(error))) => {
                tracing::debug!(leader = %origin, error = %root_cause(&error), "The leader broke off");
                return Fate::Unknown;
            }
            Ok(Err(Failure::Broken(error))) => {
                tracing::debug!(leader = %origin, %error, "The leader broke off within an answer");
                return Fate::Unknown;
            }
            Err(_) => {
                tracing::debug!(leader = %origin, "The leader does not answer");
                return Fate::Unknown;
            }
        };
        if link.is_cut_off.swap(false, Relaxed) {
            tracing::info!(leader = %origin, "The leader is reached again");
        }
        if response.headers().contains_key(NOT_LEADING) {
            return Fate::NotTaken;
        }
        let Outgoing { head, client, .. } = &*outgoing;
        if let Some(said) = response.headers().get(WHOSE) {
            self.0.credentials.hear(&head.headers, said);
        }
        let (answer, payload) = response.into_parts();
        match payload {
            // The leader has done its part: however slowly it is read, it holds no place.
            Payload::Whole(bytes, room) => {
                Fate::Answered(relayed(answer, Full::new(bytes), room, None))
            }
            Payload::Once(body) if is_endless(&answer.headers) => {
                let holder = self.holder(&head.headers, *client);
                let cut = Box::pin(superseded());
                let place = holder.take(&link.streams);
                place.map_or(Fate::NoRoom, |place| {
                    Fate::Answered(relayed(answer, body, place, Some(cut)))
                })
            }
            Payload::Once(body) => {
                let place = match is_passed {
                    true => Some(place),
                    false => holder.take(&link.passed),
                };
                match place {
                    Some(place) => Fate::Answered(relayed(answer, body, place, None)),
                    None if head.method.is_safe() => Fate::NoRoom,
                    None => Fate::Unknown,
                }
            }
            Payload::Gone => Fate::Unknown,
        }
    }

    /// Has a request answered, and keeps the answer whole where it is no larger than is kept and there is room for it.
    async fn answer(
        &self,
        request: Request<Body>,
        holder: Holder,
    ) -> Result<Response<Payload>, Failure> {
        let response = self.exchange(request).await.map_err(Failure::Unanswered)?;
        let (head, body) = response.into_parts();
        let payload = match body.size_hint().exact() {
            Some(_) => {
                let room = holder.share(&self.0.kept);
                let read = Payload::read(body, self.0.max_kept, room).await;
                read.map_err(Failure::Broken)?
            }
            // Nobody knows when the next piece comes.
            None => Payload::Once(Body::new(body)),
        };
        Ok(Response::from_parts(head, payload))
    }

    /// Sends what was signed, and waits for the head of its answer.
    /// # Errors
    /// There is none.
    pub(super) async fn exchange(
        &self,
        request: Request<Body>,
    ) -> Result<Response<Incoming>, legacy::Error> {
        self.0.client.request(request).await
    }

    /// The request as it is sent; `None` where its body is gone, or it has no address there.
    fn request(&self, cell: i16, to: &Origin, outgoing: &mut Outgoing) -> Option<Request<Body>> {
        let Parts {
            method,
            uri,
            headers,
            ..
        } = &outgoing.head;
        let root = PathAndQuery::from_static("/");
        let path = uri.path_and_query().cloned().unwrap_or(root);
        let from = (Author::Client, outgoing.client);
        let mut request = self.signed(from, (cell, to), method, path, headers)?;
        if self.0.credentials.is_new(headers) {
            let asked = HeaderValue::from_static("?");
            request.headers_mut().insert(WHOSE, asked);
        }
        *request.body_mut() = outgoing.payload.take()?;
        Some(request)
    }

    /// A request in a client's name to the process that leads a cell, without its body; `None` where it has no address there.
    pub(super) fn signed(
        &self,
        (author, client): (Author, SocketAddr),
        (cell, to): (i16, &Origin),
        method: &Method,
        path: PathAndQuery,
        headers: &HeaderMap,
    ) -> Option<Request<Body>> {
        let uri = to.with(path).ok()?;
        let token = self.0.key.sign(author, client, method, &uri)?;
        let mut headers = headers.clone();
        keep_end_to_end(&mut headers);
        headers.remove(X_FORWARDED_FOR);
        headers.insert(FORWARDED, token);
        headers.insert(FOR_CELL, HeaderValue::from(cell));
        let mut request = Request::new(Body::empty());
        *request.method_mut() = method.clone();
        *request.uri_mut() = uri;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = headers;
        Some(request)
    }
}

/// Whether an answer has no end of its own.
fn is_endless(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE);
    media_type.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"))
}

/// The leader's answer, for the client.
fn relayed<B>(
    mut head: response::Parts,
    body: B,
    place: Held,
    cut: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
) -> Response<Body>
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    keep_end_to_end(&mut head.headers);
    head.extensions.clear();
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
