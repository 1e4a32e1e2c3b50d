//! A project's wallets: list, show, open, read the ledger, grant. Once found, a wallet is named by
//! the key that it is stored under: no recovery code has to stand in an address.

use actors::{Address, WalletListPage, WalletOrder};
use axum::{Json, http::HeaderMap, response::Response};
use catalog::ProjectCatalog;
use edge::{Read, body::Body, csv};
use operator::{GrantCredits, OpenWallet};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    cursor::{WalletCursor, WalletCursorText},
    field::{
        LimitText, ListFormat, ListFormatText, ProductName, SearchText, Text, UserText, WalletSort,
        WalletSortText, line,
    },
    respond,
    view::{Wallet, Wallets},
};

use super::call::AdminCall;
use crate::http::{
    grant::{self, Credit},
    idempotency::KeyHeader,
    ledger::{self, PageQuery},
    query::{Both, Params},
    subject::product,
};

/// The most wallets that a query finds.
const MAX_FOUND: usize = 20;

/// Which wallets to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Only what a search for this finds, at most 20, regardless of the page: see `/search`.
    #[param(inline)]
    query: Option<SearchText>,
    /// `lastUsed`: the last used ones first; `balance`: those with the largest balances. Left out: `lastUsed`.
    #[param(inline)]
    sort: Option<WalletSortText>,
    /// The product whose balances count; may be left out where only one has credits.
    #[param(inline)]
    product_id: Option<ProductName>,
    /// Wallets on a page.
    #[param(inline)]
    limit: Option<LimitText>,
    /// A page's `nextCursor`.
    #[param(inline)]
    cursor: Option<WalletCursorText>,
    /// `csv`: all wallets as CSV, regardless of the page.
    #[param(inline)]
    format: Option<ListFormatText>,
}

impl ListQuery {
    fn order(&self, project: &ProjectCatalog) -> Result<WalletOrder, Error> {
        match self.sort {
            None | Some(Text(WalletSort::LastUsed)) => Ok(WalletOrder::LastUsed),
            Some(Text(WalletSort::Balance)) => {
                let product = match &self.product_id {
                    Some(name) => product(name, project)?,
                    None => project
                        .only_credit_product()
                        .ok_or_else(|| Error::about("productId", ErrorCode::ProductNotFound))?,
                };
                Ok(WalletOrder::Balance(product))
            }
        }
    }
}

/// A user's wallet to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewWallet)]
pub(super) struct Open {
    external_user_id: UserText,
}

pub(super) async fn list(
    call: AdminCall<Read>,
    headers: HeaderMap,
    Params(asked): Params<ListQuery>,
) -> Result<Response, Error> {
    let project = call.project()?;
    let scope = &project.scope;
    let refused = |error| Error::from_wallet(error, &project);
    let order = asked.order(&project)?;
    if let Some(query) = asked.query {
        let query = line(query);
        let found = call.app.handle.search(scope, None, &query, MAX_FOUND).await;
        let page = WalletListPage {
            wallets: found.map_err(refused)?.wallets,
            next: None,
        };
        return respond::json(&Wallets::of(&page, &project));
    }
    if is_csv(asked.format, &headers) {
        return Ok(csv::wallets(call.app.handle.clone(), project, order));
    }
    let after = asked.cursor.map(|Text(WalletCursor(place))| place);
    let limit = asked.limit.map_or_else(Default::default, |limit| limit.0).0;
    let page = call.app.handle.wallets(scope, order, after, limit).await;
    respond::json(&Wallets::of(&page.map_err(refused)?, &project))
}

fn is_csv(format: Option<ListFormatText>, headers: &HeaderMap) -> bool {
    format.map_or_else(|| csv::is_wanted(headers), |Text(it)| it == ListFormat::Csv)
}

pub(super) async fn open(call: AdminCall<OpenWallet>, body: Body) -> Result<Json<Wallet>, Error> {
    let Open {
        external_user_id: Text(user),
    } = body.parse()?;
    let project = call.project()?;
    let view = call.run(project.clone(), OpenWallet(user)).await?;
    Ok(Json(Wallet::of(&view, &project)))
}

pub(super) async fn show(call: AdminCall<Read>) -> Result<Json<Wallet>, Error> {
    let project = call.project()?;
    let address = Address::Stored(call.path.wallet(&call.app, &project)?);
    let view = call.app.handle.read(&project.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    Ok(Json(Wallet::of(&view, &project)))
}

/// How to answer a ledger.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LedgerFormat {
    /// `csv`: all entries that the filters let through as CSV, regardless of the page.
    #[param(inline)]
    format: Option<ListFormatText>,
}

pub(super) async fn read_ledger(
    call: AdminCall<Read>,
    headers: HeaderMap,
    Params(Both(part, LedgerFormat { format })): Params<Both<PageQuery, LedgerFormat>>,
) -> Result<Response, Error> {
    let project = call.project()?;
    let address = Address::Stored(call.path.wallet(&call.app, &project)?);
    let query = part.query(&project)?;
    if is_csv(format, &headers) {
        // A refusal has to come before the first line.
        let view = call.app.handle.read(&project.scope, &address).await;
        view.map_err(|error| Error::from_wallet(error, &project))?;
        return Ok(csv::ledger(
            call.app.handle.clone(),
            project,
            address,
            query,
        ));
    }
    let page = call
        .app
        .handle
        .ledger(&project.scope, &address, query)
        .await;
    let page = page.map_err(|error| Error::from_wallet(error, &project))?;
    ledger::answer(&page, &project)
}

pub(super) async fn credit(
    call: AdminCall<GrantCredits>,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let mut asked = body.parse::<Credit>()?;
    let project = call.project()?;
    let wallet = call.path.wallet(&call.app, &project)?;
    let key = header.or(asked.idempotency_key.take())?;
    let credit = asked.command(key, &project)?;
    let grant = GrantCredits { wallet, credit };
    grant::answer(&call.run(project, grant).await?)
}
