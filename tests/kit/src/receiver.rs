//! A project's own server for tests: it receives webhooks, gives scripted responses, and records them.

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

/// A delivery that was received.
#[derive(Debug, Clone)]
pub struct Received {
    /// All headers of the request.
    pub headers: HeaderMap,
    /// The exact bytes of the body.
    pub raw: Vec<u8>,
    /// The body as JSON.
    pub body: Value,
}

/// How to respond to a delivery.
#[derive(Debug, Clone)]
pub enum ScriptedResponse {
    /// With this status.
    Status(u16),
    /// With this status, and a `Retry-After`.
    After(u16, &'static str),
    /// With this status and body.
    Body(u16, String),
    /// With a redirect to this address.
    Redirect(String),
    /// Not at all, for as long as the sender waits.
    Silence,
}

/// A server on loopback; it ends with the test's runtime.
#[derive(Clone)]
pub struct Receiver {
    /// The address that accepts webhooks.
    pub url: String,
    shared: Arc<ReceiverState>,
}

#[derive(Default)]
struct ReceiverState {
    state: Mutex<Inbox>,
    came: Notify,
}

#[derive(Default)]
struct Inbox {
    received: Vec<Received>,
    next: VecDeque<ScriptedResponse>,
    always: Option<ScriptedResponse>,
    /// Responses by user id.
    by_user: HashMap<String, ScriptedResponse>,
}

impl Receiver {
    /// A receiver that accepts everything.
    pub async fn start() -> Self {
        let shared = Arc::new(ReceiverState::default());
        let router = Router::new().fallback(take).with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    /// Responds to the next delivery like this; queued after earlier calls.
    pub fn next(&self, response: ScriptedResponse) {
        self.shared.state.lock().next.push_back(response);
    }

    /// Responds to all other deliveries like this; `None`: accepts them.
    pub fn always(&self, response: Option<ScriptedResponse>) {
        self.shared.state.lock().always = response;
    }

    /// Responds to those of a user like this; `None`: like all others.
    pub fn of(&self, user: &str, response: Option<ScriptedResponse>) {
        let mut state = self.shared.state.lock();
        match response {
            Some(response) => drop(state.by_user.insert(user.to_owned(), response)),
            None => drop(state.by_user.remove(user)),
        }
    }

    /// All deliveries received, accepted or not.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.shared.state.lock().received.clone()
    }

    /// Type, user and balance of each delivery.
    #[must_use]
    pub fn summaries(&self) -> Vec<(String, String, Option<i64>)> {
        let received = self.received();
        received.iter().map(Received::summary).collect()
    }

    /// Waits until this many were received.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        let enough = |received: &[Received]| received.len() >= count;
        self.until(&format!("{count} webhooks"), enough).await
    }

    /// Waits until `is_all` accepts what was received.
    pub async fn until(&self, wanted: &str, is_all: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let waits = async {
            loop {
                let came = self.shared.came.notified();
                let received = self.received();
                if is_all(&received) {
                    return received;
                }
                came.await;
            }
        };
        let waited = tokio::time::timeout(crate::deadline::SOON, waits).await;
        waited.unwrap_or_else(|_| panic!("{wanted} did not come: {:?}", self.summaries()))
    }
}

impl Received {
    /// A header's value; empty if it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// Type, user and balance.
    #[must_use]
    pub fn summary(&self) -> (String, String, Option<i64>) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let data = &self.body["data"];
        (
            text(&self.body["type"]),
            text(&data["externalUserId"]),
            data["balance"].as_i64(),
        )
    }
}

async fn take(
    State(shared): State<Arc<ReceiverState>>,
    headers: HeaderMap,
    raw: Bytes,
) -> Response {
    let received = Received {
        headers,
        body: serde_json::from_slice(&raw).unwrap_or_default(),
        raw: raw.into(),
    };
    let (_, user, _) = received.summary();
    let response = {
        let mut state = shared.state.lock();
        state.received.push(received);
        let own = state.by_user.get(&user).cloned();
        let next = own.or_else(|| state.next.pop_front());
        next.or_else(|| state.always.clone())
    };
    shared.came.notify_waiters();
    let status = |status| StatusCode::from_u16(status).unwrap();
    match response.unwrap_or(ScriptedResponse::Status(204)) {
        ScriptedResponse::Status(code) => (status(code), "as scripted").into_response(),
        ScriptedResponse::After(code, when) => {
            (status(code), [("retry-after", when)]).into_response()
        }
        ScriptedResponse::Body(code, body) => (status(code), body).into_response(),
        ScriptedResponse::Redirect(to) => {
            (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response()
        }
        ScriptedResponse::Silence => std::future::pending().await,
    }
}
