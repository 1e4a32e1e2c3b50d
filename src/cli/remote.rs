//! A client for a running server, for the commands that use one: its address, a token or key, and JSON. An
//! error becomes one sentence.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use edge::layer::API_PREFIX;
use operations::data_dir::{environment::secret, secrets::ADMIN_TOKEN_VARIABLE};
use reqwest::{Method, StatusCode};
use scrip_http::client::{AddressKind, root_cause};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;
use web::admin;

use super::{Failure, admin_token::TokenArgs, dev::Demo, table};

/// How long a response may take.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a list that is read to its end, or a stream, may take.
pub(super) const STREAM_TIMEOUT: Duration = Duration::from_secs(30 * 86_400);

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// There was no response, or not one of Scrip.
    #[error("{0}")]
    Unanswered(String),
    /// The server does not know the token or key.
    #[error("{0}")]
    Unknown(&'static str),
    /// The server refused the request.
    #[error("the server refused ({status} {code}): {reason}{}", more(.request, .docs))]
    Refused {
        /// The response's status.
        status: u16,
        /// The error's code.
        code: String,
        /// The request's id, which the server's log has, too.
        request: String,
        /// The server's message.
        reason: String,
        /// The page of its documentation that explains the error.
        docs: Option<Url>,
    },
}

impl Error {
    /// Whether another attempt may succeed.
    pub(super) const fn may_pass(&self) -> bool {
        match self {
            Self::Unanswered(_) => true,
            Self::Unknown(_) => false,
            Self::Refused { status, .. } => *status == 429 || *status >= 500,
        }
    }
}

fn more(request: &str, docs: &Option<Url>) -> String {
    let docs = docs.as_ref().map(|docs| format!(" More: {docs}"));
    format!(" ({request}){}", docs.unwrap_or_default())
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}

/// Options for a server and its administrator's token.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    #[command(flatten)]
    pub(super) place: ServerUrlArgs,
    #[command(flatten)]
    token: TokenArgs,
}

/// Options for a server's address.
#[derive(Debug, Args)]
pub(super) struct ServerUrlArgs {
    /// The server's address [default: that of `scrip dev` with this data directory, or else http://127.0.0.1:8787].
    #[arg(long, env = "SCRIP_URL", value_parser = server_url)]
    url: Option<Url>,
    /// The data directory of `scrip dev`, with its token and keys. They are sent only to this machine.
    #[arg(long, value_name = "DIR", default_value = "./.scrip")]
    data_dir: PathBuf,
}

/// Option for a project's secret key.
#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    /// A secret key of the project [default: SCRIP_SECRET_KEY, or the file that SCRIP_SECRET_KEY_FILE names, or that
    /// of `scrip dev` in the data directory].
    #[arg(long, value_name = "SECRET_KEY")]
    key: Option<String>,
}

/// A client for one server, with a token or key.
pub(super) struct ApiClient {
    http: reqwest::Client,
    base: String,
    bearer: String,
}

/// Reads a server's address.
pub(super) fn server_url(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).ok();
    let url = url.filter(|url| url.has_host() && ["http", "https"].contains(&url.scheme()));
    url.ok_or("an address begins with http:// or https://, such as http://127.0.0.1:8787")
}

impl ServerUrlArgs {
    /// The server's address.
    pub(super) fn url(&self) -> Result<Url, Failure> {
        let of_dev = || Demo::read(&self.data_dir)?.address();
        match self.url.clone().or_else(of_dev) {
            Some(url) => Ok(url),
            None => "http://127.0.0.1:8787".parse().map_err(Failure::new),
        }
    }

    /// What `scrip dev` stored, if the server is on this machine: it is sent to no other.
    pub(super) fn dev(&self) -> Option<Demo> {
        let is_here = AddressKind::of(&self.url().ok()?).is_loopback();
        is_here.then(|| Demo::read(&self.data_dir))?
    }

    pub(super) fn data_dir(&self) -> &Path {
        &self.data_dir
    }
}

impl ServerArgs {
    /// A client for the server's admin API.
    pub(super) fn administration(&self) -> Result<ApiClient, Failure> {
        let explicit = self.token.read()?;
        let token = explicit.or_else(|| Some(self.place.dev()?.admin_token));
        let token = token.ok_or_else(|| {
            Failure(format!(
                "no administrator token: pass --token-file, or set {ADMIN_TOKEN_VARIABLE}. `scrip serve` \
                 writes it to its data directory at the first start; that of `scrip dev` is looked for in {}",
                self.place.data_dir().display()
            ))
        })?;
        ApiClient::new(&self.place.url()?, admin::PREFIX, token)
    }
}

impl KeyArgs {
    /// A client for the server's public API, with the project's secret key.
    pub(super) fn api(&self, place: &ServerUrlArgs) -> Result<ApiClient, Failure> {
        let explicit = match self.key.clone().filter(|key| !key.is_empty()) {
            Some(key) => Some(key),
            None => secret("SCRIP_SECRET_KEY").map_err(Failure::new)?,
        };
        let key = explicit.or_else(|| Some(place.dev()?.secret_key));
        let key = key.ok_or_else(|| {
            Failure(format!(
                "no secret key: set SCRIP_SECRET_KEY or pass --key. That of `scrip dev` is looked for in {}",
                place.data_dir().display()
            ))
        })?;
        ApiClient::public(place, key)
    }
}

impl ApiClient {
    /// A client for what is under a prefix of a server, with this token or key.
    pub(super) fn new(url: &Url, prefix: &str, bearer: String) -> Result<Self, Failure> {
        Ok(Self {
            http: client(url).build().map_err(Failure::new)?,
            base: format!("{}{prefix}", url.as_str().trim_end_matches('/')),
            bearer,
        })
    }

    /// A client for the public API, with a secret key.
    pub(super) fn public(place: &ServerUrlArgs, key: String) -> Result<Self, Failure> {
        Self::new(&place.url()?, API_PREFIX.trim_end_matches('/'), key)
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.send(Method::GET, path, None).await
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

    pub(super) async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, Error> {
        self.send(Method::PUT, path, Some(body)).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Error> {
        self.json(self.open(method, path, body, TIMEOUT).await?)
            .await
    }

    /// The JSON of an answer.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        response: reqwest::Response,
    ) -> Result<T, Error> {
        response.json().await.map_err(|error| {
            Error::Unanswered(format!(
                "{} does not answer like Scrip: {}",
                self.base,
                root(&error)
            ))
        })
    }

    /// The full address of a documentation page; `None` if it is not on this server.
    fn explained(&self, path: &str) -> Option<Url> {
        let base = Url::parse(&self.base).ok()?;
        let docs = base.join(path).ok()?;
        (docs.origin() == base.origin() && docs.path().starts_with("/docs/")).then_some(docs)
    }

    /// An answer whose body is not read yet.
    pub(super) async fn open(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        timeout: Duration,
    ) -> Result<reqwest::Response, Error> {
        let request = self.http.request(method, format!("{}{path}", self.base));
        let request = request.bearer_auth(&self.bearer).timeout(timeout);
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
            return Err(Error::Unknown(match self.base.ends_with(admin::PREFIX) {
                true => "the server does not know this administrator token",
                false => "the server does not know this key",
            }));
        }
        let body: Value = response.json().await.unwrap_or_default();
        let text = |field| body.get(field).and_then(Value::as_str);
        let message = text("message").unwrap_or("no reason given");
        let param = text("param")
            .map(|param| format!("{param}: "))
            .unwrap_or_default();
        // Why a wallet is frozen.
        let why = text("reason").map(|why| format!(" Reason: {why}."));
        let why = why.unwrap_or_default();
        Err(Error::Refused {
            status: status.as_u16(),
            code: table::plain(text("code").unwrap_or("no code")),
            request: table::plain(text("requestId").unwrap_or("no request id")),
            reason: table::plain(&format!("{param}{message}{why}")),
            docs: text("docs").and_then(|path| self.explained(path)),
        })
    }
}

/// Prints an answer that is a text, as it comes. A reader that closed the pipe ends it and is not an error.
pub(super) async fn print_text(mut response: reqwest::Response) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    while let Some(part) = response.chunk().await.map_err(Failure::new)? {
        match out.write_all(&part).and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written.map_err(Failure::new)?,
        }
    }
    Ok(())
}

/// A builder for an HTTP client. To this machine it never uses a proxy, which could read the token for no
/// benefit.
pub(super) fn client(url: &Url) -> reqwest::ClientBuilder {
    AddressKind::of(url).client().timeout(TIMEOUT)
}

/// A path with these parameters, escaped, after those that it has.
pub(super) fn with_query<K: AsRef<str>, V: AsRef<str>>(path: &str, pairs: &[(K, V)]) -> String {
    if pairs.is_empty() {
        return path.to_owned();
    }
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish();
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}{query}")
}

/// The innermost cause of an error, such as a refused connection.
pub(super) fn root(error: &reqwest::Error) -> String {
    let text = root_cause(error).to_string();
    match text.contains("InvalidContentType") {
        true => "this address speaks http, not https".into(),
        false => text,
    }
}

/// Runs a future on a small runtime of its own.
pub(super) fn wait<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::new)?
        .block_on(work)
}
