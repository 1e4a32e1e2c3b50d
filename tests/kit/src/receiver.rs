//! A project's own server, as a test needs it: it takes webhooks, answers as it is told, and remembers.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;

/// One delivery as it came in.
#[derive(Debug, Clone)]
pub struct Received {
    /// All headers.
    pub headers: HeaderMap,
    /// The body, byte by byte.
    pub raw: Vec<u8>,
    /// The same as JSON.
    pub body: Value,
}

/// How to answer.
#[derive(Debug, Clone)]
pub enum Say {
    /// This status.
    Status(u16),
    /// This status, and when to try again.
    After(u16, &'static str),
    /// This status, with this body.
    Body(u16, String),
    /// Sent somewhere else.
    Redirect(String),
    /// No answer, for as long as anybody waits.
    Silence,
}

/// A server on loopback; it ends with the test's runtime.
#[derive(Clone)]
pub struct Receiver {
    /// Where it takes webhooks.
    pub url: String,
    desk: Arc<Desk>,
}

#[derive(Default)]
struct Desk {
    state: Mutex<Inbox>,
    came: Notify,
}

#[derive(Default)]
struct Inbox {
    received: Vec<Received>,
    next: VecDeque<Say>,
    always: Option<Say>,
    /// By user.
    of: HashMap<String, Say>,
}

impl Receiver {
    /// One that accepts everything.
    pub async fn start() -> Self {
        let desk = Arc::new(Desk::default());
        let router = Router::new().fallback(take).with_state(Arc::clone(&desk));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, desk }
    }

    /// Answers the next delivery so, and after what was told before.
    pub fn next(&self, say: Say) {
        self.desk.state.lock().next.push_back(say);
    }

    /// Answers all others so; `None`: accepts them.
    pub fn always(&self, say: Option<Say>) {
        self.desk.state.lock().always = say;
    }

    /// Answers those of a user so; `None`: as all others.
    pub fn of(&self, user: &str, say: Option<Say>) {
        let mut state = self.desk.state.lock();
        match say {
            Some(say) => drop(state.of.insert(user.to_owned(), say)),
            None => drop(state.of.remove(user)),
        }
    }

    /// All that came in, accepted or not.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.desk.state.lock().received.clone()
    }

    /// Kind, user and balance of each.
    #[must_use]
    pub fn told(&self) -> Vec<(String, String, Option<i64>)> {
        let received = self.received();
        let told = received.iter().map(Received::told);
        told.collect()
    }

    /// Waits until so many came in.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        let enough = |received: &[Received]| received.len() >= count;
        self.until(&format!("{count} webhooks"), enough).await
    }

    /// Waits until what came in is all that is wanted.
    pub async fn until(&self, wanted: &str, is_all: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let waits = async {
            loop {
                let came = self.desk.came.notified();
                let received = self.received();
                if is_all(&received) {
                    return received;
                }
                came.await;
            }
        };
        let waited = tokio::time::timeout(crate::deadline::SOON, waits).await;
        waited.unwrap_or_else(|_| panic!("{wanted} did not come: {:?}", self.told()))
    }
}

impl Received {
    /// A header, or nothing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// Kind, user and balance.
    #[must_use]
    pub fn told(&self) -> (String, String, Option<i64>) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let data = &self.body["data"];
        (
            text(&self.body["type"]),
            text(&data["externalUserId"]),
            data["balance"].as_i64(),
        )
    }
}

async fn take(State(desk): State<Arc<Desk>>, headers: HeaderMap, raw: Bytes) -> Response {
    let received = Received {
        headers,
        body: serde_json::from_slice(&raw).unwrap_or_default(),
        raw: raw.into(),
    };
    let (_, user, _) = received.told();
    let say = {
        let mut state = desk.state.lock();
        state.received.push(received);
        let of = state.of.get(&user).cloned();
        let next = of.or_else(|| state.next.pop_front());
        next.or_else(|| state.always.clone())
    };
    desk.came.notify_waiters();
    let status = |status| StatusCode::from_u16(status).unwrap();
    match say.unwrap_or(Say::Status(204)) {
        Say::Status(code) => (status(code), "as it was told").into_response(),
        Say::After(code, when) => (status(code), [("retry-after", when)]).into_response(),
        Say::Body(code, body) => (status(code), body).into_response(),
        Say::Redirect(to) => (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response(),
        Say::Silence => std::future::pending().await,
    }
}
