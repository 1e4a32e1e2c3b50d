//! Which part of a project's orders a request lists, and how it is answered.

use axum::response::Response;
use serde::Deserialize;

use super::{
    Error,
    cursor::{OrderCursor, OrderCursorText},
    field::{LimitText, OrderStatusText, Text},
    respond,
    view::Orders,
};
use crate::{catalog::ProjectCatalog, state::AppState};

/// Which part of the list to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Part {
    /// Orders on a page.
    #[param(inline)]
    limit: Option<LimitText>,
    /// A page's `nextCursor`.
    #[param(inline)]
    cursor: Option<OrderCursorText>,
}

/// The same, of orders that stand in a certain way.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Filtered {
    /// Only orders that stand so. A page may have fewer than `limit` then, or none, and still a `nextCursor`.
    #[param(inline)]
    status: Option<OrderStatusText>,
    /// Orders on a page.
    #[param(inline)]
    limit: Option<LimitText>,
    /// A page's `nextCursor`.
    #[param(inline)]
    cursor: Option<OrderCursorText>,
}

impl From<Part> for Filtered {
    fn from(Part { limit, cursor }: Part) -> Self {
        Self {
            status: None,
            limit,
            cursor,
        }
    }
}

impl Part {
    /// A page of a project's orders, as a secret key reads it.
    pub(crate) async fn answer(
        self,
        app: &AppState,
        project: &ProjectCatalog,
    ) -> Result<Response, Error> {
        Filtered::from(self).answer(app, project).await
    }
}

impl Filtered {
    /// Likewise.
    pub(crate) async fn answer(
        self,
        app: &AppState,
        project: &ProjectCatalog,
    ) -> Result<Response, Error> {
        let limit = self.limit.map_or_else(Default::default, |limit| limit.0).0;
        let before = self.cursor.map(|Text(OrderCursor(at, order))| (at, order));
        let (handle, scope) = (&app.handle, &project.scope);
        let page = match self.status {
            Some(Text(status)) => handle.orders_that(scope, status, before, limit).await,
            None => handle.orders(scope, before, limit).await,
        };
        let page = page.map_err(|error| Error::from_wallet(error, project))?;
        respond::json(&Orders::from(&page))
    }
}
