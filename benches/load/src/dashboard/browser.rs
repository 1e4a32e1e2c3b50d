//! A signed-in client of the dashboard.

use std::net::SocketAddr;

use kit::client::unled_http;
use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE},
};
use tokio::runtime::Handle;

use crate::error::{Context, Error, Result};

const FORM: &str = "application/x-www-form-urlencoded";

pub(super) struct Browser {
    runtime: Handle,
    http: Client,
    base: String,
    cookie: String,
    token: String,
}

impl Browser {
    pub(super) fn sign_in(runtime: &Handle, server: SocketAddr, token: &str) -> Result<Self> {
        let mut browser = Self {
            runtime: runtime.clone(),
            http: unled_http(),
            base: format!("http://{server}"),
            cookie: String::new(),
            token: String::new(),
        };
        let reply = browser.post("/dashboard/sign-in", format!("token={token}"))?;
        let header = reply.headers().get(SET_COOKIE);
        let header = header.and_then(|header| header.to_str().ok());
        let cookie = header.and_then(|header| header.split(';').next());
        browser.cookie = cookie.context("a session's cookie")?.to_owned();
        let page = browser.page("/dashboard")?;
        let (_, rest) = page.split_once("name=\"formToken\"").context("a form")?;
        let (_, rest) = rest.split_once("value=\"").context("a form's token")?;
        let (token, _) = rest.split_once('"').context("a form's token")?;
        browser.token = token.to_owned();
        Ok(browser)
    }

    /// Opens a page.
    pub(super) fn get(&self, path: &str) -> Result<()> {
        self.page(path).map(drop)
    }

    /// Searches for a wallet; returns its page's path.
    pub(super) fn find(&self, path: &str, query: &str) -> Result<String> {
        let location = |reply: &Response| {
            let location = reply.headers().get(LOCATION);
            let location = location.and_then(|location| location.to_str().ok());
            let missing = || Error(format!("{query} was not found: {}", reply.status()));
            location.map(str::to_owned).ok_or_else(missing)
        };
        let body = format!("formToken={}&query={query}", self.token);
        let search = location(&self.post(path, body)?)?;
        let request = self.send(self.http.get(self.url(&search)));
        location(&self.runtime.block_on(request)?)
    }

    /// The first link on a page that contains `part`.
    pub(super) fn link(&self, path: &str, part: &str) -> Result<String> {
        let page = self.page(path)?;
        let mut links = page.split("href=\"").skip(1);
        let link = links.find_map(|rest| {
            let (link, _) = rest.split_once('"')?;
            link.contains(part).then(|| link.to_owned())
        });
        link.context("a link")
    }

    fn page(&self, path: &str) -> Result<String> {
        self.runtime.block_on(async {
            let reply = self.send(self.http.get(self.url(path))).await?;
            let status = reply.status();
            let text = reply.text().await.context(path)?;
            if status == StatusCode::OK {
                return Ok(text);
            }
            Err(Error(format!("GET {path}: {status}")))
        })
    }

    fn post(&self, path: &str, body: String) -> Result<Response> {
        let request = self.http.post(self.url(path)).body(body);
        let request = request
            .header(CONTENT_TYPE, FORM)
            .header(ORIGIN, &self.base);
        self.runtime.block_on(self.send(request))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let request = request.header(COOKIE, &self.cookie);
        request.send().await.context("asking the dashboard")
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}
