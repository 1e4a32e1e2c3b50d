//! Several cells: what a request is about, and what the leader of one asks the leaders of the others.

use std::sync::Arc;

use actors::{Keyring, SESSION_PREFIX};
use api_types::admin::Projects;
use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, Uri},
    response::Response,
    routing::get,
};
use catalog::{Catalog, CatalogStore};
use cluster::{Announcement, CredentialOwner, FindRoutingKey, RoutingKey, cells::named};
use dashboard::{AuditPage, DashboardState, ProjectLine};
use domain::id::ProjectId;
use edge::{
    EdgeState,
    auth::{bearer, caller},
    layer::API_PREFIX,
};
use identity::Authority;
use operator::OperatorState;
use parking_lot::Mutex;
use web::admin::projects;
use wire::{Error, ErrorCode};

use crate::app::AppState;

/// Finds the project that a request is about: named in its path, or by the key or session that it carries. What
/// concerns none is answered by the lowest cell, unless its query names another.
pub(super) fn find_routing_key(keyring: Keyring) -> FindRoutingKey {
    Arc::new(move |uri, headers| Some(routing_key(&keyring, uri, headers)))
}

fn routing_key(keyring: &Keyring, uri: &Uri, headers: &HeaderMap) -> RoutingKey {
    let path = uri.path();
    let mut segments = path.split('/');
    if let Some(project) = segments.find_map(|segment| segment.parse::<ProjectId>().ok()) {
        return RoutingKey::Project(project);
    }
    let of_session = |token| {
        let session = keyring.open_session(token);
        session.map(|(session, _)| RoutingKey::Project(session.project))
    };
    let of_query = || named(uri).map(RoutingKey::Cell);
    let key = match path.starts_with(API_PREFIX) {
        true => bearer(headers).ok().and_then(|token| {
            match token.starts_with(SESSION_PREFIX.as_bytes()) {
                true => of_session(token),
                false => Some(RoutingKey::ApiKey(catalog::sha256(token))),
            }
        }),
        false => of_query(),
    };
    key.unwrap_or(RoutingKey::Lowest)
}

/// Where a project or a key is, as the books of the cell that this process leads have it.
pub(super) fn place(
    catalog: Arc<CatalogStore>,
) -> impl Fn(&RoutingKey) -> Option<i16> + Send + Sync {
    move |key| match key {
        RoutingKey::Project(project) => catalog.current().cell_of_project(project),
        RoutingKey::ApiKey(sha256) => catalog.current().cell_of_key(sha256),
        RoutingKey::Cell(_) | RoutingKey::Lowest => None,
    }
}

/// Whose the key or session in a request's headers is, for the processes that pass requests on to this one.
pub(super) fn whose(
    edge: Arc<EdgeState>,
) -> impl Fn(&HeaderMap) -> Option<CredentialOwner> + Send + Sync {
    move |headers| {
        let caller = caller(headers, &edge)?;
        Some(CredentialOwner {
            project: caller.key().project.project.id,
            is_server: caller.is_server(),
        })
    }
}

/// What leaders of other cells may ask this one.
struct InternalState {
    catalog: Arc<CatalogStore>,
    operator: OperatorState,
    dashboard: DashboardState,
    /// What was announced last, and the catalog that it was of.
    announced: Mutex<Option<(Arc<Catalog>, Arc<Announcement>)>>,
}

/// Answers them. The front lets nobody else in.
pub(super) fn internal(app: &AppState) -> Router {
    let asked = InternalState {
        catalog: Arc::clone(&app.catalog),
        operator: app.operator(),
        dashboard: app.dashboard(),
        announced: Mutex::default(),
    };
    Router::new()
        .route("/cluster/routes", get(routes))
        .route("/cluster/projects", get(all_projects))
        .route("/cluster/lines", get(lines))
        .route("/cluster/audit", get(audit))
        .route("/cluster/session", get(session))
        .route("/cluster/authority", get(authority))
        .with_state(Arc::new(asked))
}

async fn routes(State(asked): State<Arc<InternalState>>, headers: HeaderMap) -> Response {
    let catalog = Arc::clone(&asked.catalog.current());
    let mut announced = asked.announced.lock();
    let announcement = match &*announced {
        Some((of, made)) if Arc::ptr_eq(of, &catalog) => Arc::clone(made),
        _ => {
            let projects = catalog.projects().map(|project| project.project.id);
            let keys = catalog.key_hashes();
            let made = Announcement::new(catalog.cell(), projects.collect(), keys.collect());
            let made = Arc::new(made);
            *announced = Some((catalog, Arc::clone(&made)));
            made
        }
    };
    drop(announced);
    announcement.respond(&headers)
}

async fn all_projects(State(asked): State<Arc<InternalState>>) -> Json<Projects> {
    Json(projects::of_cell(&asked.operator))
}

async fn lines(State(asked): State<Arc<InternalState>>) -> Json<Vec<ProjectLine>> {
    Json(dashboard::project_lines(&asked.dashboard))
}

async fn audit(
    State(asked): State<Arc<InternalState>>,
    uri: Uri,
) -> Result<Json<AuditPage>, Error> {
    let query = uri.query().unwrap_or_default();
    let page = dashboard::newest_changes(&asked.dashboard, query).await?;
    Ok(Json(page.settled()))
}

async fn session(
    State(asked): State<Arc<InternalState>>,
    headers: HeaderMap,
) -> Result<Json<Authority>, Error> {
    let signed_in = dashboard::signed_in(&asked.dashboard, &headers);
    signed_in
        .map(Json)
        .ok_or(Error::new(ErrorCode::MissingApiKey))
}

/// What the user may do now whom the query names; null: nothing any more.
async fn authority(State(asked): State<Arc<InternalState>>, uri: Uri) -> Json<Option<Authority>> {
    let pairs = uri.query().unwrap_or_default().split('&');
    let user = pairs.filter_map(|pair| pair.strip_prefix("user=")).next();
    let user = user.unwrap_or_default();
    Json(dashboard::authority_here(&asked.dashboard, user))
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        id::WalletKey,
        session::{Permissions, SessionOwner, WalletSession},
        text::ExternalUserId,
    };

    use super::*;

    fn key(path: &str, bearer: Option<&str>) -> RoutingKey {
        let mut headers = HeaderMap::new();
        if let Some(bearer) = bearer {
            let value = format!("Bearer {bearer}").parse().unwrap();
            headers.insert("authorization", value);
        }
        routing_key(&Keyring::new(&[7; 32]), &path.parse().unwrap(), &headers)
    }

    #[test]
    fn a_request_is_about_the_project_in_its_path_or_of_its_key_or_session() {
        let project = ProjectId(9);
        for path in [
            "/api/admin/v1/projects/ID/keys",
            "/dashboard/projects/ID",
            "/api/v1/webhooks/stripe/ID",
            "/sandbox/ID/pay?cell=3",
        ] {
            let path = path.replace("ID", &project.to_string());
            assert_eq!(key(&path, Some("pay_sk_x")), RoutingKey::Project(project));
        }
        let deduct = "/api/v1/wallets/external/deduct";
        let hash = catalog::sha256(b"pay_sk_x");
        assert_eq!(key(deduct, Some("pay_sk_x")), RoutingKey::ApiKey(hash));
        let session = Keyring::new(&[7; 32]).seal_session(&WalletSession {
            project,
            wallet: WalletKey([1; 16]),
            epoch: 0,
            can: Permissions::ALL,
            expires_at: Timestamp(0),
            owner: SessionOwner::User(ExternalUserId::new("ann").unwrap()),
        });
        assert_eq!(key(deduct, Some(&session)), RoutingKey::Project(project));
        assert_eq!(key(deduct, Some("pay_ws_forged")), RoutingKey::Lowest);
        assert_eq!(key(deduct, None), RoutingKey::Lowest);
    }

    #[test]
    fn what_concerns_no_project_goes_to_the_lowest_cell_or_the_one_that_is_named() {
        for path in ["/dashboard", "/docs", "/api/admin/v1/projects", "/"] {
            assert_eq!(key(path, Some("admin")), RoutingKey::Lowest);
        }
        let named = key("/dashboard/system?x=1&cell=2", None);
        assert_eq!(named, RoutingKey::Cell(2));
        assert_eq!(key("/dashboard?cell=-1", None), RoutingKey::Lowest);
        assert_eq!(key("/dashboard?cell=x", None), RoutingKey::Lowest);
    }
}
