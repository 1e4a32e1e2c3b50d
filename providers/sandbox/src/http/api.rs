//! One call of Stripe's API: key, parameters, operation key, answer.

use axum::{
    Json,
    body::Bytes,
    extract::{Path, RawQuery, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde_json::Value;

use super::{auth, failed, refused};
use crate::{
    Sandbox,
    core::{api, books::Desk, ids::Ids, operations, params::Params, refusal::Refusal},
};
use stripe::API_VERSION;

const IDEMPOTENCY_KEY: &str = "idempotency-key";

pub(super) async fn call(
    State(sandbox): State<Sandbox>,
    Path((project, path)): Path<(String, String)>,
    method: Method,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let known = sandbox.project(&project);
    let known = known.and_then(|(project, _)| Some((project, sandbox.0.world.keys(project)?)));
    let Some((project, keys)) = known else {
        return refused(&Refusal::no_route(method.as_str(), &path));
    };
    if let Err(refusal) = auth::check(&headers, &keys.secret_key) {
        return dressed(refused(&refusal), &headers, None);
    }
    let params = match params(&method, query.as_deref(), &headers, &body) {
        Ok(params) => params,
        Err(refusal) => return dressed(refused(&refusal), &headers, None),
    };
    let key = headers
        .get(IDEMPOTENCY_KEY)
        .filter(|_| method == Method::POST);
    let key = key.map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned());
    let shown = key.clone();
    let work = move |desk: &mut Desk<'_>| {
        let mut once = Once {
            desk,
            key: key.as_deref(),
            replayed: false,
        };
        let (status, body) = once.call(method.as_str(), &path, &params)?;
        Ok((status, body, once.replayed))
    };
    let answer = match sandbox.0.at(project, work).await {
        Ok((status, body, replayed)) => {
            sandbox.deliver_behind(project);
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
            let mut answer = (status, Json(body)).into_response();
            if replayed {
                let name = HeaderName::from_static("idempotent-replayed");
                answer
                    .headers_mut()
                    .insert(name, HeaderValue::from_static("true"));
            }
            answer
        }
        Err(failure) => failed(&failure),
    };
    dressed(answer, &headers, shown.as_deref())
}

/// A call that is done once for its key.
struct Once<'a, 'b> {
    desk: &'a mut Desk<'b>,
    key: Option<&'a str>,
    replayed: bool,
}

impl Once<'_, '_> {
    fn call(&mut self, method: &str, path: &str, params: &Params) -> Result<(u16, Value), Refusal> {
        let Some(key) = self.key else {
            return Ok((200, api::call(self.desk, method, path, params)?));
        };
        let digest = operations::digest(method, path, params);
        if let Some(answer) = operations::replay(self.desk, key, &digest)? {
            self.replayed = true;
            return Ok(answer);
        }
        let (status, body) = match api::call(self.desk, method, path, params) {
            Ok(body) => (200, body),
            // The card's no is an outcome; a malformed request has none.
            Err(refusal) if refusal.status == 402 => (402, refusal.body()),
            Err(refusal) => return Err(refusal),
        };
        operations::keep(self.desk, key, digest, status, &body);
        Ok((status, body))
    }
}

fn params(
    method: &Method,
    query: Option<&str>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Params, Refusal> {
    let form = headers.get(header::CONTENT_TYPE).is_none_or(|kind| {
        let kind = kind.to_str().unwrap_or_default().to_ascii_lowercase();
        kind.starts_with("application/x-www-form-urlencoded")
    });
    if !body.is_empty() && !form {
        let message = "Invalid request: send parameters as application/x-www-form-urlencoded.";
        return Err(Refusal::invalid(message));
    }
    if *method == Method::GET && !body.is_empty() {
        return Err(Refusal::invalid("A GET has its parameters in the query."));
    }
    let query = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let body = url::form_urlencoded::parse(body);
    let pairs = query.chain(body);
    Params::new(pairs.map(|(key, value)| (key.into_owned(), value.into_owned())))
}

/// With the headers that all of Stripe's answers have.
fn dressed(mut answer: Response, asked: &HeaderMap, key: Option<&str>) -> Response {
    let headers = answer.headers_mut();
    let mut seed = [0; 32];
    // It names the request for people; two alike would do no harm.
    let _: Result<(), _> = getrandom::fill(&mut seed);
    let request = Ids::new(seed).usual("req_");
    if let Ok(value) = HeaderValue::try_from(request) {
        headers.insert(HeaderName::from_static("request-id"), value);
    }
    let version = HeaderName::from_static("stripe-version");
    let asked = asked.get(&version).cloned();
    let ours = HeaderValue::from_static(API_VERSION);
    headers.insert(version, asked.unwrap_or(ours));
    if let Some(Ok(key)) = key.map(HeaderValue::from_str) {
        headers.insert(HeaderName::from_static(IDEMPOTENCY_KEY), key);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
