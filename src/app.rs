//! The service as one router: the API, its administration, its documentation, health checks and
//! metrics, all behind one edge.

mod fast_path;

use std::{collections::HashMap, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State},
    middleware::{self, Next},
    response::Response,
    routing::{any, get, post},
};
pub use fast_path::FastPath;

pub use crate::state::{App, AppState};
use crate::{
    admin,
    api::{description, router as api, webhooks},
    audit, dashboard, docs, health,
    http::{
        cors::CorsForBrowsers,
        edge::EdgeLayer,
        fallback::{method_not_allowed, route_not_found},
        gate::GateLayer,
    },
    pages,
};

/// The whole service: the router, with the fast path for deductions in front of it.
pub fn service(app: App) -> FastPath {
    FastPath::new(Arc::clone(&app), router(app))
}

fn router(app: App) -> Router {
    let (v1, _) = api::routes();
    let document = description::document();
    let edge = EdgeLayer(Arc::clone(&app));
    let sandbox = app.sandboxes.server().router();
    let sandbox = sandbox
        .method_not_allowed_fallback(method_not_allowed)
        .layer((
            edge.clone(),
            GateLayer,
            middleware::from_fn_with_state(Arc::clone(&app), unread_without_sandbox),
        ));
    let v1 = v1
        // Browsers may read these refusals too, so they lie within the CORS layer.
        .route("/api/v1", any(route_not_found))
        .route("/api/v1/", any(route_not_found))
        .route("/api/v1/{*rest}", any(route_not_found))
        .method_not_allowed_fallback(method_not_allowed)
        .layer((edge.clone(), CorsForBrowsers::new(), GateLayer));
    Router::new()
        .merge(admin::router().layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            audit::writes,
        )))
        .merge(dashboard::router(&app))
        .merge(docs::router(&document))
        .merge(pages::result::router())
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/webhooks/stripe/{projectId}", post(webhooks::stripe))
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer((edge, GateLayer))
        .merge(v1)
        .with_state(app)
        .merge(sandbox)
}

/// Drops the body of a request for a sandbox that the project does not have: it need not be read to
/// be refused.
async fn unread_without_sandbox(
    State(app): State<App>,
    Path(path): Path<HashMap<String, String>>,
    mut request: Request,
    next: Next,
) -> Response {
    let project = path.get("project").and_then(|text| text.parse().ok());
    let catalog = app.catalog.current();
    let sandbox = project.and_then(|project| catalog.project(&project)?.sandbox());
    drop(catalog);
    if sandbox.is_none() {
        *request.body_mut() = Body::empty();
    }
    next.run(request).await
}

/// `/metrics` alone, for a listener of its own: without a token, unless `metrics.token` is set.
pub fn metrics_router(app: App) -> Router {
    let figures = match app.config.metrics.token {
        Some(_) => get(health::metrics),
        None => get(health::open_metrics),
    };
    Router::new()
        .route("/metrics", figures)
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer((EdgeLayer(Arc::clone(&app)), GateLayer))
        .with_state(app)
}
