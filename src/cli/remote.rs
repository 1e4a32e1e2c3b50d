//! A running server, as the commands that look at one reach it: its address, a token or a key, and
//! answers. A refusal becomes one plain sentence.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use stripe::connect::Kind;
use url::Url;

use super::{Failure, dev, table};
use crate::{admin, http::edge::API_PREFIX, secrets::ADMIN_TOKEN_VARIABLE};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is no answer to go on with.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// Nobody answered, or not as Scrip does.
    #[error("{0}")]
    Unanswered(String),
    /// The token or the key is not known there.
    #[error("{0}")]
    Unknown(&'static str),
    /// The server refused.
    #[error("the server refused ({status}): {reason}{}", more(.docs))]
    Refused {
        /// With this status.
        status: u16,
        /// In its own words.
        reason: String,
        /// Where it explains them.
        docs: Option<Url>,
    },
}

impl Error {
    /// Whether another try may do.
    pub(super) const fn may_pass(&self) -> bool {
        match self {
            Self::Unanswered(_) => true,
            Self::Unknown(_) => false,
            Self::Refused { status, .. } => *status == 429 || *status >= 500,
        }
    }
}

fn more(docs: &Option<Url>) -> String {
    let docs = docs.as_ref();
    docs.map(|docs| format!(" More: {docs}"))
        .unwrap_or_default()
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}

/// Where a server is, and who administrates it.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// The administrator's token [default: that of `scrip dev` in the data directory].
    #[arg(
        long,
        value_name = "TOKEN",
        env = ADMIN_TOKEN_VARIABLE,
        hide_env_values = true
    )]
    admin_token: Option<String>,
}

/// Where a server is.
#[derive(Debug, Args)]
pub(super) struct PlaceArgs {
    /// The server.
    #[arg(long, env = "SCRIP_URL", default_value = "http://127.0.0.1:8787")]
    pub(super) url: Url,
    /// Where `scrip dev` keeps its token and keys. They are sent nowhere but to this machine.
    #[arg(long, value_name = "DIR", default_value = "./.scrip")]
    data_dir: PathBuf,
}

/// A project's secret key.
#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    /// A secret key of the project [default: that of `scrip dev` in the data directory].
    #[arg(
        long,
        value_name = "SECRET_KEY",
        env = "SCRIP_SECRET_KEY",
        hide_env_values = true
    )]
    key: Option<String>,
}

/// One server, and what opens it.
pub(super) struct Remote {
    http: reqwest::Client,
    base: String,
    bearer: String,
    /// What is wrong when the server does not know it.
    unknown: &'static str,
}

impl PlaceArgs {
    /// What `scrip dev` remembers, if the server is on this machine: nobody else is told.
    pub(super) fn dev(&self) -> Option<dev::Known> {
        Kind::of(&self.url)
            .is_loopback()
            .then(|| dev::known(&self.data_dir))?
    }

    pub(super) fn data_dir(&self) -> &Path {
        &self.data_dir
    }
}

impl ServerArgs {
    /// The admin API of the server.
    pub(super) fn administration(&self) -> Result<Remote, Failure> {
        let given = self.admin_token.clone().filter(|token| !token.is_empty());
        let token = given.or_else(|| Some(self.place.dev()?.admin_token));
        let token = token.ok_or_else(|| {
            Failure(format!(
                "no administrator token: set {ADMIN_TOKEN_VARIABLE} or pass --admin-token. `scrip serve` \
                 printed it at its first start; that of `scrip dev` is looked for in {}",
                self.place.data_dir().display()
            ))
        })?;
        let unknown = "the server does not know this administrator token";
        Remote::new(&self.place.url, admin::PREFIX, token, unknown)
    }
}

impl KeyArgs {
    /// The API of the server there, as a server of the project's reaches it.
    pub(super) fn api(&self, place: &PlaceArgs) -> Result<Remote, Failure> {
        let given = self.key.clone().filter(|key| !key.is_empty());
        let key = given.or_else(|| Some(place.dev()?.secret_key));
        let key = key.ok_or_else(|| {
            Failure(format!(
                "no secret key: set SCRIP_SECRET_KEY or pass --key. That of `scrip dev` is looked for in {}",
                place.data_dir().display()
            ))
        })?;
        let prefix = API_PREFIX.trim_end_matches('/');
        Remote::new(&place.url, prefix, key, "the server does not know this key")
    }
}

impl Remote {
    /// What is under a prefix of a server, opened by this token or key.
    pub(super) fn new(
        url: &Url,
        prefix: &str,
        bearer: String,
        unknown: &'static str,
    ) -> Result<Self, Failure> {
        Ok(Self {
            http: client(url).build().map_err(Failure::new)?,
            base: format!("{}{prefix}", url.as_str().trim_end_matches('/')),
            bearer,
            unknown,
        })
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.send(Method::GET, path, None).await
    }

    /// A GET with parameters, which may hold anything.
    pub(super) async fn get_with<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<T, Error> {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(query)
            .finish();
        self.get(&format!("{path}?{query}")).await
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, Error> {
        self.send(Method::POST, path, Some(body)).await
    }

    pub(super) async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, Error> {
        self.send(Method::PATCH, path, Some(body)).await
    }

    /// A DELETE, which answers nothing.
    pub(super) async fn delete(&self, path: &str) -> Result<(), Error> {
        self.answer(Method::DELETE, path, None).await.map(drop)
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Error> {
        let response = self.answer(method, path, body).await?;
        response.json().await.map_err(|error| {
            Error::Unanswered(format!(
                "{} does not answer as Scrip does: {}",
                self.base,
                root(&error)
            ))
        })
    }

    /// An address of this server's documentation; nobody is sent elsewhere.
    fn explained(&self, path: &str) -> Option<Url> {
        let base = Url::parse(&self.base).ok()?;
        let docs = base.join(path).ok()?;
        (docs.origin() == base.origin() && docs.path().starts_with("/docs/")).then_some(docs)
    }

    async fn answer(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<reqwest::Response, Error> {
        let request = self.http.request(method, format!("{}{path}", self.base));
        let request = request.bearer_auth(&self.bearer);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request.send().await.map_err(|error| {
            Error::Unanswered(format!(
                "no answer from {}: {}. Is the server running there (--url)?",
                self.base,
                root(&error)
            ))
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status == StatusCode::UNAUTHORIZED {
            return Err(Error::Unknown(self.unknown));
        }
        let body: Value = response.json().await.unwrap_or_default();
        let text = |field| body.get(field).and_then(Value::as_str);
        let message = text("message").unwrap_or("it gives no reason");
        let param = text("param")
            .map(|param| format!("{param}: "))
            .unwrap_or_default();
        Err(Error::Refused {
            status: status.as_u16(),
            reason: table::plain(&format!("{param}{message}")),
            docs: text("docs").and_then(|path| self.explained(path)),
        })
    }
}

/// How commands speak HTTP with an address: to this machine never through a proxy, which would read the
/// token on a way that leads nowhere else.
pub(super) fn client(url: &Url) -> reqwest::ClientBuilder {
    Kind::of(url).client().timeout(PATIENCE)
}

/// What is at the bottom of an error, such as a refused connection.
pub(super) fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// Runs what a command asks of a server.
pub(super) fn wait<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::new)?
        .block_on(work)
}
