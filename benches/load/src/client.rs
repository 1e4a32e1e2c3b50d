//! A client of a server's API for single calls: setup, readiness, metrics, purchases.

use std::net::SocketAddr;

use kit::client::plain_http;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::Value;
use tokio::runtime::Handle;

use super::error::{Context, Error, Result};

/// A client for one server with one bearer token.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    runtime: Handle,
    base: String,
    bearer: String,
}

impl Client {
    pub(crate) fn new(runtime: &Handle, server: SocketAddr, bearer: &str) -> Self {
        Self {
            http: plain_http(),
            runtime: runtime.clone(),
            base: format!("http://{server}"),
            bearer: bearer.into(),
        }
    }

    /// A request, to be completed and sent by [`Self::send`].
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        request.bearer_auth(&self.bearer)
    }

    /// Sends a request; the text of the response, which must be a 2xx.
    pub(crate) async fn send(request: RequestBuilder) -> Result<String> {
        let response = request.send().await.context("a request")?;
        let (status, url) = (response.status(), response.url().clone());
        let text = response.text().await.context("a response")?;
        match status.is_success() {
            true => Ok(text),
            false => Err(Error(format!("{url}: {status} {text}"))),
        }
    }

    /// Sends a request whose response is JSON.
    pub(crate) async fn json(request: RequestBuilder) -> Result<Value> {
        serde_json::from_str(&Self::send(request).await?).context("a response")
    }

    /// Sends a request and waits; the text of the response, which must be a 2xx.
    pub(crate) fn call(&self, request: RequestBuilder) -> Result<String> {
        self.runtime.block_on(Self::send(request))
    }

    pub(crate) fn get(&self, path: &str) -> Result<String> {
        self.call(self.request(Method::GET, path))
    }

    /// Whether a path responds with 200.
    pub(crate) fn is_ok(&self, path: &str) -> bool {
        let request = self.request(Method::GET, path);
        // Its time limit begins with `send`, which needs the runtime.
        let response = self.runtime.block_on(async { request.send().await });
        response.is_ok_and(|response| response.status() == StatusCode::OK)
    }

    /// The credits of a product that a user has.
    pub(crate) async fn balance(&self, user: &str, product: &str) -> Result<u64> {
        let path = format!("/api/v1/wallets/external?externalUserId={user}");
        let wallet = Self::json(self.request(Method::GET, &path)).await?;
        let balances = wallet.get("balances").and_then(Value::as_array);
        let mut balances = balances.context("balances")?.iter();
        let balance = balances.find(|it| it.get("productId").is_some_and(|id| id == product));
        let balance = balance.and_then(|it| it.get("balance")?.as_u64());
        balance.context(format!("the balance of {user}"))
    }

    /// Posts JSON and reads JSON.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let request = self.request(Method::POST, path).json(body);
        self.runtime.block_on(Self::json(request))
    }
}

/// A text field of a response.
pub(crate) fn text(body: &Value, field: &str) -> Result<String> {
    let text = body.get(field).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| Error(format!("no `{field}` in {body}")))
}
