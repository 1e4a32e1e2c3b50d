//! The query of a request for a project's orders, and the page that answers it.

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
pub(crate) struct PageQuery {
    /// Orders on a page.
    #[param(inline)]
    limit: Option<LimitText>,
    /// A page's `nextCursor`.
    #[param(inline)]
    cursor: Option<OrderCursorText>,
}

/// Which part of the list to read, and orders of which status.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FilteredOrders {
    /// Only orders with this status. A page may have fewer than `limit` then, or none, and still a
    /// `nextCursor`.
    #[param(inline)]
    status: Option<OrderStatusText>,
    /// Orders on a page.
    #[param(inline)]
    limit: Option<LimitText>,
    /// A page's `nextCursor`.
    #[param(inline)]
    cursor: Option<OrderCursorText>,
}

impl From<PageQuery> for FilteredOrders {
    fn from(PageQuery { limit, cursor }: PageQuery) -> Self {
        Self {
            status: None,
            limit,
            cursor,
        }
    }
}

impl PageQuery {
    /// A page of a project's orders, as a secret key reads it.
    pub(crate) async fn answer(
        self,
        app: &AppState,
        project: &ProjectCatalog,
    ) -> Result<Response, Error> {
        FilteredOrders::from(self).answer(app, project).await
    }
}

impl FilteredOrders {
    pub(crate) async fn answer(
        self,
        app: &AppState,
        project: &ProjectCatalog,
    ) -> Result<Response, Error> {
        let limit = self.limit.map_or_else(Default::default, |limit| limit.0).0;
        let before = self.cursor.map(|Text(OrderCursor(at, order))| (at, order));
        let (handle, scope) = (&app.handle, &project.scope);
        let status = self.status.map(|Text(status)| status);
        let page = handle.orders(scope, status, before, limit).await;
        let page = page.map_err(|error| Error::from_wallet(error, project))?;
        respond::json(&Orders::from(&page))
    }
}
