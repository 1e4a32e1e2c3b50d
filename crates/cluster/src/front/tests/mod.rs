//! What clients notice of processes that stand in front of one leader: real servers on loopback, asked as a client asks.

mod cells;
mod forwarding;
mod holding;
mod streams;
mod trust;

use std::{
    convert::Infallible,
    future::pending,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    http::HeaderMap,
    response::Response,
    routing::{any, get},
};
use domain::id::ProjectId;
use scrip_http::connections::{self, Server, ServerSettings, listen, reserve, tls::Tls};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::front::{CredentialOwner, ForwardSettings, Forwarder, Front, FrontSwitch, Origin};

/// The key that all processes of a test share.
const SERVER_KEY: [u8; 32] = [7; 32];
const HTTP: ServerSettings = ServerSettings {
    max_connections: 300,
    max_connections_per_client: 300,
    head_timeout_seconds: 300,
    body_timeout_seconds: 300,
    write_timeout_seconds: 300,
};

fn settings() -> ForwardSettings {
    ForwardSettings {
        trusted_proxies: Vec::new(),
        max_kept_body_bytes: 64 * 1024,
        max_under_way: 100,
        tls: None,
    }
}

/// A process: its address, and what tells its front who leads.
struct Node {
    address: SocketAddr,
    switch: FrontSwitch<Router>,
}

impl Node {
    fn start() -> Self {
        Self::with(settings())
    }

    fn with(settings: ForwardSettings) -> Self {
        let (front, switch) = front(settings);
        let address = serve(front, None);
        Self { address, switch }
    }

    /// A process that leads with this service.
    fn leading(service: Router) -> Self {
        let node = Self::start();
        node.switch.here(service);
        node
    }

    /// A process that passes requests on to another.
    fn following(leader: SocketAddr) -> Self {
        let node = Self::start();
        node.switch.elsewhere(origin(leader));
        node
    }
}

impl FrontSwitch<Router> {
    /// This process leads the one cell that there is.
    fn here(&self, service: Router) {
        self.here_while(service, Router::new(), |_| None, whose, || true);
    }
}

/// Whose a key is: `pay_sk_7` is a server's of project 7, `pay_pk_7` and `pay_pk_7.1` are in its pages.
fn whose(headers: &HeaderMap) -> Option<CredentialOwner> {
    let key = headers.get("authorization")?.to_str().ok()?;
    let (kind, project) = key.strip_prefix("Bearer pay_")?.split_once("k_")?;
    let project = project.split('.').next()?;
    Some(CredentialOwner {
        project: ProjectId(project.parse().ok()?),
        is_server: kind == "s",
    })
}

fn front(settings: ForwardSettings) -> (Front<Router>, FrontSwitch<Router>) {
    let local = Router::new()
        .route("/healthz", get(|| async { "local health" }))
        .route("/readyz", get(|| async { "local readiness" }))
        .route("/metrics", get(|| async { "local metrics" }));
    let forwarder = Forwarder::new(&SERVER_KEY, settings).unwrap();
    Front::new(local, forwarder, 0, Arc::new(|_, _| None))
}

fn serve<F: connections::Responder>(front: F, tls: Option<Arc<Tls>>) -> SocketAddr {
    let listener = listen(reserve("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(listener, front, HTTP).speaking(tls);
    tokio::spawn(server.run(pending(), pending()));
    address
}

fn origin(address: SocketAddr) -> Origin {
    address.try_into().unwrap()
}

/// An address at which nothing listens, for as long as the socket is kept.
fn nowhere() -> (tokio::net::TcpSocket, SocketAddr) {
    let socket = reserve("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// Answers everything with what it saw: `METHOD target|peer's address|body`, and all headers again under `saw-`.
fn mirror() -> Router {
    Router::new().fallback(any(reflect))
}

/// A mirror that counts what it is asked.
fn counting() -> (Router, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let service = Router::new().fallback(any(async move |peer, request| {
        seen.fetch_add(1, SeqCst);
        reflect(peer, request).await
    }));
    (service, count)
}

async fn reflect(ConnectInfo(peer): ConnectInfo<SocketAddr>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let body = String::from_utf8_lossy(&body);
    let text = format!("{} {}|{}|{body}", head.method, head.uri, peer.ip());
    let mut response = Response::new(Body::from(text));
    let headers: &mut HeaderMap = response.headers_mut();
    for (name, value) in &head.headers {
        let name: axum::http::HeaderName = format!("saw-{name}").parse().unwrap();
        headers.append(name, value.clone());
    }
    response
}

/// Sends this and reads until the connection's end.
async fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

async fn get_from(address: SocketAddr, path: &str) -> String {
    ask(
        address,
        &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
    )
    .await
}

/// A request with this body and a declared length.
fn post(body: &str) -> String {
    let length = body.len();
    format!(
        "POST /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// Reads from a stream until this text has come.
async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut read = String::new();
    let mut piece = [0; 4096];
    while !read.contains(text) {
        let bytes = stream.read(&mut piece).await.unwrap();
        assert!(bytes > 0, "ended after {read:?}");
        read.push_str(&String::from_utf8_lossy(&piece[..bytes]));
    }
    read
}

/// Lets other tasks run until this holds.
async fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}

fn is_refusal(answer: &str, code: &str) -> bool {
    answer.starts_with("HTTP/1.1 503 ")
        && answer.contains("\r\nretry-after: 1\r\n")
        && answer.contains("\r\nx-request-id: req_")
        && answer.contains(&format!("{{\"code\":\"{code}\","))
        && !answer.contains("scrip-")
}

/// A body of the pieces that are sent into the channel.
fn pieces() -> (tokio::sync::mpsc::UnboundedSender<&'static str>, Body) {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let stream = futures_util::stream::unfold(receiver, |mut receiver| async {
        let piece: &'static str = receiver.recv().await?;
        Some((Ok::<_, Infallible>(piece), receiver))
    });
    (sender, Body::from_stream(stream))
}
