//! One request and its retries. The resources next door say what is asked and what is read.

use std::{borrow::Cow, sync::Arc, time::Duration};

use reqwest::{
    Method, Response, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, RETRY_AFTER},
};
use serde::de::DeserializeOwned;
use tokio::sync::SemaphorePermit;

use super::{
    error::{Error, ErrorBody},
    form::Form,
    key::{OperationKey, SecretKey},
    pace::{Pace, Paces},
    retry::Failed,
};
use crate::connect::Kind;

/// The version that requests are made with, whatever the account's own default is: forms and answers
/// are those of this one. Webhooks come in the version of the merchant's endpoint.
pub const API_VERSION: &str = "2026-10-28.endive";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For one attempt, its body included. Stripe mostly answers within two seconds.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);
/// Larger than any answer that is asked for; lists are short.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The way to one address: connections, timeouts, no keys. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Api {
    http: reqwest::Client,
    base: Url,
    pauses: Pauses,
    /// `None`: as fast as it goes.
    paces: Option<Arc<Paces>>,
}

/// How the pauses between attempts are spent.
#[derive(Debug, Clone)]
enum Pauses {
    Slept,
    /// Noted instead, so that no test waits.
    #[cfg(test)]
    Noted(Arc<parking_lot::Mutex<Vec<Duration>>>),
}

impl Api {
    /// To an `http` or `https` address, with or without a path in front of `/v1`.
    ///
    /// # Errors
    ///
    /// TLS cannot be set up: most often no certificate authorities are installed.
    pub fn new(base: Url) -> Result<Self, Error> {
        let builder = Kind::of(&base)
            .client()
            .user_agent(concat!("scrip/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ATTEMPT_TIMEOUT);
        let http = builder.build().map_err(|error| Error::Unavailable {
            reason: root(&error),
            retry_after_seconds: None,
        })?;
        Ok(Self {
            http,
            base,
            pauses: Pauses::Slept,
            paces: None,
        })
    }

    /// The same way at a pace: what nobody waits for makes so many requests a second for each account; 0:
    /// as many as its mode allows without harm.
    #[must_use]
    pub fn paced(self, per_second: u32) -> Self {
        Self {
            paces: Some(Arc::new(Paces::new(per_second))),
            ..self
        }
    }

    /// The same way to another address of the same kind.
    #[must_use]
    pub fn at(&self, base: Url) -> Self {
        Self {
            base,
            ..self.clone()
        }
    }

    /// Calls in the name of one account.
    #[must_use]
    pub fn client(&self, key: SecretKey) -> Client {
        Client {
            pace: self.paces.as_ref().map(|paces| paces.of(key.text())),
            api: self.clone(),
            key,
            background: false,
        }
    }
}

/// Calls one account's API. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    api: Api,
    key: SecretKey,
    pace: Option<Arc<Pace>>,
    /// Whether nobody waits for its answers.
    background: bool,
}

/// What is asked, the same in each attempt.
struct Call<'a> {
    method: Method,
    url: Url,
    body: Option<(String, &'a OperationKey)>,
}

/// What came of one attempt.
enum Attempt {
    Answered(Vec<u8>),
    /// Given to the caller unless it is tried again.
    Failed {
        error: Error,
        code: Option<String>,
        status: Option<u16>,
        should_retry: Option<bool>,
        retry_after_seconds: Option<u64>,
        replayed: bool,
    },
}

/// Why a call came to nothing.
pub(super) struct Failure {
    pub(super) error: Error,
    /// Whether that was the answer to an earlier call under the same key, which Stripe keeps for a day:
    /// what was asked now was not looked at.
    pub(super) replayed: bool,
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

impl Client {
    /// The same for what nobody waits for: it lets others go first.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self {
            background: true,
            ..self.clone()
        }
    }

    /// A place among the things that are asked about at once, where nobody waits for them.
    pub(super) async fn place(&self) -> Option<SemaphorePermit<'_>> {
        self.pace
            .as_ref()
            .filter(|_| self.background)?
            .place()
            .await
    }

    /// GETs `/v1/<path>?<query>`.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &Form,
    ) -> Result<T, Error> {
        let mut url = self.url(path)?;
        if !query.pairs().is_empty() {
            url.set_query(Some(&query.encode()));
        }
        let method = Method::GET;
        let body = None;
        Ok(self.call(&Call { method, url, body }).await?)
    }

    /// POSTs a form to `/v1/<path>`, once under this key however often it is tried.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        form: &Form,
        key: &OperationKey,
    ) -> Result<T, Error> {
        Ok(self.try_post(path, form, key).await?)
    }

    /// The same for whoever has to know an old failure from a new one.
    pub(super) async fn try_post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        form: &Form,
        key: &OperationKey,
    ) -> Result<T, Failure> {
        let url = self.url(path).map_err(Failure::new)?;
        let method = Method::POST;
        let body = Some((form.encode(), key));
        self.call(&Call { method, url, body }).await
    }

    /// DELETEs `/v1/<path>`. Doing so again is refused: there is nothing left.
    pub(super) async fn delete<T: DeserializeOwned>(
        &self,
        path: &[&str],
        key: &OperationKey,
    ) -> Result<T, Error> {
        let url = self.url(path)?;
        let method = Method::DELETE;
        let body = Some((String::new(), key));
        Ok(self.call(&Call { method, url, body }).await?)
    }

    /// Each segment is encoded, so that an identifier cannot lead elsewhere.
    fn url(&self, path: &[&str]) -> Result<Url, Error> {
        let mut url = self.api.base.clone();
        url.path_segments_mut()
            .map_err(|()| Error::Garbage("its address has no path".into()))?
            .pop_if_empty()
            .push("v1")
            .extend(path);
        Ok(url)
    }

    async fn call<T: DeserializeOwned>(&self, call: &Call<'_>) -> Result<T, Failure> {
        let mut attempts: u32 = 0;
        loop {
            attempts = attempts.saturating_add(1);
            let (failure, pause) = match self.attempt(call).await {
                Attempt::Answered(body) => return self.parse(&body).map_err(Failure::new),
                Attempt::Failed {
                    error,
                    code,
                    status,
                    should_retry,
                    retry_after_seconds,
                    replayed,
                } => {
                    let failed = Failed {
                        status,
                        code: code.as_deref(),
                        should_retry,
                        retry_after_seconds,
                    };
                    let failure = Failure { error, replayed };
                    (failure, failed.pause(attempts, jitter()))
                }
            };
            let Some(pause) = pause else {
                return Err(failure);
            };
            self.api.pauses.spend(pause).await;
        }
    }

    async fn attempt(&self, call: &Call<'_>) -> Attempt {
        match &self.pace {
            Some(pace) if self.background => pace.wait().await,
            Some(pace) => pace.go_first(),
            None => {}
        }
        let mut request = self
            .api
            .http
            .request(call.method.clone(), call.url.clone())
            .header(AUTHORIZATION, self.key.bearer())
            .header("Stripe-Version", API_VERSION)
            .header(ACCEPT, "application/json");
        if let Some((form, key)) = &call.body {
            request = request
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .header("Idempotency-Key", key.header())
                .body(form.clone());
        }
        match request.send().await {
            Ok(response) => self.read(response).await,
            Err(error) => unanswered(&error),
        }
    }

    async fn read(&self, response: Response) -> Attempt {
        let status = response.status();
        let headers = response.headers().clone();
        let body = match body(response).await {
            Ok(body) => body,
            Err(error) => return unanswered(&error),
        };
        if let (true, Some(body)) = (status.is_success(), &body) {
            return Attempt::Answered(body.to_vec());
        }
        let said = body
            .as_ref()
            .and_then(|body| serde_json::from_slice::<ErrorBody>(body).ok())
            .map(|body| body.error);
        let failed = Failed {
            status: Some(status.as_u16()),
            code: said.as_ref().and_then(|said| said.code.as_deref()),
            should_retry: match text(&headers, "stripe-should-retry") {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => None,
            },
            retry_after_seconds: text(&headers, RETRY_AFTER.as_str())
                .and_then(|text| text.trim().parse().ok()),
        };
        let (should_retry, retry_after_seconds) = (failed.should_retry, failed.retry_after_seconds);
        let passing = failed.is_passing() || status.is_server_error();
        let code = failed.code.map(Into::into);
        let error = match said {
            _ if status.is_success() => {
                Error::Garbage(format!("it has more than {MAX_ANSWER_BYTES} bytes"))
            }
            _ if passing => Error::Unavailable {
                reason: format!("it answers {status}"),
                retry_after_seconds,
            },
            Some(said) if status.is_client_error() => {
                let request_id = text(&headers, "request-id").map(Into::into);
                let clean = |text: &str| self.key.redact(text);
                Error::Refused(Box::new(said.into_refusal(
                    status.as_u16(),
                    request_id,
                    clean,
                )))
            }
            _ => Error::Garbage(format!("{status} without a reason in Stripe's form")),
        };
        Attempt::Failed {
            error,
            code,
            status: Some(status.as_u16()),
            should_retry,
            retry_after_seconds,
            replayed: text(&headers, "idempotent-replayed") == Some("true"),
        }
    }

    fn parse<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, Error> {
        let mut json = serde_json::Deserializer::from_slice(body);
        serde_path_to_error::deserialize(&mut json)
            .map_err(|error| Error::Garbage(self.key.redact(&error.to_string())))
    }
}

impl Failure {
    /// Whether it says nothing of what was asked now: the key was used before, for the same thing or for
    /// another one.
    pub(super) fn is_of_old(&self) -> bool {
        let reused = matches!(&self.error, Error::Refused(refusal) if refusal.is_key_reused());
        self.replayed || reused
    }

    const fn new(error: Error) -> Self {
        let replayed = false;
        Self { error, replayed }
    }
}

impl Pauses {
    async fn spend(&self, pause: Duration) {
        match self {
            Self::Slept => tokio::time::sleep(pause).await,
            #[cfg(test)]
            Self::Noted(noted) => noted.lock().push(pause),
        }
    }
}

/// The body; `None` where it is too large to be one of Stripe's.
async fn body(mut response: Response) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len().saturating_add(chunk.len()) > MAX_ANSWER_BYTES {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

fn unanswered(error: &reqwest::Error) -> Attempt {
    let reason: Cow<'_, str> = if error.is_timeout() {
        "it does not answer in time".into()
    } else {
        root(error).into()
    };
    Attempt::Failed {
        error: Error::Unavailable {
            reason: reason.into(),
            retry_after_seconds: None,
        },
        code: None,
        status: None,
        should_retry: None,
        retry_after_seconds: None,
        replayed: false,
    }
}

/// What is at the bottom of an error, such as a refused connection. Not the error itself, which
/// names the address and with it what was asked.
fn root(error: &reqwest::Error) -> String {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(deeper) = cause.and_then(|cause| cause.source()) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| "it cannot be asked".into(), ToString::to_string)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// A random byte; without randomness everybody pauses alike, which does no harm.
fn jitter() -> u8 {
    let mut byte = 0;
    getrandom::fill(std::slice::from_mut(&mut byte)).map_or(0, |()| byte)
}

#[cfg(test)]
mod tests;
