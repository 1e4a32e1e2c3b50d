//! Vital signs: whether the process lives, whether it takes work, and its figures.

use std::borrow::Cow;

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::{
    http::{Code, Error, Watcher},
    state::App,
};

/// What Prometheus calls the text that it reads.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// `GET /healthz`: the process lives.
pub(crate) async fn healthz() -> Response {
    ok()
}

/// `GET /readyz`: everything is recovered and writes would be taken. Says so, too, while the service's
/// clock makes up for a step of the machine's.
pub(crate) async fn readyz(State(app): State<App>) -> Result<Response, Error> {
    if app.handle.ready() {
        Ok(json(ready(app.clock.offset_millis())))
    } else {
        Err(Error::new(Code::Unavailable))
    }
}

/// `GET /metrics` where strangers could ask too.
pub(crate) async fn metrics(_: Watcher, app: State<App>) -> Result<Response, Error> {
    open_metrics(app).await
}

/// `GET /metrics` where only the operator can ask.
pub(crate) async fn open_metrics(State(app): State<App>) -> Result<Response, Error> {
    let figures = app
        .metrics
        .render(&app.handle, &app.payments, &app.webhooks, &app.backups);
    let figures = figures.map_err(|_| Error::new(Code::InternalError))?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], figures).into_response())
}

fn ok() -> Response {
    json(r#"{"status":"ok"}"#)
}

/// `offset_millis` is how far the service's clock is ahead of the machine's; 0: it is not.
fn ready(offset_millis: i64) -> Cow<'static, str> {
    match offset_millis {
        0 => r#"{"status":"ok"}"#.into(),
        millis => format!(r#"{{"status":"ok","clockOffsetMillis":{millis}}}"#).into(),
    }
}

fn json(body: impl IntoResponse) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::OK, json, body).into_response()
}

#[cfg(test)]
mod tests {
    use super::ready;

    #[test]
    fn a_clock_that_makes_up_for_a_step_is_shown() {
        assert_eq!(ready(0), r#"{"status":"ok"}"#);
        assert_eq!(
            ready(-3_540_000),
            r#"{"status":"ok","clockOffsetMillis":-3540000}"#
        );
    }
}
