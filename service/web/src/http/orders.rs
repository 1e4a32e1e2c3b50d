//! The query of a request for a project's orders, and the page that answers it.

use std::sync::Arc;

use actors::{Address, Handle};
use axum::response::Response;
use catalog::ProjectCatalog;
use domain::{
    Timestamp, catalog::KeyKind, id::OrderSerial, session::WalletSession, wallet::OrderStatus,
};
use serde::Deserialize;
use wire::{
    Error,
    cursor::{OrderCursor, OrderCursorText},
    field::{LimitText, OrderStatusText, Text},
    respond,
    view::Orders,
};

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

/// Orders of which status to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatusQuery {
    /// Only orders with this status. A page may have fewer than `limit` then, or none, and still a
    /// `nextCursor`.
    #[param(inline)]
    status: Option<OrderStatusText>,
}

impl StatusQuery {
    /// The status, if one was named.
    pub(crate) fn status(self) -> Option<OrderStatus> {
        self.status.map(|Text(status)| status)
    }
}

impl PageQuery {
    /// A page of the orders of a session's wallet, as a publishable key reads them.
    pub(crate) async fn answer_own(
        self,
        session: &Arc<WalletSession>,
        handle: &Handle,
        project: &ProjectCatalog,
    ) -> Result<Response, Error> {
        let (before, limit) = self.place();
        let address = Address::Session(Arc::clone(session));
        let page = handle.wallet_orders(&project.scope, &address, before, limit);
        let page = page
            .await
            .map_err(|error| Error::from_wallet(error, project))?;
        respond::json(&Orders::of(&page, KeyKind::Publishable))
    }

    fn place(self) -> (Option<(Timestamp, OrderSerial)>, usize) {
        let limit = self.limit.map_or_else(Default::default, |limit| limit.0).0;
        let before = self.cursor.map(|Text(OrderCursor(at, order))| (at, order));
        (before, limit)
    }

    /// A page of a project's orders, of one status or of all, as a secret key reads it.
    pub(crate) async fn answer(
        self,
        status: Option<OrderStatus>,
        handle: &Handle,
        project: &ProjectCatalog,
    ) -> Result<Response, Error> {
        let (before, limit) = self.place();
        let page = handle.orders(&project.scope, status, before, limit).await;
        let page = page.map_err(|error| Error::from_wallet(error, project))?;
        respond::json(&Orders::of(&page, KeyKind::Secret))
    }
}
