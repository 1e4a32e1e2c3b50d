//! A project's orders, as its secret key reads them: list, show.

use axum::{http::HeaderMap, response::Response};
use domain::catalog::KeyKind;
use edge::{Support, csv};
use serde::Deserialize;
use wire::{
    Error,
    field::{ListFormat, ListFormatText, SwitchText, Text},
    respond,
    view::{self, ListedOrders},
};

use super::call::AdminCall;
use crate::http::{
    orders::{FilterQuery, PageQuery},
    query::{Both, Params},
};

/// What else to answer, and how.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListOptions {
    /// Whether to add up all orders that the filters let through.
    #[param(inline)]
    totals: Option<SwitchText>,
    /// `csv`: all orders that the filters let through as CSV, regardless of the page.
    #[param(inline)]
    format: Option<ListFormatText>,
}

pub(super) async fn list(
    call: AdminCall<Support>,
    headers: HeaderMap,
    Params(Both(only, Both(part, options))): Params<
        Both<FilterQuery, Both<PageQuery, ListOptions>>,
    >,
) -> Result<Response, Error> {
    let ListOptions { totals, format } = options;
    let project = call.project()?;
    let filter = only.filter(&project)?;
    if format.map_or_else(
        || csv::is_wanted(&headers),
        |Text(it)| it == ListFormat::Csv,
    ) {
        return Ok(csv::orders(call.app.handle.clone(), project, filter));
    }
    let (page, totals) = match totals {
        Some(Text(true)) => {
            let found = part
                .page_and_totals(filter, &call.app.handle, &project)
                .await?;
            (found.0, Some(found.1))
        }
        Some(Text(false)) | None => (
            part.page((filter, true), &call.app.handle, &project)
                .await?,
            None,
        ),
    };
    respond::json(&ListedOrders::new(page, totals.as_ref()))
}

pub(super) async fn show(call: AdminCall<Support>) -> Result<Response, Error> {
    let project = call.project()?;
    let order = call
        .path
        .order()
        .find(&call.app.handle, &project.scope)
        .await;
    let order = order.map_err(|error| Error::from_wallet(error, &project))?;
    respond::json(&view::order(&order, KeyKind::Secret))
}
