//! A project's wallets: find, show, open, read the ledger, grant. Once found, a wallet is named by
//! the key that it is stored under: no recovery code has to stand in an address.

use actors::Address;
use axum::{Json, extract::State, response::Response};
use edge::{Authorized, Read, Support, body::Body};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{SearchText, Text, UserText, line},
    view::{Ledger, Wallet, Wallets},
};

use super::path::Segments;
use crate::{
    admin::App,
    http::{
        grant::{Credit, Credited},
        idempotency::KeyHeader,
        ledger::{self, PageQuery},
        query::Params,
    },
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
    _: Authorized<Read>,
    State(app): State<App>,
    path: Segments,
    Params(Search { query }): Params<Search>,
) -> Result<Json<Wallets>, Error> {
    let project = app.catalog.project(path.project()?)?;
    let (scope, text) = (&project.scope, line(query));
    let found = app.handle.search(scope, &text, MOST_FOUND).await;
    let found = found.map_err(|error| Error::from_wallet(error, &project))?;
    let wallets = found.iter().map(|view| Wallet::of(view, &project));
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
    _: Authorized<Support>,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<Json<Wallet>, Error> {
    let Open {
        external_user_id: Text(user),
    } = body.parse()?;
    let project = app.catalog.project(path.project()?)?;
    let view = app.handle.open_external(&project.scope, user).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    Ok(Json(Wallet::of(&view, &project)))
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
    _: Authorized<Read>,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<Wallet>, Error> {
    let project = app.catalog.project(path.project()?)?;
    let address = Address::Stored(path.wallet()?);
    let view = app.handle.read(&project.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    Ok(Json(Wallet::of(&view, &project)))
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
    _: Authorized<Read>,
    State(app): State<App>,
    path: Segments,
    Params(part): Params<PageQuery>,
) -> Result<Response, Error> {
    let project = app.catalog.project(path.project()?)?;
    let address = Address::Stored(path.wallet()?);
    let query = part.query(&project)?;
    let page = app.handle.ledger(&project.scope, &address, query).await;
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
    _: Authorized<Support>,
    State(app): State<App>,
    path: Segments,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let asked = body.parse::<Credit>()?;
    let project = app.catalog.project(path.project()?)?;
    let address = Address::Stored(path.wallet()?);
    let command = asked.command(&header, &project)?;
    let applied = app.handle.credit(&project.scope, &address, command).await;
    let applied = applied.map_err(|error| Error::from_wallet(error, &project))?;
    Credited::answer(&applied)
}
