//! Health checks and metrics: whether the process lives, whether it takes work, and its figures.

use std::{collections::BTreeSet, sync::Arc};

use actors::Handle;
use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use edge::{BehindEdge, EdgeState, auth::Watcher};
use operations::backups::Backups;
use outbound::Webhooks;
use payments::Payments;
use serde_json::{Map, Value};
use wire::{Error, ErrorCode};

/// What health checks and metrics are read from.
#[allow(missing_debug_implementations, reason = "a handle has nothing to show")]
pub struct HealthState {
    /// What every request passes by.
    pub edge: Arc<EdgeState>,
    /// The handle to the wallets.
    pub handle: Handle,
    /// The payment provider and what it reports.
    pub payments: Payments,
    /// Webhooks to projects' own servers.
    pub webhooks: Webhooks,
    /// Backups of what is stored.
    pub backups: Arc<Backups>,
    /// Whether the server calls no other service.
    pub offline: bool,
}

type App = Arc<HealthState>;

impl BehindEdge for HealthState {
    fn edge(&self) -> &EdgeState {
        &self.edge
    }
}

/// Health checks, and metrics with a token.
pub fn router() -> Router<Arc<HealthState>> {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
}

/// `/metrics` alone, for a listener of its own: without a token, unless there is one for metrics alone.
pub fn metrics_router(state: &HealthState) -> Router<Arc<HealthState>> {
    let figures = match state.edge.metrics_token_sha256 {
        Some(_) => get(metrics),
        None => get(open_metrics),
    };
    Router::new().route("/metrics", figures)
}

/// The media type of OpenMetrics, which Prometheus reads.
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// `GET /healthz`: the process lives.
async fn healthz() -> Response {
    ok()
}

/// `GET /readyz`: everything is recovered and writes would be taken. Says, too, how far the service's clock is from
/// the machine's while it makes up for a step, and which permissions the providers' keys lack.
async fn readyz(State(app): State<App>) -> Result<Response, Error> {
    if app.handle.ready() {
        let missing = app.payments.missing_permissions();
        let waiting = app.payments.unfulfilled().count(None);
        let mut ready = ready(app.edge.clock.offset_millis(), missing, waiting);
        if app.offline {
            ready.insert("offline".into(), true.into());
        }
        Ok(json(Value::Object(ready).to_string()))
    } else {
        Err(Error::new(ErrorCode::Unavailable))
    }
}

/// `GET /metrics` where strangers could ask too: it needs a token.
async fn metrics(_: Watcher, app: State<App>) -> Result<Response, Error> {
    open_metrics(app).await
}

/// `GET /metrics` where only the operator can ask.
async fn open_metrics(State(app): State<App>) -> Result<Response, Error> {
    let figures = app
        .edge
        .metrics
        .render(&app.handle, &app.payments, &app.webhooks, &app.backups);
    let figures = figures.map_err(|_| Error::new(ErrorCode::InternalError))?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], figures).into_response())
}

fn ok() -> Response {
    json(r#"{"status":"ok"}"#)
}

/// The body of `/readyz`. `offset_millis` is how far the service's clock is ahead of the machine's.
fn ready(
    offset_millis: i64,
    missing_permissions: BTreeSet<String>,
    unfulfilled: usize,
) -> Map<String, Value> {
    let mut ready = Map::new();
    ready.insert("status".into(), "ok".into());
    if offset_millis != 0 {
        ready.insert("clockOffsetMillis".into(), offset_millis.into());
    }
    if !missing_permissions.is_empty() {
        let missing = missing_permissions.into_iter().collect();
        ready.insert("missingPermissions".into(), missing);
    }
    if unfulfilled > 0 {
        ready.insert("unfulfilledPayments".into(), unfulfilled.into());
    }
    ready
}

fn json(body: impl IntoResponse) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::OK, json, body).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_out_of_the_ordinary_is_shown() {
        let shown = |ready| Value::Object(ready);
        assert_eq!(shown(ready(0, BTreeSet::new(), 0)), json!({"status": "ok"}));
        let missing = BTreeSet::from(["rak_dispute_read".to_owned()]);
        assert_eq!(
            shown(ready(-3_540_000, missing, 2)),
            json!({
                "status": "ok", "clockOffsetMillis": -3_540_000,
                "missingPermissions": ["rak_dispute_read"], "unfulfilledPayments": 2,
            })
        );
    }
}
