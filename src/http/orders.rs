//! Which part of a project's orders a request lists, and how it is answered.

use axum::response::Response;
use serde::Deserialize;

use super::{
    Error,
    cursor::{OrderCursor, OrderCursorText},
    field::{LimitText, Text},
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

impl Part {
    /// A page of a project's orders, as a secret key reads it.
    pub(crate) async fn answer(
        self,
        app: &AppState,
        project: &ProjectCatalog,
    ) -> Result<Response, Error> {
        let limit = self.limit.map_or_else(Default::default, |limit| limit.0).0;
        let before = self.cursor.map(|Text(OrderCursor(at, order))| (at, order));
        let page = app.handle.orders(&project.scope, before, limit).await;
        let page = page.map_err(|error| Error::from_wallet(error, project))?;
        respond::json(&Orders::from(&page))
    }
}
