//! A project's wallets: find, show, open, read the ledger, grant. Once found, a wallet is named by
//! the key that it is stored under: no recovery code has to stand in an address.

use actors::{Address, StoredWallet};
use axum::{Json, extract::State, response::Response};
use domain::{
    Rejection,
    code::RecoveryCode,
    id::WalletKey,
    text::{Email, ExternalUserId},
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::path::Segments;
use crate::{
    catalog::ProjectCatalog,
    http::{
        Administrator, Body, Error,
        field::{SearchText, Text, UserText, line},
        grant::{Credit, Credited},
        idempotency::KeyHeader,
        ledger::{self, PageQuery},
        order_name::OrderName,
        query::Params,
        view::{Ledger, Wallet, Wallets},
    },
    state::App,
};

/// The most wallets that one search finds.
const MOST_FOUND: usize = 20;

/// What to look for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct Search {
    /// The user's id at the project, a recovery code, a `wal_…`, an order or a checkout, a buyer's e-mail
    /// address, or a `ref`. All wallets that match are found.
    #[param(inline)]
    query: SearchText,
}

/// A user's wallet to make.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewWallet)]
struct Open {
    external_user_id: UserText,
}

/// Find wallets by a user's id, a recovery code, a `wal_…`, an order or checkout, or a buyer's e-mail
/// address.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/wallets",
    operation_id = "findWallets",
    tag = "Wallets",
    params(("projectId" = String, Path, description = "The project."), Search),
    responses((status = 200, description = "What was found, at most 20.", body = Wallets)),
    extensions(("x-errors" = json!(["project_not_found"])))
)]
pub(super) async fn find(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
    Params(Search { query }): Params<Search>,
) -> Result<Json<Wallets>, Error> {
    let project = app.catalog.project(path.project()?)?;
    let found = find_wallets(&app, &project, &line(query)).await;
    let found = found.map_err(|error| Error::from_wallet(error, &project))?;
    let wallets = found.iter();
    let wallets = wallets.map(|(stored, view)| Wallet::of(*stored, view, &project));
    Ok(Json(Wallets {
        wallets: wallets.collect(),
    }))
}

/// Get or make the wallet of one of the project's own users.
#[utoipa::path(
    post,
    path = "/projects/{projectId}/wallets",
    operation_id = "openWallet",
    tag = "Wallets",
    params(("projectId" = String, Path, description = "The project.")),
    request_body = Open,
    responses((status = 200, description = "The wallet, made now or before.", body = Wallet)),
    extensions(("x-errors" = json!(["project_not_found"])))
)]
pub(super) async fn open(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<Json<Wallet>, Error> {
    let Open {
        external_user_id: Text(user),
    } = body.parse()?;
    let project = app.catalog.project(path.project()?)?;
    let refused = |error| Error::from_wallet(error, &project);
    let opened = app.handle.open_external(&project.scope, user.clone()).await;
    opened.map_err(refused)?;
    let address = Address::External(user);
    let found = app.handle.find(&project.scope, &address).await;
    let (stored, view) = found.map_err(refused)?;
    Ok(Json(Wallet::of(stored, &view, &project)))
}

/// Show a wallet.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/wallets/{walletRef}",
    operation_id = "getWallet",
    tag = "Wallets",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("walletRef" = String, Path, description = "The wallet's `ref`.")
    ),
    responses((status = 200, description = "The wallet.", body = Wallet)),
    extensions(("x-errors" = json!(["project_not_found", "wallet_not_found"])))
)]
pub(super) async fn show(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<Wallet>, Error> {
    let project = app.catalog.project(path.project()?)?;
    let stored = path.wallet()?;
    let view = app.handle.read_stored(&project.scope, stored).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    Ok(Json(Wallet::of(stored, &view, &project)))
}

/// Read a wallet's ledger, newest first.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/wallets/{walletRef}/ledger",
    operation_id = "readLedger",
    tag = "Wallets",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("walletRef" = String, Path, description = "The wallet's `ref`."),
        PageQuery
    ),
    responses((status = 200, description = "A page.", body = Ledger)),
    extensions(("x-errors" = json!(["project_not_found", "wallet_not_found", "product_not_found"])))
)]
pub(super) async fn read_ledger(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
    Params(part): Params<PageQuery>,
) -> Result<Response, Error> {
    let project = app.catalog.project(path.project()?)?;
    let stored = path.wallet()?;
    let query = part.query(&project)?;
    let page = app
        .handle
        .stored_ledger(&project.scope, stored, query)
        .await;
    let page = page.map_err(|error| Error::from_wallet(error, &project))?;
    ledger::answer(&page, &project)
}

/// Grant credits to an existing wallet. Applied once for each `idempotencyKey`: a repeat answers the
/// current balance, `credited: false` and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/projects/{projectId}/wallets/{walletRef}/credit",
    operation_id = "grantCredits",
    tag = "Wallets",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("walletRef" = String, Path, description = "The wallet's `ref`.")
    ),
    request_body = Credit,
    responses((status = 200, description = "Done, now or before.", body = Credited)),
    extensions(("x-errors" = json!([
        "project_not_found", "wallet_not_found", "product_not_found", "idempotency_key_reused",
        "balance_limit", "too_many_lots"
    ])))
)]
pub(super) async fn credit(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let asked = body.parse::<Credit>()?;
    let project = app.catalog.project(path.project()?)?;
    let stored = path.wallet()?;
    let command = asked.command(&header, &project)?;
    let applied = app
        .handle
        .credit_stored(&project.scope, stored, command)
        .await;
    let applied = applied.map_err(|error| Error::from_wallet(error, &project))?;
    Credited::answer(&applied)
}

/// Every wallet that the text names, whichever way, each once.
async fn find_wallets(
    app: &App,
    project: &ProjectCatalog,
    query: &str,
) -> Result<Vec<StoredWallet>, actors::Error> {
    let (handle, scope) = (&app.handle, &project.scope);
    let mut found: Vec<StoredWallet> = Vec::new();
    let mut add = |wallet: StoredWallet| {
        if found.len() < MOST_FOUND && found.iter().all(|known| known.0 != wallet.0) {
            found.push(wallet);
        }
    };
    if let Ok(user) = ExternalUserId::new(query) {
        let wallet = handle.find(scope, &Address::External(user)).await;
        not_found_is_none(wallet)?.into_iter().for_each(&mut add);
    }
    let query = query.trim();
    if let Some(code) = RecoveryCode::parse(query) {
        let wallet = handle.find(scope, &Address::Code(code)).await;
        not_found_is_none(wallet)?.into_iter().for_each(&mut add);
    }
    let order = not_found_is_none(OrderName::by(query).find(handle, scope).await)?;
    let stored = order.map(|order| order.id.wallet);
    let named = match query.parse() {
        Ok(id) => handle.key_of_wallet_id(id)?,
        Err(_) => None,
    };
    let stored = stored.into_iter().chain(named);
    for stored in query.parse::<WalletKey>().ok().into_iter().chain(stored) {
        let view = not_found_is_none(handle.read_stored(scope, stored).await)?;
        view.into_iter().for_each(|view| add((stored, view)));
    }
    if let Some(email) = Email::new(query).ok().filter(|_| query.contains('@')) {
        let paid = handle.paid_by(scope, &email, MOST_FOUND).await?;
        paid.into_iter().for_each(&mut add);
    }
    Ok(found)
}

fn not_found_is_none<T>(found: Result<T, actors::Error>) -> Result<Option<T>, actors::Error> {
    use actors::Error::Rejected;
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Rejected(Rejection::WalletNotFound | Rejection::OrderNotFound)) => Ok(None),
        Err(error) => Err(error),
    }
}
