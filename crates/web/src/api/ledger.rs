//! `GET /wallets/{code}/ledger` and `GET /wallets/external/ledger`: a wallet's changes, newest
//! first.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use edge::caller::{AnyKeyOr, MayRead, SecretKeyOr};
use wire::{Error, field::CodeText, view::Ledger};

use super::read::UserQuery;
use crate::{
    api::App,
    http::{
        code_path::CodePath,
        ledger::{self, PageQuery},
        query::{Both, Params},
        subject::{NamedWallet, users_wallet},
    },
};

/// Read a code wallet's ledger
///
/// Newest first. A cursor stays valid while new entries arrive: none is repeated or skipped.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/{code}/ledger",
    tag = "Code wallets",
    params(("code" = inline(CodeText), Path), PageQuery),
    responses((status = 200, description = "A page", body = Ledger)),
    security(("publishable" = []), ("secret" = []), ("session" = [])),
    extensions(("x-errors" = json!([
        "wallet_not_found", "product_not_found", "too_many_invalid_codes"
    ])))
)]
pub(super) async fn read_ledger(
    State(app): State<App>,
    key: AnyKeyOr<MayRead>,
    code: CodePath,
    Params(part): Params<PageQuery>,
) -> Result<Response, Error> {
    answer(&app, &key, &code.into(), &part).await
}

/// Read an external wallet's ledger
///
/// Newest first. Never creates a wallet. A cursor stays valid while new entries arrive: none is
/// repeated or skipped.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/external/ledger",
    tag = "External wallets",
    params(UserQuery, PageQuery),
    responses((status = 200, description = "A page", body = Ledger)),
    security(("secret" = []), ("session" = [])),
    extensions(("x-errors" = json!(["wallet_not_found", "product_not_found"])))
)]
pub(super) async fn read_external_ledger(
    State(app): State<App>,
    key: SecretKeyOr<MayRead>,
    Params(Both(part, user)): Params<Both<PageQuery, UserQuery>>,
) -> Result<Response, Error> {
    let UserQuery { external_user_id } = user;
    let address = users_wallet(external_user_id, key.session())?;
    answer(&app, &key, &address.into(), &part).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    wallet: &NamedWallet,
    part: &PageQuery,
) -> Result<Response, Error> {
    let query = part.query(project)?;
    let page = app
        .handle
        .ledger(&project.scope, wallet.address()?, query)
        .await;
    let page = page.map_err(|error| wallet.refused(error, project))?;
    ledger::answer(&page, project)
}
