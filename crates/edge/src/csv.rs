//! Lists as CSV, all of what is filtered: written page by page as the reader takes it, however long it is.

use std::{io, sync::Arc};

use actors::{Address, Handle, LedgerQuery, OrderFilter, WalletOrder};
use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use catalog::ProjectCatalog;
use futures_util::{StreamExt as _, stream};
use wire::csv;

/// Ledger entries that are read at once.
const ENTRIES_AT_ONCE: usize = 100;
/// Orders that are read at once.
const ORDERS_AT_ONCE: usize = 100;
/// Wallets that are read at once. Those of one day or rank are read for each page of them: the fewer pages the better.
const WALLETS_AT_ONCE: usize = 1000;

/// Whether a request's headers prefer CSV: it is the first form that they name.
pub fn is_wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT);
    let accept = accept.and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| {
        let first = accept.split([',', ';']).next().unwrap_or_default();
        first.trim().eq_ignore_ascii_case("text/csv")
    })
}

/// All orders that a filter lets through, newest first.
#[must_use]
pub fn orders(handle: Handle, project: Arc<ProjectCatalog>, filter: OrderFilter) -> Response {
    let head = csv::row(csv::ORDER_COLUMNS);
    let first = Some((handle, project, filter, None));
    let rows = stream::try_unfold(first, async |state| {
        let Some((handle, project, filter, before)) = state else {
            return Ok(None);
        };
        let page = handle.orders(&project.scope, filter.clone(), before, ORDERS_AT_ONCE);
        let page = page.await.map_err(io::Error::other)?;
        let rows: String = page.orders.iter().map(csv::order).collect();
        let next = page.next.map(|next| (handle, project, filter, Some(next)));
        Ok(Some((rows, next)))
    });
    answer("orders", head, rows)
}

/// All of a wallet's ledger that a query asks for, newest first; its `before` and `limit` do not count.
#[must_use]
pub fn ledger(
    handle: Handle,
    project: Arc<ProjectCatalog>,
    wallet: Address,
    query: LedgerQuery,
) -> Response {
    let head = csv::row(csv::LEDGER_COLUMNS);
    let query = LedgerQuery {
        before: None,
        limit: ENTRIES_AT_ONCE,
        ..query
    };
    let first = Some((handle, project, wallet, query));
    let rows = stream::try_unfold(first, async |state| {
        let Some((handle, project, wallet, mut query)) = state else {
            return Ok(None);
        };
        let page = handle.ledger(&project.scope, &wallet, query.clone()).await;
        let page = page.map_err(io::Error::other)?;
        let rows: String = page.lines.iter().map(csv::ledger).collect();
        query.before = page.next;
        let next = page.next.map(|_| (handle, project, wallet, query));
        Ok(Some((rows, next)))
    });
    answer("ledger", head, rows)
}

/// All wallets of a project.
#[must_use]
pub fn wallets(handle: Handle, project: Arc<ProjectCatalog>, order: WalletOrder) -> Response {
    let products = csv::balance_products(&project);
    let head = csv::wallet_head(&products);
    let first = Some((handle, project, products, None));
    let rows = stream::try_unfold(first, move |state| async move {
        let Some((handle, project, products, after)) = state else {
            return Ok(None);
        };
        let page = handle.wallets(&project.scope, order, after, WALLETS_AT_ONCE);
        let page = page.await.map_err(io::Error::other)?;
        let wallets = page.wallets.iter();
        let rows: String = wallets.map(|it| csv::wallet(it, &products)).collect();
        let next = page
            .next
            .map(|next| (handle, project, products, Some(next)));
        Ok(Some((rows, next)))
    });
    answer("wallets", head, rows)
}

fn answer(
    name: &str,
    head: String,
    rows: impl stream::Stream<Item = Result<String, io::Error>> + Send + 'static,
) -> Response {
    let head = stream::once(std::future::ready(Ok(head)));
    let all = head.chain(rows).map(|rows| rows.map(Bytes::from));
    let mut response = Response::new(Body::from_stream(all));
    let headers = response.headers_mut();
    let text = HeaderValue::from_static("text/csv; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, text);
    let file = format!("attachment; filename=\"{name}.csv\"");
    if let Ok(file) = HeaderValue::from_str(&file) {
        headers.insert(header::CONTENT_DISPOSITION, file);
    }
    response
}
