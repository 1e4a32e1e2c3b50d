//! The service as one router: the API, its administration, its documentation and its vital signs,
//! all behind one edge.

use std::{collections::HashMap, sync::Arc};

use actors::{Handle, clock::Clock};
use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State},
    middleware::{self, Next},
    response::Response,
    routing::{any, get, post},
};

use crate::{
    admin,
    api::{
        CorsForBrowsers, edge::EdgeLayer, gate::GateLayer, router as api, short_way::ShortWay,
        webhooks,
    },
    catalog::CatalogStore,
    config::Config,
    docs,
    limits::Limits,
    metrics::Metrics,
    openapi,
    outbound::mail::Mailer,
    pages,
    payments::Payments,
    providers::{Accounts, Sandboxes},
    vitals,
};

/// What handlers share.
pub type App = Arc<AppState>;

/// Everything that a request may need.
#[allow(
    missing_debug_implementations,
    reason = "a clock and a handle have nothing to show"
)]
pub struct AppState {
    /// The wallets.
    pub handle: Handle,
    /// Projects, keys, products, prices.
    pub catalog: Arc<CatalogStore>,
    /// The payment provider and what it reports.
    pub payments: Payments,
    /// Who the projects' providers are.
    pub accounts: Arc<Accounts>,
    /// The built-in provider.
    pub sandboxes: Sandboxes,
    /// Mails.
    pub mailer: Mailer,
    /// How often who may do what.
    pub limits: Limits,
    /// What the operator set.
    pub config: Arc<Config>,
    /// SHA-256 of the administrator's token.
    pub admin_token_sha256: [u8; 32],
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Figures.
    pub metrics: Metrics,
}

/// Puts everything together.
pub fn service(app: App) -> ShortWay {
    ShortWay::new(Arc::clone(&app), router(app))
}

fn router(app: App) -> Router {
    let (v1, description) = api::routes();
    let document = openapi::document(&description);
    let edge = EdgeLayer(Arc::clone(&app));
    let sandbox = app.sandboxes.server().router();
    let sandbox = sandbox
        .method_not_allowed_fallback(api::method_not_allowed)
        .layer((
            edge.clone(),
            GateLayer,
            middleware::from_fn_with_state(Arc::clone(&app), unread_without_sandbox),
        ));
    let v1 = v1
        // Browsers may read these refusals too, so they lie within the CORS layer.
        .route("/api/v1", any(api::route_not_found))
        .route("/api/v1/", any(api::route_not_found))
        .route("/api/v1/{*rest}", any(api::route_not_found))
        .method_not_allowed_fallback(api::method_not_allowed)
        .layer((edge.clone(), CorsForBrowsers::new(), GateLayer));
    Router::new()
        .merge(admin::router())
        .merge(docs::router(&document))
        .merge(pages::result::router())
        .route("/healthz", get(vitals::healthz))
        .route("/readyz", get(vitals::readyz))
        .route("/metrics", get(vitals::metrics))
        .route("/webhooks/stripe/{projectId}", post(webhooks::stripe))
        .fallback(api::route_not_found)
        .method_not_allowed_fallback(api::method_not_allowed)
        .layer((edge, GateLayer))
        .merge(v1)
        .with_state(app)
        .merge(sandbox)
}

/// Where a project has no sandbox, no body is read to say so.
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

/// The figures alone, for a listener of its own: without a token, unless they have one of their own.
pub fn metrics_router(app: App) -> Router {
    let figures = match app.config.metrics.token {
        Some(_) => get(vitals::metrics),
        None => get(vitals::open_metrics),
    };
    Router::new()
        .route("/metrics", figures)
        .fallback(api::route_not_found)
        .method_not_allowed_fallback(api::method_not_allowed)
        .layer((EdgeLayer(Arc::clone(&app)), GateLayer))
        .with_state(app)
}
