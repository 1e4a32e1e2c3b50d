//! An HTTP client with one bearer token.

use reqwest::{Method, header::HeaderMap};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// No response within this time is a failure of the server.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

/// Calls one server with one bearer key. Clones share connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: String,
}

/// A response with its body.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// All headers of the response.
    pub headers: HeaderMap,
    /// The body, or null where it is not JSON.
    pub body: Value,
}

impl Client {
    /// A client of the server at `base` (`http://host:port`), with connections of its own.
    pub fn new(base: &str, key: &str) -> Self {
        Self {
            http: plain_http(),
            base: base.into(),
            key: key.into(),
        }
    }

    /// A client with the same key for another server.
    #[must_use]
    pub fn at(&self, base: &str) -> Self {
        Self::new(base, &self.key)
    }

    /// The bearer token.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// A request to `path`, with this client's key, to be added to and sent with [`Client::send`].
    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.base))
            .bearer_auth(&self.key)
    }

    /// Sends a request.
    /// # Errors
    /// Where no complete response came.
    pub async fn send(request: reqwest::RequestBuilder) -> Result<Reply, reqwest::Error> {
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await?;
        Ok(Reply {
            status,
            headers,
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
        })
    }

    /// GETs `path` from a server that must answer.
    pub async fn get(&self, path: &str) -> Reply {
        Self::send(self.request(Method::GET, path))
            .await
            .unwrap_or_else(|error| panic!("GET {path} got no answer: {error:?}"))
    }

    /// POSTs JSON to `path` of a server that must answer.
    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        Self::send(self.request(Method::POST, path).json(body))
            .await
            .unwrap_or_else(|error| panic!("POST {path} got no answer: {error:?}"))
    }

    /// PATCHes JSON to `path` of a server that must answer.
    pub async fn patch(&self, path: &str, body: &Value) -> Reply {
        Self::send(self.request(Method::PATCH, path).json(body))
            .await
            .unwrap_or_else(|error| panic!("PATCH {path} got no answer: {error:?}"))
    }
}

impl Reply {
    /// The body, if the status is the expected one; panics with both otherwise.
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }

    /// The error code in the body; empty if there is none.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }
}

/// A client for plain HTTP on this machine, with a timeout of half a minute.
#[must_use]
pub fn plain_http() -> reqwest::Client {
    plain(reqwest::redirect::Policy::default())
}

/// A client builder for plain HTTP that follows no redirects.
#[must_use]
pub fn unled_http() -> reqwest::Client {
    plain(reqwest::redirect::Policy::none())
}

fn plain(redirects: reqwest::redirect::Policy) -> reqwest::Client {
    reqwest::Client::builder()
        .timeout(ANSWER_WITHIN)
        .no_proxy()
        .redirect(redirects)
        .tls_backend_preconfigured(no_trust())
        .build()
        .expect("a plain HTTP client needs nothing of the system")
}

/// A TLS configuration without roots, for plain HTTP. reqwest would otherwise load the system's certificates,
/// which a test must not need, and a process-wide crypto provider.
fn no_trust() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}
