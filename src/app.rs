//! The service as one router: the API, its administration, its documentation and its vital signs,
//! all behind one edge.

mod short_way;

use std::sync::Arc;

use axum::{
    Router,
    routing::{any, get, post},
};
pub use short_way::ShortWay;

pub use crate::state::{App, AppState};
use crate::{
    admin,
    api::{description, router as api, webhooks},
    docs,
    http::{
        cors::CorsForBrowsers,
        edge::EdgeLayer,
        fallback::{method_not_allowed, route_not_found},
        gate::GateLayer,
    },
    pages, vitals,
};

/// Puts everything together.
pub fn service(app: App) -> ShortWay {
    ShortWay::new(Arc::clone(&app), router(app))
}

fn router(app: App) -> Router {
    let (v1, _) = api::routes();
    let document = description::document();
    let edge = EdgeLayer(Arc::clone(&app));
    let sandbox = app.sandboxes.server().router();
    let sandbox = sandbox
        .method_not_allowed_fallback(method_not_allowed)
        .layer((edge.clone(), GateLayer));
    let v1 = v1
        // Browsers may read these refusals too, so they lie within the CORS layer.
        .route("/api/v1", any(route_not_found))
        .route("/api/v1/", any(route_not_found))
        .route("/api/v1/{*rest}", any(route_not_found))
        .method_not_allowed_fallback(method_not_allowed)
        .layer((edge.clone(), CorsForBrowsers::new(), GateLayer));
    Router::new()
        .merge(admin::router())
        .merge(docs::router(&document))
        .merge(pages::result::router())
        .route("/healthz", get(vitals::healthz))
        .route("/readyz", get(vitals::readyz))
        .route("/metrics", get(vitals::metrics))
        .route("/webhooks/stripe/{projectId}", post(webhooks::stripe))
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer((edge, GateLayer))
        .merge(v1)
        .with_state(app)
        .merge(sandbox)
}

/// The figures alone, without a token: for a listener of its own.
pub fn metrics_router(app: App) -> Router {
    Router::new()
        .route("/metrics", get(vitals::open_metrics))
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer((EdgeLayer(Arc::clone(&app)), GateLayer))
        .with_state(app)
}
