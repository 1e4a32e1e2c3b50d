//! The service as one router: the API, its administration, its documentation, health checks and
//! metrics, all behind one edge.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State},
    middleware::{self, Next},
    response::Response,
};
use catalog::CatalogStore;
use edge::{audit, gate::GateLayer, layer::EdgeLayer};
use web::{CorsForBrowsers, admin, api, api::FastPath, docs, health, pages};
use wire::fallback::{method_not_allowed, route_not_found};

pub use crate::state::AppState;

/// The whole service: the router, with the fast path for deductions in front of it.
pub fn service(app: &AppState) -> FastPath {
    let api = Arc::new(app.api());
    FastPath::new(Arc::clone(&api), router(app, &api))
}

fn router(app: &AppState, api: &api::App) -> Router {
    let edge = EdgeLayer(Arc::clone(&app.edge));
    let gate = GateLayer(Arc::clone(&app.edge));
    let sandbox = app.sandboxes.server().router();
    let sandbox = sandbox
        .method_not_allowed_fallback(method_not_allowed)
        .layer((
            edge.clone(),
            gate.clone(),
            middleware::from_fn_with_state(Arc::clone(&app.catalog), unread_without_sandbox),
        ));
    // Browsers may read these refusals too, so all paths of the API lie within the CORS layer.
    let v1 = api::router()
        .method_not_allowed_fallback(method_not_allowed)
        .layer((edge.clone(), CorsForBrowsers::new(), gate.clone()))
        .with_state(Arc::clone(api));
    let admin = admin::router()
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app.edge),
            audit::audit_admin_api,
        ))
        .with_state(Arc::new(app.admin()));
    let dashboard = Arc::new(app.dashboard());
    let packages = app.config.packages.as_deref();
    Router::new()
        .merge(packages.map(pages::packages::router).unwrap_or_default())
        .merge(admin)
        .merge(dashboard::router(&dashboard).with_state(dashboard))
        .merge(docs::router())
        .merge(pages::result::router())
        .merge(health::router().with_state(Arc::new(app.health())))
        .merge(api::webhook_router().with_state(Arc::clone(api)))
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer((edge, gate))
        .merge(v1)
        .merge(sandbox)
}

/// Drops the body of a request for a sandbox that the project does not have: it need not be read to
/// be refused.
async fn unread_without_sandbox(
    State(catalog): State<Arc<CatalogStore>>,
    Path(path): Path<HashMap<String, String>>,
    mut request: Request,
    next: Next,
) -> Response {
    let project = path.get("project").and_then(|text| text.parse().ok());
    let catalog = catalog.current();
    let sandbox = project.and_then(|project| catalog.project(&project)?.sandbox());
    drop(catalog);
    if sandbox.is_none() {
        *request.body_mut() = Body::empty();
    }
    next.run(request).await
}

/// `/metrics` alone, for a listener of its own: without a token, unless `metrics.token` is set.
pub fn metrics_router(app: &AppState) -> Router {
    let health = Arc::new(app.health());
    health::metrics_router(&health)
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer((
            EdgeLayer(Arc::clone(&app.edge)),
            GateLayer(Arc::clone(&app.edge)),
        ))
        .with_state(health)
}
