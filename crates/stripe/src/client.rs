//! Sends requests, with retries. Their content is defined per resource, in the other modules.

use std::{sync::Arc, time::Duration};

use payments_port::Operation;
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
    retry::FailedAttempt,
};
use scrip_http::client::AddressKind;

/// The API version of all requests, in place of the account's default. Webhooks come in the version of the merchant's
/// endpoint.
pub const API_VERSION: &str = "2026-10-28.endive";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout of one attempt, including the body. Stripe usually answers within two seconds.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);
/// The most bytes of a response with a single object.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// The most bytes of a list: up to a hundred whole objects, with indentation.
const MAX_LIST_BYTES: usize = 32 << 20;

/// The API at one address: connections, timeouts and quotas, but no key. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Api {
    http: reqwest::Client,
    base: Url,
    pauses: Pauses,
    quotas: Arc<Quotas>,
}

#[derive(Debug, Clone)]
enum Pauses {
    Slept,
    /// Recorded, so that no test waits.
    #[cfg(test)]
    Noted(Arc<parking_lot::Mutex<Vec<Duration>>>),
}

impl Api {
    /// For an `http` or `https` address, with or without a path in front of `/v1`.
    /// # Errors
    /// [`Error`] if TLS cannot be set up, usually for lack of certificate authorities.
    pub fn new(base: Url) -> Result<Self, Error> {
        let builder = AddressKind::of(&base)
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

    /// The same with at most `per_second` background requests a second for each account; 0 for its mode's default.
    #[must_use]
    pub fn paced(self, per_second: u32) -> Self {
        Self {
            quotas: Arc::new(Quotas::new(per_second)),
            ..self
        }
    }

    #[must_use]
    pub fn at(&self, base: Url) -> Self {
        Self {
            base,
            ..self.clone()
        }
    }

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
    /// Whether it is background work, so that other requests go first.
    background: bool,
}

struct Call<'a> {
    method: Method,
    url: Url,
    body: Option<(String, &'a Operation)>,
    /// Its resource, for example `checkout/sessions`: Stripe's limits and permissions are per resource.
    resource: String,
    is_long: bool,
}

impl Call<'_> {
    /// Whether it needs only an optional permission: see [`PermissionNeed::Convenience`].
    ///
    /// [`PermissionNeed::Convenience`]: crate::permissions::Need::Convenience
    fn is_optional(&self) -> bool {
        matches!(self.resource.as_str(), "account" | "webhook_endpoints")
    }

    fn question(&self) -> String {
        let verb = match self.method {
            Method::GET => "read",
            _ => "write",
        };
        format!("{verb} {}", self.resource)
    }
}

pub(super) struct CallFailure {
    pub(super) error: Error,
    /// Whether Stripe replayed its answer to an earlier call under the same idempotency key, which it keeps for a day.
    replayed: bool,
    /// Whether an earlier attempt may have been carried out: it was not answered, or another one was under way.
    unsure: bool,
    attempt: FailedAttempt,
}

impl From<CallFailure> for Error {
    fn from(failure: CallFailure) -> Self {
        failure.error
    }
}

impl From<Error> for CallFailure {
    fn from(error: Error) -> Self {
        Self {
            error,
            replayed: false,
            unsure: false,
            attempt: FailedAttempt::default(),
        }
    }
}

impl Client {
    /// The same account for background work, whose requests let others go first.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self {
            background: true,
            ..self.clone()
        }
    }

    /// Waits for one of the account's concurrent background operations; `None` unless in the background.
    pub(super) async fn place(&self) -> Option<SemaphorePermit<'_>> {
        match self.background {
            true => self.quota.place().await,
            false => None,
        }
    }

    pub fn missing_permissions(&self) -> Vec<String> {
        self.quota.missing_permissions()
    }

    /// GETs `/v1/<path>?<query>`. A long response is parsed as it arrives.
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

    /// POSTs a form to `/v1/<path>`, once under this idempotency key however often it is retried.
    /// # Errors
    /// See [`Error`].
    pub async fn post<T: Answer>(
        &self,
        path: &[&str],
        form: &Form,
        key: &Operation,
    ) -> Result<T, Error> {
        Ok(self.try_post(path, form, key).await?)
    }

    /// [`Self::post`] for a caller that must distinguish a repeated failure from a new one.
    pub(super) async fn try_post<T: Answer>(
        &self,
        path: &[&str],
        form: &Form,
        key: &Operation,
    ) -> Result<T, CallFailure> {
        let call = self.call(Method::POST, path, form, Some(key));
        self.send(&call?).await
    }

    /// DELETEs `/v1/<path>`. A repeat is refused, since the object is gone.
    pub(super) async fn delete<T: Answer>(
        &self,
        path: &[&str],
        key: &Operation,
    ) -> Result<T, Error> {
        let call = self.call(Method::DELETE, path, &Form::new(), Some(key))?;
        Ok(self.send(&call).await?)
    }

    /// Builds a request. Path segments are encoded, so that an id cannot lead elsewhere. With an idempotency key the
    /// form is the body, else the query.
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

    async fn send<T: Answer>(&self, call: &Call<'_>) -> Result<T, CallFailure> {
        let mut attempts: u32 = 0;
        let (mut broke, mut unsure) = (false, false);
        loop {
            attempts += 1;
            let mut failure = match self.attempt(call).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            failure.unsure = unsure;
            if failure.replayed {
                // After a failure of this call Stripe replays nothing older.
                failure.replayed = !broke;
                return Err(failure);
            }
            broke |= failure.broke();
            let status = failure.attempt.status;
            unsure |= status.is_none_or(|status| status == 409 || status >= 500);
            match failure.attempt.pause(attempts, jitter()) {
                Some(pause) => self.api.pauses.spend(pause).await,
                None => return Err(failure),
            }
        }
    }

    async fn attempt<T: Answer>(&self, call: &Call<'_>) -> Result<T, CallFailure> {
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

    async fn answer<T: Answer>(
        &self,
        call: &Call<'_>,
        response: Response,
    ) -> Result<T, CallFailure> {
        let status = response.status();
        let headers = response.headers().clone();
        if status.is_success() {
            self.quota.note_granted(&call.question());
            let read = match call.is_long {
                true => arriving::read(response, MAX_LIST_BYTES).await,
                false => short(response).await,
            };
            let why = match read.map_err(|error| unanswered(&error))? {
                Ok(answer) => return Ok(answer),
                Err(why) => self.key.redact(&why),
            };
            return Err(CallFailure {
                attempt: FailedAttempt {
                    status: Some(status.as_u16()),
                    ..FailedAttempt::default()
                },
                ..CallFailure::from(Error::garbage(why))
            });
        }
        let body = body(response).await.map_err(|error| unanswered(&error))?;
        let response = body
            .as_ref()
            .and_then(|body| serde_json::from_slice::<ErrorBody>(body).ok())
            .map(|body| body.error);
        let attempt = FailedAttempt {
            status: Some(status.as_u16()),
            code: response.as_ref().and_then(|error| error.code.clone()),
            should_retry: match text(&headers, "stripe-should-retry") {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => None,
            },
            retry_after_seconds: text(&headers, RETRY_AFTER.as_str())
                .and_then(|text| text.trim().parse().ok()),
        };
        let passing = attempt.is_passing() || status.is_server_error();
        let error = match response {
            _ if passing => {
                Error::unavailable(format!("it answers {status}"), attempt.retry_after_seconds)
            }
            Some(response) if status.is_client_error() => {
                let refusal = response.cleaned(status.as_u16(), |text| self.key.redact(text));
                match refusal.permission() {
                    // Scrip has another way without this permission.
                    Some(_) if call.is_optional() => {}
                    Some(permission) => self.quota.lacks(&call.question(), permission),
                    None => self.quota.note_granted(&call.question()),
                }
                Error::Refused(Box::new(refusal))
            }
            _ => Error::garbage(format!("{status} without an error in Stripe's format")),
        };
        Err(CallFailure {
            error,
            replayed: text(&headers, "idempotent-replayed") == Some("true"),
            unsure: false,
            attempt,
        })
    }
}

/// A type of successful responses, parsed in any thread.
pub trait Answer: DeserializeOwned + Send + 'static {}

impl<T: DeserializeOwned + Send + 'static> Answer for T {}

/// The resource of a path, without the ids of objects.
fn resource(path: &[&str]) -> String {
    let words = match path.first() {
        Some(&("checkout" | "billing_portal")) => 2,
        _ => 1,
    };
    path.get(..words).unwrap_or(path).join("/")
}

impl CallFailure {
    /// Whether it is not about this request: its idempotency key was used before.
    pub(super) fn is_replay(&self) -> bool {
        let reused = matches!(&self.error, Error::Refused(refusal) if refusal.is_key_reused());
        self.replayed || reused
    }

    /// The error of a call that must not be taken for undone when it may have been done: where an earlier attempt was
    /// not answered, or the idempotency key was used for something similar, nothing is known.
    pub(super) fn cautious(self) -> Error {
        match &self.error {
            Error::Refused(refusal) if self.unsure || refusal.is_key_reused() => {
                Error::unavailable(refusal.to_string(), None)
            }
            _ => self.error,
        }
    }

    /// Whether Stripe answered with a server error, and so no longer works on the request.
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

/// Reads and parses a whole response. The inner error is about the document.
async fn short<T: Answer>(response: Response) -> Result<Result<T, String>, reqwest::Error> {
    let Some(body) = body(response).await? else {
        return Ok(Err(arriving::TOO_LARGE.into()));
    };
    let mut json = serde_json::Deserializer::from_slice(&body);
    let parsed = serde_path_to_error::deserialize(&mut json);
    Ok(parsed.map_err(|error| error.to_string()))
}

async fn body(mut response: Response) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

fn unanswered(error: &reqwest::Error) -> CallFailure {
    let reason = match error.is_timeout() {
        true => "it does not answer in time".into(),
        false => root(error),
    };
    CallFailure::from(Error::unavailable(reason, None))
}

/// The root cause of an error, such as a refused connection, without the URL of the request.
fn root(error: &reqwest::Error) -> String {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(deeper) = cause.and_then(|cause| cause.source()) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| "it cannot be reached".into(), ToString::to_string)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// A random byte; without randomness all callers pause equally long, which is harmless.
fn jitter() -> u8 {
    let mut byte = 0;
    getrandom::fill(std::slice::from_mut(&mut byte)).map_or(0, |()| byte)
}

#[cfg(test)]
mod tests;
