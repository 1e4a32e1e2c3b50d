//! A project's orders, as its secret key reads them: list, show.

use axum::{extract::State, http::HeaderMap, response::Response};
use domain::catalog::KeyKind;
use edge::{Authorized, Support, csv};
use serde::Deserialize;
use wire::{
    Error,
    field::{ListFormat, ListFormatText, SwitchText, Text},
    respond,
    view::{self, ListedOrders},
};

use super::path::Segments;
use crate::{
    admin::App,
    http::{
        orders::{FilterQuery, PageQuery},
        query::{Both, Params},
    },
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
    _: Authorized<Support>,
    State(app): State<App>,
    path: Segments,
    headers: HeaderMap,
    Params(Both(only, Both(part, options))): Params<
        Both<FilterQuery, Both<PageQuery, ListOptions>>,
    >,
) -> Result<Response, Error> {
    let ListOptions { totals, format } = options;
    let project = app.catalog.project(path.project()?)?;
    let filter = only.filter(&project)?;
    if format.map_or_else(
        || csv::is_wanted(&headers),
        |Text(it)| it == ListFormat::Csv,
    ) {
        return Ok(csv::orders(app.handle.clone(), project, filter));
    }
    let (page, totals) = match totals {
        Some(Text(true)) => {
            let found = part.page_and_totals(filter, &app.handle, &project).await?;
            (found.0, Some(found.1))
        }
        Some(Text(false)) | None => (part.page(filter, &app.handle, &project).await?, None),
    };
    respond::json(&ListedOrders::new(page, totals.as_ref()))
}

pub(super) async fn show(
    _: Authorized<Support>,
    State(app): State<App>,
    path: Segments,
) -> Result<Response, Error> {
    let project = app.catalog.project(path.project()?)?;
    let order = path.order().find(&app.handle, &project.scope).await;
    let order = order.map_err(|error| Error::from_wallet(error, &project))?;
    respond::json(&view::order(&order, KeyKind::Secret))
}
