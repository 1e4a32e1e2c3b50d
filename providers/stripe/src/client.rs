//! One request and its retries. The resources next door say what is asked and what is read.

use std::{sync::Arc, time::Duration};

use port::Operation;
use reqwest::{
    Method, Response, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, RETRY_AFTER},
};
use serde::de::DeserializeOwned;
use tokio::sync::SemaphorePermit;

use super::{
    arriving,
    error::{Error, ErrorBody},
    form::Form,
    key::SecretKey,
    quota::{Quota, Quotas},
    retry::Failed,
};
use crate::connect::Kind;

/// The version that requests are made with, whatever the account's own default is: forms and answers
/// are those of this one. Webhooks come in the version of the merchant's endpoint.
pub const API_VERSION: &str = "2026-10-28.endive";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For one attempt, its body included. Stripe mostly answers within two seconds.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);
/// Larger than any single object that is asked for.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// Lists have up to a hundred whole objects, printed with indentation.
const MAX_LIST_BYTES: usize = 32 << 20;

/// The way to one address: connections, timeouts, no keys. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Api {
    http: reqwest::Client,
    base: Url,
    pauses: Pauses,
    quotas: Arc<Quotas>,
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
        let http = builder
            .build()
            .map_err(|error| Error::unavailable(root(&error), None))?;
        Ok(Self {
            http,
            base,
            pauses: Pauses::Slept,
            quotas: Arc::new(Quotas::unlimited()),
        })
    }

    /// The same way at a pace: what nobody waits for makes so many requests a second for each account; 0:
    /// as many as its mode allows without harm.
    #[must_use]
    pub fn paced(self, per_second: u32) -> Self {
        Self {
            quotas: Arc::new(Quotas::new(per_second)),
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
            quota: self.quotas.of(key.text()),
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
    pub(super) quota: Arc<Quota>,
    /// Whether nobody waits for its answers.
    background: bool,
}

/// What is asked, the same in each attempt.
struct Call<'a> {
    method: Method,
    url: Url,
    body: Option<(String, &'a Operation)>,
    /// What it is about, such as `checkout/sessions`: Stripe's limits and permissions are by that.
    resource: String,
    is_long: bool,
}

impl Call<'_> {
    /// Whether a key may well lack what it needs: see [`Need::Convenience`].
    ///
    /// [`Need::Convenience`]: crate::permissions::Need::Convenience
    fn is_optional(&self) -> bool {
        matches!(self.resource.as_str(), "account" | "webhook_endpoints")
    }

    /// As permissions go: reading is another thing than writing.
    fn question(&self) -> String {
        let verb = match self.method {
            Method::GET => "read",
            _ => "write",
        };
        format!("{verb} {}", self.resource)
    }
}

/// Why a call came to nothing.
pub(super) struct Failure {
    pub(super) error: Error,
    /// Whether that was the answer to an earlier call under the same key, which Stripe keeps for a day:
    /// what was asked now was not looked at.
    replayed: bool,
    /// The last attempt.
    attempt: Failed,
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            error,
            replayed: false,
            attempt: Failed::default(),
        }
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
        match self.background {
            true => self.quota.place().await,
            false => None,
        }
    }

    /// The permissions that the key was found to lack, and not to have since.
    #[must_use]
    pub fn missing_permissions(&self) -> Vec<String> {
        self.quota.missing_permissions()
    }

    /// GETs `/v1/<path>?<query>`. What may be long is read as it arrives.
    pub(super) async fn get<T: Answer>(
        &self,
        path: &[&str],
        query: &Form,
        is_long: bool,
    ) -> Result<T, Error> {
        let mut call = self.call(Method::GET, path, query, None)?;
        call.is_long = is_long;
        Ok(self.send(&call).await?)
    }

    /// POSTs a form to `/v1/<path>`, once under this key however often it is tried.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn post<T: Answer>(
        &self,
        path: &[&str],
        form: &Form,
        key: &Operation,
    ) -> Result<T, Error> {
        Ok(self.try_post(path, form, key).await?)
    }

    /// The same for whoever has to know an old failure from a new one.
    pub(super) async fn try_post<T: Answer>(
        &self,
        path: &[&str],
        form: &Form,
        key: &Operation,
    ) -> Result<T, Failure> {
        let call = self.call(Method::POST, path, form, Some(key));
        self.send(&call?).await
    }

    /// DELETEs `/v1/<path>`. Doing so again is refused: there is nothing left.
    pub(super) async fn delete<T: Answer>(
        &self,
        path: &[&str],
        key: &Operation,
    ) -> Result<T, Error> {
        let call = self.call(Method::DELETE, path, &Form::new(), Some(key))?;
        Ok(self.send(&call).await?)
    }

    /// Each segment of the path is encoded, so that an identifier cannot lead elsewhere. What is done under a
    /// key has its form in the body.
    fn call<'a>(
        &self,
        method: Method,
        path: &[&str],
        form: &Form,
        key: Option<&'a Operation>,
    ) -> Result<Call<'a>, Error> {
        let mut url = self.api.base.clone();
        url.path_segments_mut()
            .map_err(|()| Error::garbage("its address has no path"))?
            .pop_if_empty()
            .push("v1")
            .extend(path);
        if key.is_none() && !form.pairs().is_empty() {
            url.set_query(Some(&form.encode()));
        }
        Ok(Call {
            method,
            url,
            body: key.map(|key| (form.encode(), key)),
            resource: resource(path),
            is_long: false,
        })
    }

    async fn send<T: Answer>(&self, call: &Call<'_>) -> Result<T, Failure> {
        let mut attempts: u32 = 0;
        loop {
            attempts = attempts.saturating_add(1);
            let failure = match self.attempt(call).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match failure.attempt.pause(attempts, jitter()) {
                Some(pause) => self.api.pauses.spend(pause).await,
                None => return Err(failure),
            }
        }
    }

    async fn attempt<T: Answer>(&self, call: &Call<'_>) -> Result<T, Failure> {
        match self.background {
            true => self.quota.wait(&call.resource).await,
            false => self.quota.go_first(&call.resource),
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
                .header("Idempotency-Key", key.as_str())
                .body(form.clone());
        }
        match request.send().await {
            Ok(response) => self.answer(call, response).await,
            Err(error) => Err(unanswered(&error)),
        }
    }

    async fn answer<T: Answer>(&self, call: &Call<'_>, response: Response) -> Result<T, Failure> {
        let status = response.status();
        let headers = response.headers().clone();
        if status.is_success() {
            self.quota.permitted(&call.question());
            let read = match call.is_long {
                true => arriving::read(response, MAX_LIST_BYTES).await,
                false => short(response).await,
            };
            let why = match read.map_err(|error| unanswered(&error))? {
                Ok(answer) => return Ok(answer),
                Err(why) => self.key.redact(&why),
            };
            return Err(Failure {
                attempt: Failed {
                    status: Some(status.as_u16()),
                    ..Failed::default()
                },
                ..Failure::from(Error::garbage(why))
            });
        }
        let body = body(response).await.map_err(|error| unanswered(&error))?;
        let said = body
            .as_ref()
            .and_then(|body| serde_json::from_slice::<ErrorBody>(body).ok())
            .map(|body| body.error);
        let attempt = Failed {
            status: Some(status.as_u16()),
            code: said.as_ref().and_then(|said| said.code.clone()),
            should_retry: match text(&headers, "stripe-should-retry") {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => None,
            },
            retry_after_seconds: text(&headers, RETRY_AFTER.as_str())
                .and_then(|text| text.trim().parse().ok()),
        };
        let passing = attempt.is_passing() || status.is_server_error();
        let error = match said {
            _ if passing => {
                Error::unavailable(format!("it answers {status}"), attempt.retry_after_seconds)
            }
            Some(said) if status.is_client_error() => {
                let refusal = said.cleaned(status.as_u16(), |text| self.key.redact(text));
                match refusal.permission() {
                    // Done in another way without it.
                    Some(_) if call.is_optional() => {}
                    Some(permission) => self.quota.lacks(&call.question(), permission),
                    None => self.quota.permitted(&call.question()),
                }
                Error::Refused(Box::new(refusal))
            }
            _ => Error::garbage(format!("{status} without a reason in Stripe's form")),
        };
        Err(Failure {
            error,
            replayed: text(&headers, "idempotent-replayed") == Some("true"),
            attempt,
        })
    }
}

/// What can be read of a successful answer, also in a thread of its own.
pub trait Answer: DeserializeOwned + Send + 'static {}

impl<T: DeserializeOwned + Send + 'static> Answer for T {}

/// What a path is about, without the names of single objects in it.
fn resource(path: &[&str]) -> String {
    let words = match path.first() {
        Some(&("checkout" | "billing_portal")) => 2,
        _ => 1,
    };
    path.get(..words).unwrap_or(path).join("/")
}

impl Failure {
    /// Whether it says nothing of what was asked now: the key was used before, for the same thing or for
    /// another one.
    pub(super) fn is_of_old(&self) -> bool {
        let reused = matches!(&self.error, Error::Refused(refusal) if refusal.is_key_reused());
        self.replayed || reused
    }

    /// Whether something broke at Stripe, which says so: nobody is at what was asked any more.
    pub(super) fn broke(&self) -> bool {
        self.attempt.status.is_some_and(|status| status >= 500)
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

/// Reads a JSON document that has arrived; else what is wrong with it.
async fn short<T: Answer>(response: Response) -> Result<Result<T, String>, reqwest::Error> {
    let Some(body) = body(response).await? else {
        return Ok(Err(arriving::TOO_LARGE.into()));
    };
    let mut json = serde_json::Deserializer::from_slice(&body);
    let parsed = serde_path_to_error::deserialize(&mut json);
    Ok(parsed.map_err(|error| error.to_string()))
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

fn unanswered(error: &reqwest::Error) -> Failure {
    let reason = match error.is_timeout() {
        true => "it does not answer in time".into(),
        false => root(error),
    };
    Failure::from(Error::unavailable(reason, None))
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
