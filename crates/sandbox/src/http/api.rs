//! One call of Stripe's API: key, parameters, idempotency key, answer.

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

use domain::id::ProjectId;
use stripe::API_VERSION;

use super::{auth, failed, fault_profile, refused};
use crate::{
    Keys, Sandbox,
    core::{
        self,
        faults::{Fault, Kind},
        ids::Ids,
        operations::{self, Call},
        prelude::*,
        script,
    },
    fault_profile::{Outcome, Request},
    store::Failure,
};

/// The origin of the rate limits' clock: a project's own clock jumps.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

const IDEMPOTENCY_KEY: &str = "idempotency-key";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApiKind {
    /// Stripe's API, `/v1/...`.
    Api,
    /// Controls for tests, `/script/...`, with the same key and forms.
    Script,
}

pub(super) async fn call(
    kind: ApiKind,
    State(sandbox): State<Sandbox>,
    Path((project, path)): Path<(String, String)>,
    (method, uri, headers, body): (Method, Uri, HeaderMap, Bytes),
) -> Response {
    // Only a POST has an idempotency key.
    let key = headers.get(IDEMPOTENCY_KEY);
    let key = key.filter(|_| method == Method::POST);
    let incoming = IncomingRequest {
        id: request_id(),
        key: key.map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned()),
        method,
        path,
        headers,
    };
    let query = uri.query().unwrap_or_default();
    let mut answer = match answer(&sandbox, &project, &incoming, kind, query, &body).await {
        Ok(answer) => answer,
        Err(failure) => failed(&failure),
    };
    add_headers(&mut answer, &incoming);
    answer
}

#[derive(Clone)]
struct IncomingRequest {
    id: String,
    key: Option<String>,
    method: Method,
    path: String,
    headers: HeaderMap,
}

async fn answer(
    sandbox: &Sandbox,
    project: &str,
    incoming: &IncomingRequest,
    kind: ApiKind,
    query: &str,
    body: &[u8],
) -> Result<Response, Failure> {
    let method = incoming.method.as_str();
    let with_keys = |(project, _)| Some((project, sandbox.0.host.keys(project)?));
    let Some((project, keys)) = sandbox.project(project).and_then(with_keys) else {
        return Ok(refused(&Refusal::no_route(method, &incoming.path)));
    };
    auth::check(&incoming.headers, &keys.secret_key)?;
    let params = params(incoming, query, body)?;
    match kind {
        ApiKind::Script => answer_script(sandbox, project, incoming, params).await,
        ApiKind::Api => answer_api(sandbox, (project, keys), incoming, params).await,
    }
}

async fn answer_script(
    sandbox: &Sandbox,
    project: ProjectId,
    incoming: &IncomingRequest,
    params: Params,
) -> Result<Response, Failure> {
    let project_state = sandbox.0.project_state(project);
    let method = incoming.method.as_str();
    let state = match incoming.path.as_str() {
        "faults" => project_state.faults.lock().call(method, &params)?,
        "fault-profile" => {
            let now = sandbox.0.now(project);
            fault_profile::script(&mut project_state.injector.lock(), method, &params, now)?
        }
        _ => {
            let incoming = incoming.clone();
            let work = move |db: &mut Database| {
                db.request = incoming.cause();
                script::call(db, incoming.method.as_str(), &incoming.path, &params)
            };
            let state = sandbox.work(project, work).await?;
            sandbox.deliver_behind(project);
            state
        }
    };
    let printed = project_state.injector.lock().print(&state);
    Ok(fault_profile::respond(200, printed, []))
}

async fn answer_api(
    sandbox: &Sandbox,
    (project, keys): (ProjectId, Keys),
    incoming: &IncomingRequest,
    params: Params,
) -> Result<Response, Failure> {
    let project_state = sandbox.0.project_state(project);
    let method = incoming.method.as_str();
    let fault = project_state.faults.lock().take(method, &incoming.path);
    let is = |kind: Kind| fault.as_ref().filter(|fault| fault.kind == kind);
    if let Some(fault) = is(Kind::Hang) {
        return Ok(hang(fault).await);
    }
    let incoming = incoming.clone();
    let millis = i64::try_from(START.elapsed().as_millis()).unwrap_or(i64::MAX);
    let (state, ordered_fault) = (Arc::clone(&project_state), fault.clone());
    let work = move |db: &mut Database| {
        db.request = incoming.cause();
        let mut is_replayed = false;
        let (path, form) = (
            format!("/v1/{}", incoming.path),
            fault_profile::form(&params),
        );
        let request = Request {
            method: incoming.method.as_str(),
            path: &path,
            form: &form,
            key: &keys.secret_key,
            operation: incoming.key.as_deref(),
            now: db.now,
            millis,
        };
        let outcome = state
            .injector
            .lock()
            .answer(&request, |_, read_path, read_form| {
                // Pages and objects read in its place are not the caller's operation.
                if !std::ptr::eq(read_form, &form) || read_path != path {
                    return fault_profile::read(db, read_path, read_form);
                }
                let call = Call {
                    method: request.method,
                    path: &incoming.path,
                    params: &params,
                    key: request.operation,
                    instead: ordered_fault.as_ref().and_then(Fault::instead),
                };
                let result = operations::answer(db, call)?;
                is_replayed = result.is_replayed;
                Ok::<_, Refusal>(result.answer)
            })?;
        Ok((outcome, is_replayed))
    };
    // What was due before this request happens first, because lists are ordered by time.
    let outcome = sandbox.work(project, work).await;
    if outcome.is_ok() {
        sandbox.deliver_behind(project);
    }
    if let Some(fault) = is(Kind::Lost) {
        return Ok(hang(fault).await);
    }
    let mut answer = match outcome {
        Ok((Outcome::Silence, _)) => return Ok(fault_profile::silence().await),
        Ok((Outcome::Answer { answer, headers }, replayed)) => {
            let replayed = replayed.then(|| ("idempotent-replayed", "true".to_owned()));
            let headers = headers.into_iter().chain(replayed);
            let printed = project_state.injector.lock().print(&answer.body);
            fault_profile::respond(answer.status, printed, headers)
        }
        Err(failure) => failed(&failure),
    };
    if let Some(seconds) = fault.and_then(|fault| fault.retry_after) {
        let headers = answer.headers_mut();
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    Ok(answer)
}

/// Gives no answer for the fault's seconds, then a 504.
async fn hang(fault: &Fault) -> Response {
    tokio::time::sleep(Duration::from_secs(fault.seconds)).await;
    (StatusCode::GATEWAY_TIMEOUT, Json(fault.body())).into_response()
}

fn params(incoming: &IncomingRequest, query: &str, body: &[u8]) -> Result<Params> {
    let form = incoming
        .headers
        .get(header::CONTENT_TYPE)
        .is_none_or(|kind| {
            let kind = kind.to_str().unwrap_or_default().to_ascii_lowercase();
            kind.starts_with("application/x-www-form-urlencoded")
        });
    let message = "Invalid request: send parameters as application/x-www-form-urlencoded.";
    Refusal::invalid(message).when(!body.is_empty() && !form)?;
    Refusal::invalid("A GET takes its parameters in the query.")
        .when(incoming.method == Method::GET && !body.is_empty())?;
    let query = url::form_urlencoded::parse(query.as_bytes());
    let pairs = query.chain(url::form_urlencoded::parse(body));
    Params::new(pairs.map(|(key, value)| (key.into_owned(), value.into_owned())))
}

/// A random id for a request; duplicates are harmless.
fn request_id() -> String {
    let mut seed = [0; 32];
    let _: Result<(), _> = getrandom::fill(&mut seed);
    Ids::new(seed).usual("req_")
}

impl IncomingRequest {
    fn cause(&self) -> core::objects::Request {
        core::objects::Request {
            id: Some(self.id.clone()),
            key: self.key.clone(),
        }
    }
}

fn add_headers(answer: &mut Response, incoming: &IncomingRequest) {
    let headers = answer.headers_mut();
    if let Ok(value) = HeaderValue::try_from(&incoming.id) {
        headers.insert(HeaderName::from_static("request-id"), value);
    }
    let version = HeaderName::from_static("stripe-version");
    let wanted = incoming.headers.get(&version).cloned();
    let ours = HeaderValue::from_static(API_VERSION);
    headers.insert(version, wanted.unwrap_or(ours));
    if let Some(Ok(key)) = incoming.key.as_ref().map(HeaderValue::try_from) {
        headers.insert(HeaderName::from_static(IDEMPOTENCY_KEY), key);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
