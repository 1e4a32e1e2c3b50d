//! One call of Stripe's API: key, parameters, operation key, answer.

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};

use super::{auth, failed, refused, unkind};
use crate::{
    Sandbox,
    core::{
        self,
        faults::{Fault, Kind},
        ids::Ids,
        operations::{self, Call},
        prelude::*,
        script,
    },
    till::Failure,
    unkind::{Outcome, Request},
};
use stripe::API_VERSION;

/// Requests of one second are counted from here on: a project's clock moves by leaps.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// By which address somebody calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// Stripe's API, `/v1/...`.
    Api,
    /// What only a test asks for, `/script/...`: with the same key and forms.
    Script,
}

pub(super) async fn call(
    door: Door,
    State(sandbox): State<Sandbox>,
    Path((project, path)): Path<(String, String)>,
    (method, uri, headers, body): (Method, Uri, HeaderMap, Bytes),
) -> Response {
    // The caller's name for what a POST does.
    let key = headers.get(IDEMPOTENCY_KEY);
    let key = key.filter(|_| method == Method::POST);
    let asked = Asked {
        id: request_id(),
        key: key.map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned()),
        method,
        path,
        headers,
    };
    let query = uri.query().unwrap_or_default();
    let mut answer = match answer(&sandbox, &project, &asked, door, query, &body).await {
        Ok(answer) => answer,
        Err(failure) => failed(&failure),
    };
    dress(&mut answer, &asked);
    answer
}

/// A request as it came.
struct Asked {
    /// It names the request for people.
    id: String,
    key: Option<String>,
    method: Method,
    path: String,
    headers: HeaderMap,
}

async fn answer(
    sandbox: &Sandbox,
    project: &str,
    asked: &Asked,
    door: Door,
    query: &str,
    body: &[u8],
) -> Result<Response, Failure> {
    let method = asked.method.as_str();
    let known = sandbox.project(project);
    let known = known.and_then(|(project, _)| Some((project, sandbox.0.world.keys(project)?)));
    let Some((project, keys)) = known else {
        return Ok(refused(&Refusal::no_route(method, &asked.path)));
    };
    auth::check(&asked.headers, &keys.secret_key)?;
    let params = params(asked, query, body)?;
    let till = sandbox.0.till(project);
    if door == Door::Script {
        let state = match asked.path.as_str() {
            "faults" => till.faults.lock().call(method, &params)?,
            "unkindness" => {
                let now = sandbox.0.now(project);
                unkind::script(&mut till.unkind.lock(), method, &params, now)?
            }
            _ => {
                let (request, method, path) =
                    (asked.of(), asked.method.clone(), asked.path.clone());
                let work = move |books: &mut Books| {
                    books.request = request;
                    script::call(books, method.as_str(), &path, &params)
                };
                let state = sandbox.work(project, work).await?;
                sandbox.deliver_behind(project);
                state
            }
        };
        let printed = till.unkind.lock().print(&state);
        return Ok(unkind::respond(200, printed, []));
    }
    let fault = till.faults.lock().take(method, &asked.path);
    let is = |kind: Kind| fault.as_ref().filter(|fault| fault.kind == kind);
    if let Some(fault) = is(Kind::Hang) {
        return Ok(hang(fault).await);
    }
    let (request, method, path) = (asked.of(), asked.method.clone(), asked.path.clone());
    let millis = i64::try_from(START.elapsed().as_millis()).unwrap_or(i64::MAX);
    let (hands, trouble) = (Arc::clone(&till), fault.clone());
    let work = move |books: &mut Books| {
        books.request = request.clone();
        let now = books.now;
        let mut is_replayed = false;
        let (at, form) = (format!("/v1/{path}"), unkind::form(&params));
        let request = Request {
            method: method.as_str(),
            path: &at,
            form: &form,
            key: &keys.secret_key,
            operation: request.key.as_deref(),
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
                key: request.operation,
                instead: trouble.as_ref().and_then(Fault::instead),
            };
            let done = operations::answer(books, call)?;
            is_replayed = done.is_replayed;
            Ok::<_, Refusal>(done.answer)
        })?;
        Ok((outcome, is_replayed))
    };
    // Whatever was due before this request happened before it: lists are in the order of time.
    let outcome = sandbox.work(project, work).await;
    if outcome.is_ok() {
        sandbox.deliver_behind(project);
    }
    if let Some(fault) = is(Kind::Lost) {
        return Ok(hang(fault).await);
    }
    let mut answer = match outcome {
        Ok((Outcome::Silence, _)) => return Ok(unkind::silence().await),
        Ok((Outcome::Answer { answer, headers }, replayed)) => {
            let replayed = replayed.then(|| ("idempotent-replayed", "true".to_owned()));
            let headers = headers.into_iter().chain(replayed);
            let printed = till.unkind.lock().print(&answer.body);
            unkind::respond(answer.status, printed, headers)
        }
        Err(failure) => failed(&failure),
    };
    if let Some(seconds) = fault.and_then(|fault| fault.retry_after) {
        let headers = answer.headers_mut();
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    Ok(answer)
}

/// No answer for so long; whoever waits until then is told that none came.
async fn hang(fault: &Fault) -> Response {
    tokio::time::sleep(Duration::from_secs(fault.seconds)).await;
    (StatusCode::GATEWAY_TIMEOUT, Json(fault.body())).into_response()
}

fn params(asked: &Asked, query: &str, body: &[u8]) -> Result<Params> {
    let form = asked.headers.get(header::CONTENT_TYPE).is_none_or(|kind| {
        let kind = kind.to_str().unwrap_or_default().to_ascii_lowercase();
        kind.starts_with("application/x-www-form-urlencoded")
    });
    let message = "Invalid request: send parameters as application/x-www-form-urlencoded.";
    Refusal::invalid(message).when(!body.is_empty() && !form)?;
    Refusal::invalid("A GET has its parameters in the query.")
        .when(asked.method == Method::GET && !body.is_empty())?;
    let query = url::form_urlencoded::parse(query.as_bytes());
    let pairs = query.chain(url::form_urlencoded::parse(body));
    Params::new(pairs.map(|(key, value)| (key.into_owned(), value.into_owned())))
}

/// Two alike would do no harm.
fn request_id() -> String {
    let mut seed = [0; 32];
    let _: Result<(), _> = getrandom::fill(&mut seed);
    Ids::new(seed).usual("req_")
}

impl Asked {
    /// What it does is done by.
    fn of(&self) -> core::objects::Request {
        core::objects::Request {
            id: Some(self.id.clone()),
            key: self.key.clone(),
        }
    }
}

/// Puts on the headers that all of Stripe's answers have.
fn dress(answer: &mut Response, asked: &Asked) {
    let headers = answer.headers_mut();
    if let Ok(value) = HeaderValue::try_from(&asked.id) {
        headers.insert(HeaderName::from_static("request-id"), value);
    }
    let version = HeaderName::from_static("stripe-version");
    let wanted = asked.headers.get(&version).cloned();
    let ours = HeaderValue::from_static(API_VERSION);
    headers.insert(version, wanted.unwrap_or(ours));
    if let Some(Ok(key)) = asked.key.as_ref().map(HeaderValue::try_from) {
        headers.insert(HeaderName::from_static(IDEMPOTENCY_KEY), key);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
