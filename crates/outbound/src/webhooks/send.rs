//! Sends one request to an address that anybody may have chosen. Its time and the bytes read of the response
//! are bounded, it follows no redirect, and it connects only to permitted addresses.

use std::{
    error::Error as _,
    time::{Duration, Instant},
};

use domain::Timestamp;
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder, Response, header::RETRY_AFTER, redirect};
use tokio::time::timeout_at;

use super::{
    address::{GuardedResolver, InvalidUrl, LookUp, NetworkPolicy},
    delivery::Attempt,
    summary::{self, MAX_KEPT, ResponseSummary},
};
use crate::standard_webhooks::{ID, SIGNATURE, TIMESTAMP};

/// Bytes of a response that are read before the connection is closed.
const MAX_READ: usize = 16 * 1024;
const MAX_ERROR_CHARS: usize = 200;
/// Idle connections kept for each receiver, and for how long.
const IDLE_CONNECTIONS: usize = 4;
const IDLE: Duration = Duration::from_secs(30);

/// Sends requests to permitted addresses.
pub(super) struct Sender {
    reach: NetworkPolicy,
    timeout: Duration,
    look_up: LookUp,
    /// For plain HTTP and for TLS. Each is built when first used: a server without webhooks then needs no
    /// certificate authorities.
    clients: Mutex<[Option<Client>; 2]>,
}

pub(super) struct OutgoingRequest {
    pub(super) url: String,
    pub(super) id: String,
    pub(super) seconds: i64,
    pub(super) signature: String,
    pub(super) body: Vec<u8>,
}

impl OutgoingRequest {
    /// The headers, as they are sent and as they are shown.
    pub(super) fn headers(&self) -> [(&'static str, String); 5] {
        [
            ("content-type", "application/json".into()),
            (
                "user-agent",
                concat!("Scrip/", env!("CARGO_PKG_VERSION")).into(),
            ),
            (ID, self.id.clone()),
            (TIMESTAMP, self.seconds.to_string()),
            (SIGNATURE, self.signature.clone()),
        ]
    }
}

/// An attempt, the response to it, and that one's `Retry-After` header.
pub(super) struct SendResult {
    pub(super) attempt: Attempt,
    pub(super) response: Option<ResponseSummary>,
    pub(super) retry_after: Option<String>,
}

impl Sender {
    pub(super) fn new(reach: NetworkPolicy, timeout: Duration, look_up: LookUp) -> Self {
        Self {
            reach,
            timeout,
            look_up,
            clients: Mutex::default(),
        }
    }

    /// Which addresses it sends to.
    pub(super) const fn reach(&self) -> NetworkPolicy {
        self.reach
    }

    pub(super) async fn send(&self, outgoing: OutgoingRequest, at: Timestamp) -> SendResult {
        let start = Instant::now();
        let answered = self.exchange(outgoing, at).await;
        let (response, error, retry_after) = match answered {
            Ok((response, error, retry_after)) => (Some(response), error, retry_after),
            Err(error) => (None, Some(error), None),
        };
        let attempt = Attempt {
            at,
            status_code: response.as_ref().map(|response| response.status_code),
            error: error.map(Into::into),
            millis: u32::try_from(start.elapsed().as_millis()).unwrap_or(u32::MAX),
        };
        SendResult {
            attempt,
            response,
            retry_after,
        }
    }

    /// The response, why it is not accepted, and its `Retry-After` header; else why there is none.
    async fn exchange(
        &self,
        outgoing: OutgoingRequest,
        at: Timestamp,
    ) -> Result<(ResponseSummary, Option<String>, Option<String>), String> {
        let request = self.request(outgoing)?;
        let deadline = tokio::time::Instant::now()
            .checked_add(self.timeout)
            .ok_or("the timeout is too long")?;
        let sent = timeout_at(deadline, request.send()).await;
        let late = |_| format!("There was no answer within {} s.", self.timeout.as_secs());
        let response = sent.map_err(late)?.map_err(|error| reason(&error))?;
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok());
        let retry_after = retry_after.map(str::to_owned);
        // The status is the result, however long the body takes.
        let headers = summary::headers(response.headers());
        let mut bytes = Vec::new();
        let whole = timeout_at(deadline, read(response, &mut bytes)).await;
        let is_cut = !whole.unwrap_or(false);
        let error = (!status.is_success()).then(|| refusal(status.as_u16(), &bytes));
        let response = ResponseSummary {
            at,
            status_code: status.as_u16(),
            headers,
            body: summary::body(&bytes, is_cut),
            is_cut,
        };
        Ok((response, error, retry_after))
    }

    fn request(&self, outgoing: OutgoingRequest) -> Result<RequestBuilder, String> {
        let url = self.reach.read(&outgoing.url);
        let url = url.map_err(|forbidden| forbidden.to_string())?;
        let client = self.client(url.scheme() == "http")?;
        let mut request = client.post(url);
        for (name, value) in outgoing.headers() {
            request = request.header(name, value);
        }
        Ok(request.body(outgoing.body))
    }

    fn client(&self, plain: bool) -> Result<Client, String> {
        let mut clients = self.clients.lock();
        let [for_plain, for_tls] = &mut *clients;
        let slot = if plain { for_plain } else { for_tls };
        if let Some(client) = slot {
            return Ok(client.clone());
        }
        // Fails only where a provider is installed already; any will do.
        drop(rustls::crypto::ring::default_provider().install_default());
        let guarded = GuardedResolver {
            reach: self.reach,
            look_up: self.look_up.clone(),
        };
        let mut builder = Client::builder()
            .dns_resolver(guarded)
            // A proxy would resolve names itself.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE);
        if plain {
            // Without TLS no certificate authorities are needed.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| reason(&error))?;
        *slot = Some(client.clone());
        Ok(client)
    }
}

/// Reads enough for the connection to be reused, and keeps the beginning. Returns whether that is all.
async fn read(mut response: Response, bytes: &mut Vec<u8>) -> bool {
    let mut length = 0_usize;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let room = MAX_KEPT.saturating_sub(bytes.len());
                bytes.extend(chunk.iter().take(room));
                length = length.saturating_add(chunk.len());
            }
            Ok(None) => return length <= MAX_KEPT,
            Err(_) => return false,
        }
        if length >= MAX_READ {
            return false;
        }
    }
}

/// The error of an attempt that was answered with this status and body.
pub(super) fn refusal(status: u16, body: &[u8]) -> String {
    let summary = shown(&String::from_utf8_lossy(body));
    if summary.is_empty() {
        return format!("It answered {status}.");
    }
    format!("It answered {status}: {summary}")
}

/// Why there was no response, without the address: the reader knows it.
fn reason(error: &reqwest::Error) -> String {
    let (mut next, mut last) = (error.source(), None);
    while let Some(cause) = next {
        next = cause.source();
        if let Some(forbidden) = cause.downcast_ref::<InvalidUrl>() {
            return forbidden.to_string();
        }
        last = Some(cause.to_string());
    }
    let last = last.unwrap_or_else(|| "the request could not be sent".into());
    let what = if error.is_connect() {
        "No connection"
    } else {
        "No answer"
    };
    format!("{what}: {}", shown(&last))
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    let line = text.trim().chars().take(MAX_ERROR_CHARS);
    line.map(|char| if char.is_control() { ' ' } else { char })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::webhooks::address::system;

    fn outgoing(url: &str) -> OutgoingRequest {
        OutgoingRequest {
            url: url.into(),
            id: "evt_1".into(),
            seconds: 1,
            signature: "v1,x".into(),
            body: b"{}".to_vec(),
        }
    }

    /// A listener that would notice a connection, and its port.
    async fn listener() -> (tokio::net::TcpListener, u16) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    async fn is_unused(listener: tokio::net::TcpListener) -> bool {
        let listener = listener.into_std().unwrap();
        let connection = listener.accept();
        connection.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }

    #[tokio::test]
    async fn a_name_of_a_private_address_is_never_connected_to() {
        let (listener, port) = listener().await;
        let look_up: LookUp =
            Arc::new(|_| Box::pin(async { Ok(vec!["127.0.0.1:0".parse().unwrap()]) }));
        let sender = Sender::new(NetworkPolicy::Public, Duration::from_secs(5), look_up);
        let answer = sender
            .send(
                outgoing(&format!("https://shop.example:{port}/")),
                Timestamp(0),
            )
            .await;
        assert_eq!(answer.attempt.status_code, None);
        assert_eq!(
            answer.attempt.error,
            Some(InvalidUrl::NotPublic.to_string().into())
        );
        assert!(is_unused(listener).await);
    }

    #[tokio::test]
    async fn loopback_is_private_by_any_name() {
        let (listener, port) = listener().await;
        let sender = Sender::new(NetworkPolicy::Public, Duration::from_secs(5), system());
        for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"] {
            let answer = sender
                .send(outgoing(&format!("https://{host}:{port}/")), Timestamp(0))
                .await;
            assert_eq!(
                answer.attempt.error,
                Some(InvalidUrl::NotPublic.to_string().into()),
                "{host}"
            );
        }
        assert!(is_unused(listener).await);
    }

    #[tokio::test]
    async fn who_does_not_answer_is_named_without_the_address() {
        let (listener, port) = listener().await;
        drop(listener);
        let sender = Sender::new(NetworkPolicy::Anywhere, Duration::from_secs(5), system());
        let answer = sender
            .send(
                outgoing(&format!("http://127.0.0.1:{port}/a-secret")),
                Timestamp(0),
            )
            .await;
        let error = answer.attempt.error.unwrap();
        assert!(error.starts_with("No connection: "), "{error}");
        assert!(!error.contains("a-secret"), "{error}");
    }

    #[test]
    fn an_answer_is_shown_on_one_line() {
        assert_eq!(refusal(500, b""), "It answered 500.");
        assert_eq!(
            refusal(404, b" no\r\nsuch \xff"),
            "It answered 404: no  such \u{fffd}"
        );
        assert!(refusal(500, &[b'x'; 5000]).len() < 250);
    }
}
