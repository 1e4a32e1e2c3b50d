//! One attempt: a request to an address that may be anybody's. It costs a bounded time and a bounded amount
//! of what is answered, follows nothing, and goes nowhere but where webhooks may go.

use std::{
    error::Error as _,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder, Response, header::RETRY_AFTER, redirect};
use tokio::time::timeout_at;

use super::{
    address::{Forbidden, Guarded, LookUp, Reach},
    said::{self, MOST_KEPT},
};
use crate::outbound::standard_webhooks::{ID, SIGNATURE, TIMESTAMP};

/// Read of an answer before the connection is closed.
const MOST_READ: usize = 16 * 1024;
/// Characters of an answer, or of an error, that are shown.
const MOST_SHOWN: usize = 200;
/// Connections that are kept for the next deliveries, for each receiver, and for how long.
const IDLE_CONNECTIONS: usize = 4;
const IDLE: Duration = Duration::from_secs(30);

/// Sends to wherever webhooks may go.
pub(super) struct Sender {
    reach: Reach,
    patience: Duration,
    look_up: LookUp,
    /// For plain HTTP, and for TLS: set up with the first use, so that a server without webhooks needs no
    /// certificate authorities.
    clients: Mutex<[Option<Client>; 2]>,
}

/// What is sent.
pub(super) struct Parcel {
    pub(super) url: String,
    pub(super) id: String,
    pub(super) seconds: i64,
    pub(super) signature: String,
    pub(super) body: Vec<u8>,
}

impl Parcel {
    /// What goes with the body, as it is sent and as it is shown.
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

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// `None`: there was none.
    pub(super) status_code: Option<u16>,
    /// What went wrong; `None`: it was accepted.
    pub(super) error: Option<Box<str>>,
    /// When the receiver asks to be tried again, in its own words.
    pub(super) retry_after: Option<String>,
    pub(super) millis: u32,
    /// Headers that are kept, the body's beginning, and whether that is not all of it.
    pub(super) said: Option<Words>,
}

/// See [`said::Said`].
pub(super) type Words = (Vec<(Box<str>, Box<str>)>, Box<str>, bool);

impl Sender {
    pub(super) fn new(reach: Reach, patience: Duration, look_up: LookUp) -> Self {
        Self {
            reach,
            patience,
            look_up,
            clients: Mutex::default(),
        }
    }

    /// Where it sends to.
    pub(super) const fn reach(&self) -> Reach {
        self.reach
    }

    /// Sends once.
    pub(super) async fn send(&self, parcel: Parcel) -> Answer {
        let start = Instant::now();
        let mut answer = self.exchange(parcel).await.unwrap_or_else(|error| Answer {
            status_code: None,
            error: Some(error.into()),
            retry_after: None,
            millis: 0,
            said: None,
        });
        answer.millis = u32::try_from(start.elapsed().as_millis()).unwrap_or(u32::MAX);
        answer
    }

    async fn exchange(&self, parcel: Parcel) -> Result<Answer, String> {
        let request = self.request(parcel)?;
        let deadline = tokio::time::Instant::now()
            .checked_add(self.patience)
            .ok_or("it would take too long")?;
        let sent = timeout_at(deadline, request.send()).await;
        let late = |_| format!("There was no answer within {} s.", self.patience.as_secs());
        let response = sent.map_err(late)?.map_err(|error| reason(&error))?;
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok());
        let retry_after = retry_after.map(str::to_owned);
        // Its status is the answer, however long the rest takes.
        let headers = said::headers(response.headers());
        let mut kept = Vec::new();
        let whole = timeout_at(deadline, read(response, &mut kept)).await;
        let is_cut = !whole.unwrap_or(false);
        Ok(Answer {
            status_code: Some(status.as_u16()),
            error: (!status.is_success()).then(|| refusal(status.as_u16(), &kept).into()),
            retry_after,
            millis: 0,
            said: Some((headers, said::body(&kept, is_cut), is_cut)),
        })
    }

    fn request(&self, parcel: Parcel) -> Result<RequestBuilder, String> {
        let url = self.reach.read(&parcel.url);
        let url = url.map_err(|forbidden| forbidden.to_string())?;
        let client = self.client(url.scheme() == "http")?;
        let mut request = client.post(url);
        for (name, value) in parcel.headers() {
            request = request.header(name, value);
        }
        Ok(request.body(parcel.body))
    }

    fn client(&self, plain: bool) -> Result<Client, String> {
        let mut clients = self.clients.lock();
        let [for_plain, for_tls] = &mut *clients;
        let slot = if plain { for_plain } else { for_tls };
        if let Some(client) = slot {
            return Ok(client.clone());
        }
        // Refused only where one is chosen already; any will do.
        drop(rustls::crypto::ring::default_provider().install_default());
        let guarded = Guarded {
            reach: self.reach,
            look_up: self.look_up.clone(),
        };
        let mut builder = Client::builder()
            .dns_resolver(guarded)
            // A proxy would look addresses up for itself.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE);
        if plain {
            // Without TLS no certificate authorities have to be there.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| reason(&error))?;
        *slot = Some(client.clone());
        Ok(client)
    }
}

/// Reads so much that the connection can be used again, and keeps the beginning. Whether that is all.
async fn read(mut response: Response, kept: &mut Vec<u8>) -> bool {
    let mut length = 0_usize;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let room = MOST_KEPT.saturating_sub(kept.len());
                kept.extend(chunk.iter().take(room));
                length = length.saturating_add(chunk.len());
            }
            Ok(None) => return length <= MOST_KEPT,
            Err(_) => return false,
        }
        if length >= MOST_READ {
            return false;
        }
    }
}

fn refusal(status: u16, body: &[u8]) -> String {
    let said = shown(&String::from_utf8_lossy(body));
    if said.is_empty() {
        return format!("It answered {status}.");
    }
    format!("It answered {status}: {said}")
}

/// Why there was no answer. Without the address, which is known where this is read.
fn reason(error: &reqwest::Error) -> String {
    let (mut next, mut last) = (error.source(), None);
    while let Some(cause) = next {
        next = cause.source();
        if let Some(forbidden) = cause.downcast_ref::<Forbidden>() {
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
    let line = text.trim().chars().take(MOST_SHOWN);
    line.map(|char| if char.is_control() { ' ' } else { char })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::outbound::webhooks::address::system;

    fn parcel(url: &str) -> Parcel {
        Parcel {
            url: url.into(),
            id: "evt_1".into(),
            seconds: 1,
            signature: "v1,x".into(),
            body: b"{}".to_vec(),
        }
    }

    /// A port where somebody would hear of a connection.
    async fn ear() -> (tokio::net::TcpListener, u16) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    async fn nobody_came(listener: tokio::net::TcpListener) -> bool {
        let listener = listener.into_std().unwrap();
        let came = listener.accept();
        came.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }

    #[tokio::test]
    async fn a_name_of_a_private_address_is_never_connected_to() {
        let (listener, port) = ear().await;
        let look_up: LookUp =
            Arc::new(|_| Box::pin(async { Ok(vec!["127.0.0.1:0".parse().unwrap()]) }));
        let sender = Sender::new(Reach::Public, Duration::from_secs(5), look_up);
        let answer = sender
            .send(parcel(&format!("https://shop.example:{port}/")))
            .await;
        assert_eq!(answer.status_code, None);
        assert_eq!(answer.error, Some(Forbidden::NotPublic.to_string().into()));
        assert!(nobody_came(listener).await);
    }

    #[tokio::test]
    async fn loopback_is_private_by_whatever_name() {
        let (listener, port) = ear().await;
        let sender = Sender::new(Reach::Public, Duration::from_secs(5), system());
        for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"] {
            let answer = sender
                .send(parcel(&format!("https://{host}:{port}/")))
                .await;
            assert_eq!(
                answer.error,
                Some(Forbidden::NotPublic.to_string().into()),
                "{host}"
            );
        }
        assert!(nobody_came(listener).await);
    }

    #[tokio::test]
    async fn whoever_is_not_there_is_said_to_be_without_the_address() {
        let (listener, port) = ear().await;
        drop(listener);
        let sender = Sender::new(Reach::Anywhere, Duration::from_secs(5), system());
        let answer = sender
            .send(parcel(&format!("http://127.0.0.1:{port}/a-secret")))
            .await;
        let error = answer.error.unwrap();
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
