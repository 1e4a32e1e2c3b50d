//! `GET /wallets/{code}/ledger` and `GET /wallets/external/ledger`: a wallet's changes, newest
//! first.

use actors::Address;
use axum::{extract::State, response::Response};

use crate::{
    http::{
        Error,
        auth::{AnyKey, SecretKey},
        code_path::CodePath,
        query::Query,
        respond,
        view::Ledger,
    },
    state::App,
};

/// Bytes of an entry, roughly.
const ENTRY_BYTES: usize = 320;

/// Read a code wallet's ledger
///
/// Newest first. A cursor stays valid while new entries arrive: none is repeated or skipped.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/{code}/ledger",
    tag = "Code wallets",
    params(
        ("code" = String, Path, description = "The recovery code, in any case"),
        ("limit" = Option<u32>, Query, description = "Entries on a page", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "A page's `nextCursor`"),
        ("productId" = Option<String>, Query, description = "Only this product's entries"),
        ("reason" = Option<String>, Query, description = "Only entries with this reason"),
    ),
    responses((status = 200, description = "A page", body = Ledger)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!([
        "invalid_request", "wallet_not_found", "product_not_found", "too_many_invalid_codes"
    ]))),
)]
pub(super) async fn read_ledger(
    State(app): State<App>,
    key: AnyKey,
    code: CodePath,
    query: Query,
) -> Result<Response, Error> {
    let query = query.ledger(&key)?;
    let page = app.handle.ledger(&key.scope, code.address()?, query).await;
    let page = page.map_err(|error| code.refused(error, &key))?;
    respond::json_with_capacity(&Ledger::of(&page, &key), capacity(page.lines.len()))
}

/// Read an external wallet's ledger
///
/// Newest first. Never creates a wallet. A cursor stays valid while new entries arrive: none is
/// repeated or skipped.
#[utoipa::path(
    get,
    path = "/api/v1/wallets/external/ledger",
    tag = "External wallets",
    params(
        ("externalUserId" = String, Query, description = "The caller's own user id"),
        ("limit" = Option<u32>, Query, description = "Entries on a page", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "A page's `nextCursor`"),
        ("productId" = Option<String>, Query, description = "Only this product's entries"),
        ("reason" = Option<String>, Query, description = "Only entries with this reason"),
    ),
    responses((status = 200, description = "A page", body = Ledger)),
    security(("secret" = [])),
    extensions(("x-errors" = json!(["invalid_request", "wallet_not_found", "product_not_found"]))),
)]
pub(super) async fn read_external_ledger(
    State(app): State<App>,
    key: SecretKey,
    query: Query,
) -> Result<Response, Error> {
    let address = Address::External(query.external_user()?);
    let query = query.ledger(&key)?;
    let page = app.handle.ledger(&key.scope, &address, query).await;
    let page = page.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json_with_capacity(&Ledger::of(&page, &key), capacity(page.lines.len()))
}

const fn capacity(entries: usize) -> usize {
    64_usize.saturating_add(entries.saturating_mul(ENTRY_BYTES))
}
