//! The unkindness of a project's sandbox, as scripts switch it and as callers meet it.

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
    till::Failure,
    unkind::{Form, Unkind, Unkindness},
};

/// So long a caller gets no answer before it is told that there is none.
const SILENCE: Duration = Duration::from_secs(600);

/// What scripts switch: `POST`, `GET`, `DELETE /script/unkindness`. A form changes what it names;
/// `as_stripe=true` begins at what Stripe does every day.
pub(super) fn script(
    unkind: &mut Unkind,
    method: &str,
    params: &Params,
    now: i64,
) -> Result<Value> {
    let mut form = form(params);
    let settings = match method {
        "POST" => {
            let base = match form.remove("as_stripe").as_deref() {
                None => unkind.settings().clone(),
                Some("true") => Unkindness::as_stripe(),
                Some(_) => Unkindness::default(),
            };
            let changed = base.with(&form);
            changed.map_err(|(name, message)| Refusal::param(name, message))?
        }
        "DELETE" => Unkindness::default(),
        "GET" => unkind.settings().clone(),
        _ => return Err(Refusal::no_route(method, "unkindness")),
    };
    unkind.switch(settings, now);
    let shown = serde_json::to_value(unkind.settings());
    shown.map_err(|error| Refusal::invalid(error.to_string()))
}

/// A request's pairs by their names.
pub(super) fn form(params: &Params) -> Form {
    let pairs = params.pairs();
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Reads something else than was asked for.
pub(super) fn read(books: &mut Books, path: &str, form: &Form) -> Result<Answer> {
    let params = Params::new(form.clone())?;
    let path = path.trim_start_matches("/v1/");
    match api::call(books, "GET", path, &params) {
        // Whoever asked may know another way.
        Err(refusal) if refusal.status != 404 => Err(refusal),
        found => Ok(found.into()),
    }
}

/// An answer as it is printed.
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

/// No answer, for longer than anybody waits.
pub(super) async fn silence() -> Response {
    tokio::time::sleep(SILENCE).await;
    failed(&Failure::Broken(Error::Broken("it says nothing".into())))
}
