//! Vital signs: whether the process lives, whether it takes work, and its figures.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::{
    api::{Administrator, Code, Error},
    app::App,
};

/// What Prometheus calls the text that it reads.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// `GET /healthz`: the process lives.
pub(crate) async fn healthz() -> Response {
    ok()
}

/// `GET /readyz`: everything is recovered and writes would be taken.
pub(crate) async fn readyz(State(app): State<App>) -> Result<Response, Error> {
    if app.handle.ready() {
        Ok(ok())
    } else {
        Err(Error::new(Code::Unavailable))
    }
}

/// `GET /metrics` where strangers could ask too.
pub(crate) async fn metrics(_: Administrator, app: State<App>) -> Result<Response, Error> {
    open_metrics(app).await
}

/// `GET /metrics` where only the operator can ask.
pub(crate) async fn open_metrics(State(app): State<App>) -> Result<Response, Error> {
    let figures = app.metrics.render(&app.handle, &app.payments);
    let figures = figures.map_err(|_| Error::new(Code::InternalError))?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], figures).into_response())
}

fn ok() -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::OK, json, r#"{"status":"ok"}"#).into_response()
}
