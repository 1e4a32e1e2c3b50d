//! The query of a request for a project's orders, and the page that answers it.

use std::sync::Arc;

use actors::{Address, Handle, OrderFilter, OrderTotals};
use axum::response::Response;
use catalog::ProjectCatalog;
use domain::{Timestamp, id::OrderSerial, session::WalletSession};
use serde::Deserialize;
use wire::{
    Error,
    cursor::{OrderCursor, OrderCursorText},
    field::{
        Cents, CentsText, EmailText, InstantText, LimitText, OrderStateText, ProductName, Text,
    },
    respond,
    view::Orders,
};

use super::subject::product;

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

/// Which orders to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct FilterQuery {
    /// Only orders with this status, or whose money is on its way.
    #[param(inline)]
    status: Option<OrderStateText>,
    /// Only orders of this product.
    #[param(inline)]
    product_id: Option<ProductName>,
    /// Only orders placed at this instant or later.
    #[param(inline)]
    from: Option<InstantText>,
    /// Only orders placed before this instant.
    #[param(inline)]
    to: Option<InstantText>,
    /// Only orders of the buyer with this e-mail address; case is ignored.
    #[param(inline)]
    email: Option<EmailText>,
    /// Only orders of at least this amount, in the minor unit of their currency.
    #[param(inline)]
    min_cents: Option<CentsText>,
    /// Only orders of at most this amount, in the minor unit of their currency.
    #[param(inline)]
    max_cents: Option<CentsText>,
}

impl FilterQuery {
    /// The filter, if the product is one of the project's.
    pub(crate) fn filter(self, project: &ProjectCatalog) -> Result<OrderFilter, Error> {
        let named = self.product_id.as_ref();
        Ok(OrderFilter {
            state: self.status.map(|Text(state)| state),
            product: named.map(|name| product(name, project)).transpose()?,
            email: self.email.map(|Text(email)| email),
            from: self.from.map(|Text(at)| at),
            to: self.to.map(|Text(at)| at),
            min_cents: self.min_cents.map(|Text(Cents(cents))| cents),
            max_cents: self.max_cents.map(|Text(Cents(cents))| cents),
        })
    }
}

impl PageQuery {
    /// A page of the orders of a session's wallet, as a publishable key reads them, without codes.
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
        respond::json(&Orders::of_session(&page))
    }

    fn place(self) -> (Option<(Timestamp, OrderSerial)>, usize) {
        let limit = self.limit.map_or_else(Default::default, |limit| limit.0).0;
        let before = self.cursor.map(|Text(OrderCursor(at, order))| (at, order));
        (before, limit)
    }

    /// A page of a project's orders, as a secret key reads it, with recovery codes or without.
    pub(crate) async fn page(
        self,
        (filter, with_codes): (OrderFilter, bool),
        handle: &Handle,
        project: &ProjectCatalog,
    ) -> Result<Orders, Error> {
        let (before, limit) = self.place();
        let page = handle.orders(&project.scope, filter, before, limit).await;
        let page = page.map_err(|error| Error::from_wallet(error, project))?;
        Ok(Orders::of(&page, with_codes))
    }

    /// The same, with what all orders come to that the filter lets through.
    pub(crate) async fn page_and_totals(
        self,
        filter: OrderFilter,
        handle: &Handle,
        project: &ProjectCatalog,
    ) -> Result<(Orders, OrderTotals), Error> {
        let (before, limit) = self.place();
        let (scope, products) = (&project.scope, project.product_ids());
        let found = handle.orders_and_totals(scope, products, filter, before, limit);
        let found = found.await;
        let (page, totals) = found.map_err(|error| Error::from_wallet(error, project))?;
        Ok((Orders::of(&page, true), totals))
    }
}
