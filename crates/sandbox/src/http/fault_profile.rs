//! The fault profile of a project's sandbox: how scripts set it, and what callers get.

use std::time::Duration;

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::failed;
use crate::core::prelude::*;
use crate::{
    Error,
    core::api,
    fault_profile::{FaultInjector, FaultProfile, Parameters},
    store::Failure,
};

/// How long a silent request waits before a 503.
const SILENCE: Duration = Duration::from_secs(600);

/// Changes, shows or clears the fault profile: `POST`, `GET`, `DELETE /script/fault-profile`. A form changes the
/// switches that it names; `as_stripe=true` starts with Stripe's usual behaviour.
pub(super) fn script(
    injector: &mut FaultInjector,
    method: &str,
    params: &Params,
    now: i64,
) -> Result<Value> {
    let mut form = form(params);
    let settings = match method {
        "POST" => {
            let base = match form.remove("as_stripe").as_deref() {
                None => injector.settings().clone(),
                Some("true") => FaultProfile::as_stripe(),
                Some(_) => FaultProfile::default(),
            };
            let changed = base.with(&form);
            changed.map_err(|(name, message)| Refusal::param(name, message))?
        }
        "DELETE" => FaultProfile::default(),
        "GET" => injector.settings().clone(),
        _ => return Err(Refusal::no_route(method, "fault-profile")),
    };
    injector.switch(settings, now);
    let shown = serde_json::to_value(injector.settings());
    shown.map_err(|error| Refusal::invalid(error.to_string()))
}

pub(super) fn form(params: &Params) -> Parameters {
    let pairs = params.pairs();
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

pub(super) fn read(db: &mut Database, path: &str, form: &Parameters) -> Result<Answer> {
    let params = Params::new(form.clone())?;
    let path = path.trim_start_matches("/v1/");
    match api::call(db, "GET", path, &params) {
        // A 404 is an answer: the caller may continue without the object.
        Err(refusal) if refusal.status != 404 => Err(refusal),
        outcome => Ok(outcome.unwrap_or_else(Answer::from)),
    }
}

pub(super) fn respond(
    status: u16,
    printed: String,
    headers: impl IntoIterator<Item = (&'static str, String)>,
) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let kind = [(header::CONTENT_TYPE, "application/json")];
    let mut answer = (status, kind, printed).into_response();
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            let name = HeaderName::from_static(name);
            answer.headers_mut().insert(name, value);
        }
    }
    answer
}

/// Never answers within a caller's timeout.
pub(super) async fn silence() -> Response {
    tokio::time::sleep(SILENCE).await;
    failed(&Failure::Broken(Error::Broken("it says nothing".into())))
}
