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

const ENTRIES_AT_ONCE: usize = 100;
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
    let head = csv::head(&csv::ORDERS);
    let first = (handle, project, filter, None);
    let rows = pages(first, async |(handle, project, filter, before)| {
        let page = handle.orders(&project.scope, filter.clone(), before, ORDERS_AT_ONCE);
        let page = page.await?;
        let rows = csv::rows(&csv::ORDERS, page.orders.iter());
        let next = page.next.map(|next| (handle, project, filter, Some(next)));
        Ok((rows, next))
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
    let head = csv::head(&csv::LEDGER);
    let query = LedgerQuery {
        before: None,
        limit: ENTRIES_AT_ONCE,
        ..query
    };
    let first = (handle, project, wallet, query);
    let rows = pages(first, async |(handle, project, wallet, mut query)| {
        let page = handle
            .ledger(&project.scope, &wallet, query.clone())
            .await?;
        let rows = csv::rows(&csv::LEDGER, page.lines.iter());
        query.before = page.next;
        let next = page.next.map(|_| (handle, project, wallet, query));
        Ok((rows, next))
    });
    answer("ledger", head, rows)
}

/// All wallets of a project.
#[must_use]
pub fn wallets(handle: Handle, project: Arc<ProjectCatalog>, order: WalletOrder) -> Response {
    let products = csv::balance_products(&project);
    let head = csv::wallet_head(&products);
    let first = (handle, project, products, order, None);
    let rows = pages(first, async |(handle, project, products, order, after)| {
        let page = handle.wallets(&project.scope, order, after, WALLETS_AT_ONCE);
        let page = page.await?;
        let wallets = page.wallets.iter();
        let rows = wallets.map(|it| csv::wallet(it, &products)).collect();
        let next = page.next;
        let next = next.map(|next| (handle, project, products, order, Some(next)));
        Ok((rows, next))
    });
    answer("wallets", head, rows)
}

/// The rows of all pages. `read` answers those of one, and where the next one begins.
fn pages<S, F>(
    first: S,
    read: impl Fn(S) -> F + Copy,
) -> impl stream::Stream<Item = Result<String, io::Error>>
where
    F: Future<Output = Result<(String, Option<S>), actors::Error>>,
{
    stream::try_unfold(Some(first), move |page| async move {
        match page {
            Some(page) => read(page).await.map(Some).map_err(io::Error::other),
            None => Ok(None),
        }
    })
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
