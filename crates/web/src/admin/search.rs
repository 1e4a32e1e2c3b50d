//! One search for wallets, orders and ledger entries.

use axum::response::Response;
use edge::{Support, permission};
use serde::Deserialize;
use wire::{
    Error, ErrorCode,
    field::{LimitText, NameText, SearchText, line},
    respond,
    view::SearchResult,
};

use super::call::AdminCall;
use crate::http::query::Params;

/// What a search finds of a kind where no limit is named.
const DEFAULT_LIMIT: usize = 20;

/// What to look for, and where.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct SearchQuery {
    /// The project to search in.
    #[param(inline)]
    project_id: NameText,
    /// A user's id or how it begins, in any case; a recovery code, in any spelling, also one that was replaced; a `wal_…`,
    /// `ref`, order, subscription, checkout or hold; what the provider calls a payment, invoice, subscription or customer; or the e-mail
    /// address of an order. With `walletId`: the key of a request.
    #[param(inline)]
    query: SearchText,
    /// Only ledger entries of this wallet, `wal_…` or `ref`, by their `idempotencyKey`.
    #[param(inline)]
    wallet_id: Option<NameText>,
    /// The most wallets, and the most orders. Left out: 20.
    #[param(inline)]
    limit: Option<LimitText>,
}

pub(super) async fn search(
    call: AdminCall<Support>,
    Params(asked): Params<SearchQuery>,
) -> Result<Response, Error> {
    let id = line(asked.project_id).parse();
    let id = id.map_err(|_| Error::new(ErrorCode::ProjectNotFound))?;
    // The path does not name the project.
    permission::allow::<Support>(&call.caller.authority, Some(id))?;
    let project = call.app.catalog.project(id)?;
    let refused = |error| Error::from_wallet(error, &project);
    let within = asked
        .wallet_id
        .map(|name| call.app.handle.named_wallet(&line(name)));
    let within = within.transpose().map_err(refused)?;
    let limit = asked.limit.map_or(DEFAULT_LIMIT, |limit| limit.0.0);
    let query = line(asked.query);
    let handle = &call.app.handle;
    let found = handle.search(&project.scope, within, &query, limit).await;
    respond::json(&SearchResult::of(&found.map_err(refused)?, &project))
}
