//! The query of a request for a ledger, and the page that answers it.

use actors::{LedgerPage, LedgerQuery};
use axum::response::Response;
use catalog::ProjectCatalog;
use domain::{Timestamp, time::Span};
use serde::Deserialize;
use wire::{
    Error,
    cursor::{LedgerCursor, LedgerCursorText},
    field::{InstantText, LimitText, ProductName, ReasonText, Text},
    respond,
    view::Ledger,
};

use super::subject::product;

/// Bytes of an entry as JSON, roughly.
const ENTRY_BYTES: usize = 320;

/// Which part of a ledger to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
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
    /// Only entries from this instant on.
    #[param(inline)]
    from: Option<InstantText>,
    /// Only entries before this instant.
    #[param(inline)]
    to: Option<InstantText>,
}

impl PageQuery {
    /// The query for the wallet, if the product is one of the project's.
    pub(crate) fn query(&self, project: &ProjectCatalog) -> Result<LedgerQuery, Error> {
        let named = self.product_id.as_ref();
        Ok(LedgerQuery {
            before: self
                .cursor
                .as_ref()
                .map(|Text(LedgerCursor(before))| *before),
            limit: self
                .limit
                .as_ref()
                .map_or_else(Default::default, |limit| limit.0)
                .0,
            product: named.map(|name| product(name, project)).transpose()?,
            reason: self.reason.as_ref().map(|Text(reason)| *reason),
            within: Span {
                start: instant(&self.from).unwrap_or(Span::ALWAYS.start),
                end: instant(&self.to).unwrap_or(Span::ALWAYS.end),
            },
        })
    }
}

fn instant(text: &Option<InstantText>) -> Option<Timestamp> {
    text.as_ref().map(|Text(at)| *at)
}

/// The response with a page.
pub(crate) fn answer(page: &LedgerPage, project: &ProjectCatalog) -> Result<Response, Error> {
    let bytes = page.lines.len().saturating_mul(ENTRY_BYTES);
    respond::json_with_capacity(&Ledger::of(page, project), bytes.saturating_add(64))
}
