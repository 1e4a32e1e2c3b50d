//! One call of Stripe's API: key, parameters, operation key, answer.

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, Path, Request as HttpRequest, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{auth, failed, refused, unkind};
use crate::core::prelude::*;
use crate::{
    Sandbox,
    core::{
        self,
        faults::{Fault, Kind},
        ids::Ids,
        operations::{self, Call},
        script,
    },
    unkind::{Answer, Outcome, Request},
};
use stripe::API_VERSION;

/// Requests of one second are counted from here on: a project's clock moves by leaps.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Stripe's API, `/v1/...`.
pub(super) async fn call(
    State(sandbox): State<Sandbox>,
    Path((project, path)): Path<(String, String)>,
    asked: Asked,
) -> Response {
    let request = request_id();
    let mut answer = answer(&sandbox, &project, &path, &asked, &request, Door::Api).await;
    dress(&mut answer, &asked, &request);
    answer
}

/// What only a test asks for, `/script/...`: with the same key and forms.
pub(super) async fn script(
    State(sandbox): State<Sandbox>,
    Path((project, path)): Path<(String, String)>,
    asked: Asked,
) -> Response {
    let request = request_id();
    let mut answer = answer(&sandbox, &project, &path, &asked, &request, Door::Script).await;
    dress(&mut answer, &asked, &request);
    answer
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Api,
    Script,
}

/// A request as it came.
pub(super) struct Asked {
    method: Method,
    query: Option<String>,
    headers: HeaderMap,
    body: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for Asked {
    type Rejection = Response;

    async fn from_request(request: HttpRequest, state: &S) -> Result<Self, Response> {
        let method = request.method().clone();
        let query = request.uri().query().map(str::to_owned);
        let headers = request.headers().clone();
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(IntoResponse::into_response)?;
        Ok(Self {
            method,
            query,
            headers,
            body,
        })
    }
}

impl Asked {
    /// The caller's name for what a POST does.
    fn key(&self) -> Option<String> {
        let key = self.headers.get(IDEMPOTENCY_KEY);
        let key = key.filter(|_| self.method == Method::POST)?;
        Some(String::from_utf8_lossy(key.as_bytes()).into_owned())
    }
}

async fn answer(
    sandbox: &Sandbox,
    project: &str,
    path: &str,
    asked: &Asked,
    request: &str,
    door: Door,
) -> Response {
    let known = sandbox.project(project);
    let known = known.and_then(|(project, _)| Some((project, sandbox.0.world.keys(project)?)));
    let Some((project, keys)) = known else {
        return refused(&Refusal::no_route(asked.method.as_str(), path));
    };
    if let Err(refusal) = auth::check(&asked.headers, &keys.secret_key) {
        return refused(&refusal);
    }
    let params = match params(asked) {
        Ok(params) => params,
        Err(refusal) => return refused(&refusal),
    };
    let till = sandbox.0.till(project);
    if door == Door::Script && (path == "faults" || path == "unkindness") {
        let method = asked.method.as_str();
        let outcome = if path == "faults" {
            till.faults.lock().call(method, &params)
        } else {
            let now = sandbox.0.world.now(project).0.div_euclid(1000);
            unkind::script(&mut till.unkind.lock(), method, &params, now)
        };
        return match outcome {
            Ok(body) => Json(body).into_response(),
            Err(refusal) => refused(&refusal),
        };
    }
    let fault = match door {
        Door::Api => till.faults.lock().take(asked.method.as_str(), path),
        Door::Script => None,
    };
    if let Some(fault) = &fault
        && fault.kind == Kind::Hang
    {
        return hang(fault).await;
    }
    // Whatever was due before this request happened before it: lists are in the order of time.
    if let Err(failure) = sandbox.0.catch_up(project).await {
        return failed(&failure);
    }
    let by = core::objects::Request {
        id: Some(request.to_owned()),
        key: asked.key(),
    };
    let (method, path, trouble) = (asked.method.clone(), path.to_owned(), fault.clone());
    let millis = i64::try_from(START.elapsed().as_millis()).unwrap_or(i64::MAX);
    let (hands, secret_key) = (Arc::clone(&till), keys.secret_key);
    let work = move |books: &mut Books| {
        books.request = by.clone();
        if door == Door::Script {
            let body = script::call(books, method.as_str(), &path, &params)?;
            return Ok((Outcome::from(Answer { status: 200, body }), false));
        }
        let key = by.key.as_deref();
        let mut is_replayed = false;
        let now = books.now;
        let (at, form) = (format!("/v1/{path}"), unkind::form(&params));
        let request = Request {
            method: method.as_str(),
            path: &at,
            form: &form,
            key: &secret_key,
            operation: key,
            now,
            millis,
        };
        let outcome = hands.unkind.lock().answer(&request, |_, other, with| {
            // Pages and objects that are read instead of what was asked for are nobody's operations.
            if !std::ptr::eq(with, &form) || other != at {
                return unkind::read(books, other, with);
            }
            let call = Call {
                method: method.as_str(),
                path: &path,
                params: &params,
                key,
                instead: trouble.as_ref().and_then(Fault::instead),
            };
            let done = operations::answer(books, call)?;
            is_replayed = done.is_replayed;
            let (status, body) = (done.status, done.body);
            Ok::<_, Refusal>(Answer { status, body })
        })?;
        Ok((outcome, is_replayed))
    };
    let outcome = sandbox.0.at(project, work).await;
    if outcome.is_ok() {
        sandbox.deliver_behind(project);
    }
    if let Some(fault) = &fault
        && fault.kind == Kind::Lost
    {
        return hang(fault).await;
    }
    let mut answer = match outcome {
        Ok((Outcome::Silence, _)) => return unkind::silence().await,
        Ok((Outcome::Answer { answer, headers }, replayed)) => {
            let printed = till.unkind.lock().print(&answer.body);
            let mut answer = unkind::respond(answer.status, printed, headers);
            if replayed {
                let name = HeaderName::from_static("idempotent-replayed");
                let value = HeaderValue::from_static("true");
                answer.headers_mut().insert(name, value);
            }
            answer
        }
        Err(failure) => failed(&failure),
    };
    if let Some(seconds) = fault.and_then(|fault| fault.retry_after) {
        answer
            .headers_mut()
            .insert(header::RETRY_AFTER, seconds.into());
    }
    answer
}

/// No answer for so long; whoever waits until then is told that none came.
async fn hang(fault: &Fault) -> Response {
    tokio::time::sleep(Duration::from_secs(fault.seconds)).await;
    (StatusCode::GATEWAY_TIMEOUT, Json(fault.body())).into_response()
}

fn params(asked: &Asked) -> Result<Params> {
    let body: &[u8] = &asked.body;
    let form = asked.headers.get(header::CONTENT_TYPE).is_none_or(|kind| {
        let kind = kind.to_str().unwrap_or_default().to_ascii_lowercase();
        kind.starts_with("application/x-www-form-urlencoded")
    });
    if !body.is_empty() && !form {
        let message = "Invalid request: send parameters as application/x-www-form-urlencoded.";
        return Err(Refusal::invalid(message));
    }
    if asked.method == Method::GET && !body.is_empty() {
        return Err(Refusal::invalid("A GET has its parameters in the query."));
    }
    let query = asked.query.as_deref().unwrap_or_default();
    let query = url::form_urlencoded::parse(query.as_bytes());
    let body = url::form_urlencoded::parse(body);
    let pairs = query.chain(body);
    Params::new(pairs.map(|(key, value)| (key.into_owned(), value.into_owned())))
}

/// It names the request for people; two alike would do no harm.
fn request_id() -> String {
    let mut seed = [0; 32];
    let _: Result<(), _> = getrandom::fill(&mut seed);
    Ids::new(seed).usual("req_")
}

/// Puts on the headers that all of Stripe's answers have.
fn dress(answer: &mut Response, asked: &Asked, request: &str) {
    let headers = answer.headers_mut();
    if let Ok(value) = HeaderValue::try_from(request) {
        headers.insert(HeaderName::from_static("request-id"), value);
    }
    let version = HeaderName::from_static("stripe-version");
    let wanted = asked.headers.get(&version).cloned();
    let ours = HeaderValue::from_static(API_VERSION);
    headers.insert(version, wanted.unwrap_or(ours));
    if let Some(Ok(key)) = asked.key().map(HeaderValue::try_from) {
        headers.insert(HeaderName::from_static(IDEMPOTENCY_KEY), key);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
