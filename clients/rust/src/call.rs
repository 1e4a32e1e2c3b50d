//! One API call: the request, and how its response is read.

use crate::error::{Error, ErrorKind, Refusal};
use reqwest::{Method, Response, header::RETRY_AFTER};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::time::Duration;

/// A request, not sent yet.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// The segments of the path below `/api/v1`.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) body: Option<Value>,
    /// Whether repeating it has no further effect.
    pub(crate) repeatable: bool,
    /// The idempotency key, returned to the caller with an error.
    pub(crate) key: Option<String>,
}

impl Call {
    /// A GET request, which may be repeated.
    pub(crate) fn get<'a>(path: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            method: Method::GET,
            path: path.into_iter().map(str::to_owned).collect(),
            query: Vec::new(),
            body: None,
            repeatable: true,
            key: None,
        }
    }

    /// A POST request, which is not repeated by default.
    pub(crate) fn post<'a>(path: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            method: Method::POST,
            repeatable: false,
            ..Self::get(path)
        }
    }

    /// Adds a query parameter if there is a value.
    #[must_use]
    pub(crate) fn query(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query
            .extend(value.map(|value| (name, value.to_string())));
        self
    }

    /// Sets the JSON body.
    pub(crate) fn body(mut self, body: &impl Serialize) -> Result<Self, Error> {
        let value = serde_json::to_value(body)
            .map_err(|error| Error::misused(format!("this cannot be sent as JSON: {error}")))?;
        self.body = Some(value);
        Ok(self)
    }

    /// Says that repeating the request has no further effect.
    #[must_use]
    pub(crate) fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Says that repeating the request has no further effect, thanks to this idempotency key in its body.
    #[must_use]
    pub(crate) fn keyed(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self.repeatable()
    }
}

/// The caller's key, or a new unique one.
pub(crate) fn key_or_new(key: Option<String>) -> String {
    key.unwrap_or_else(|| uuid::Uuid::new_v4().to_string())
}

/// Reads a response: its body as `T`, with whether that is the answer of an earlier call; or the error in it.
pub(crate) async fn read<T: DeserializeOwned>(response: Response) -> Result<(T, bool), ErrorKind> {
    let status = response.status();
    let replayed = response.headers().get("idempotency-replayed");
    let replayed = replayed.is_some_and(|value| value == "true");
    let retry_after = response.headers().get(RETRY_AFTER);
    let retry_after = retry_after
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .map(Duration::from_secs);
    let bytes = response
        .bytes()
        .await
        .map_err(|error| ErrorKind::NoAnswer(error.without_url()))?;
    let unreadable = |problem: String| ErrorKind::Unreadable {
        status: status.as_u16(),
        problem,
    };
    if status.is_success() {
        // An empty body reads as `null`.
        let bytes: &[u8] = if bytes.is_empty() { b"null" } else { &bytes };
        let read = serde_json::from_slice(bytes);
        return read
            .map(|body| (body, replayed))
            .map_err(|error| unreadable(error.to_string()));
    }
    let mut refusal: Box<Refusal> = serde_json::from_slice(&bytes)
        .map_err(|_| unreadable("its body is no error of Scrip's".to_owned()))?;
    refusal.status = status.as_u16();
    refusal.retry_after = retry_after;
    Err(ErrorKind::Refused(refusal))
}
