//! `GET /wallets/{code}/ledger` and `GET /wallets/external/ledger`: a wallet's changes, newest
//! first.

use actors::LedgerQuery;
use axum::{extract::State, response::Response};
use serde::Deserialize;

use crate::{
    catalog::ProjectCatalog,
    http::{
        AnyKey, Error, SecretKey,
        code_path::CodePath,
        cursor::{LedgerCursor, LedgerCursorText},
        field::{CodeText, LimitText, ProductName, ReasonText, Text},
        query::Params,
        respond,
        subject::{OfUser, Subject, product},
        view::Ledger,
    },
    state::App,
};

/// Bytes of an entry, roughly.
const ENTRY_BYTES: usize = 320;

/// Which part of a ledger to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct Part {
    /// Entries on a page.
    #[param(inline)]
    limit: Option<LimitText>,
    /// A page's `nextCursor`.
    #[param(inline)]
    cursor: Option<LedgerCursorText>,
    /// Only this product's entries.
    #[param(inline)]
    product_id: Option<ProductName>,
    /// Only entries with this reason.
    #[param(inline)]
    reason: Option<ReasonText>,
}

/// The user is in the query, too.
type PartOfUser = OfUser<Part>;

/// Read a code wallet's ledger
///
/// Newest first. A cursor stays valid while new entries arrive: none is repeated or skipped.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/{code}/ledger",
    tag = "Code wallets",
    params(("code" = inline(CodeText), Path), Part),
    responses((status = 200, description = "A page", body = Ledger)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!([
        "wallet_not_found", "product_not_found", "too_many_invalid_codes"
    ]))),
)]
pub(super) async fn read_ledger(
    State(app): State<App>,
    key: AnyKey,
    code: CodePath,
    Params(part): Params<Part>,
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
    params(PartOfUser),
    responses((status = 200, description = "A page", body = Ledger)),
    security(("secret" = [])),
    extensions(("x-errors" = json!(["wallet_not_found", "product_not_found"]))),
)]
pub(super) async fn read_external_ledger(
    State(app): State<App>,
    key: SecretKey,
    Params(OfUser { user, verb: part }): Params<PartOfUser>,
) -> Result<Response, Error> {
    answer(&app, &key, &user.into(), &part).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    wallet: &Subject,
    part: &Part,
) -> Result<Response, Error> {
    let named = part.product_id.as_ref();
    let query = LedgerQuery {
        before: part
            .cursor
            .as_ref()
            .map(|Text(LedgerCursor(before))| *before),
        limit: part
            .limit
            .as_ref()
            .map_or_else(Default::default, |limit| limit.0)
            .0,
        product: named.map(|name| product(name, project)).transpose()?,
        reason: part.reason.as_ref().map(|Text(reason)| *reason),
    };
    let page = app
        .handle
        .ledger(&project.scope, wallet.address()?, query)
        .await;
    let page = page.map_err(|error| wallet.refused(error, project))?;
    let bytes = page.lines.len().saturating_mul(ENTRY_BYTES);
    respond::json_with_capacity(&Ledger::of(&page, project), bytes.saturating_add(64))
}
