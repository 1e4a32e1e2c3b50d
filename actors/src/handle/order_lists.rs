//! Lists of orders, and their totals.

use std::collections::HashMap;

use domain::{
    Timestamp,
    id::{OrderId, OrderSerial, ProductId, WalletKey},
    time::Span,
};
use futures_util::{StreamExt as _, stream};
use persistence::{BestSellers, Books, OrderFilter, OrderPosition, OrderState, OrderTotals};

use super::{
    Address, Handle, Scope, orders::looked_up, search::if_found, wallet_list::CONCURRENCY,
};
use crate::answer::{Error, OrderAnswer, OrderPage};

impl Handle {
    /// A page of a project's orders before a position that match a filter, newest first. Only the last page is not
    /// full.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn orders(
        &self,
        scope: &Scope,
        filter: OrderFilter,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<OrderPage, Error> {
        let project = scope.project;
        let rows = move |books: &dyn Books| {
            books.filtered_orders(project, &filter, before, limit.saturating_add(1))
        };
        let rows = self.read_books(rows).await?;
        let places = rows.iter().map(|row| row.position).collect();
        self.page_of(scope, places, limit).await
    }

    /// The same, with the totals of all matching orders, of a project with these products.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn orders_and_totals(
        &self,
        scope: &Scope,
        products: Vec<ProductId>,
        filter: OrderFilter,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<(OrderPage, OrderTotals), Error> {
        let project = scope.project;
        let read = move |books: &dyn Books| {
            let most = limit.saturating_add(1);
            books.orders_and_totals(project, &products, &filter, before, most)
        };
        let (rows, totals) = self.read_books(read).await?;
        let places = rows.iter().map(|row| row.position).collect();
        Ok((self.page_of(scope, places, limit).await?, totals))
    }

    /// The totals of the orders in each of these states, of a project with these products.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub async fn order_totals_by_state<const N: usize>(
        &self,
        scope: &Scope,
        products: Vec<ProductId>,
        states: [OrderState; N],
    ) -> Result<[OrderTotals; N], Error> {
        let project = scope.project;
        self.read_books(move |books| books.order_totals_by_state(project, &products, states))
            .await
    }

    /// The best-selling prices and the best-paying wallets within a range of time, at most `most` of each, of a project
    /// with these products.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub async fn best_sellers(
        &self,
        scope: &Scope,
        products: Vec<ProductId>,
        within: Span,
        most: usize,
    ) -> Result<BestSellers, Error> {
        let project = scope.project;
        self.read_books(move |books| books.best_sellers(project, &products, within, most))
            .await
    }

    /// A page of a wallet's orders before a position, newest first.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn wallet_orders(
        &self,
        scope: &Scope,
        address: &Address,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<OrderPage, Error> {
        let wallet = self.read(scope, address).await?.key;
        let most = limit.saturating_add(1);
        let places = looked_up(self.books().wallet_orders(wallet, before, most))?;
        self.page_of(scope, places, limit).await
    }

    /// The page of these positions, one more than `limit` of which were requested.
    async fn page_of(
        &self,
        scope: &Scope,
        mut places: Vec<OrderPosition>,
        limit: usize,
    ) -> Result<OrderPage, Error> {
        let more = places.len() > limit;
        places.truncate(limit);
        let next = places.last().filter(|_| more).map(OrderPosition::place);
        let orders = places.iter().map(|place| place.order).collect();
        let orders = self.orders_at(scope, orders).await?;
        Ok(OrderPage { orders, next })
    }

    /// These orders in this order, each once, without those whose append failed after it was looked up. Each wallet is
    /// read once and not woken: an order shows its wallet's code and balance, which change without the order.
    /// # Errors
    /// [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn orders_at(
        &self,
        scope: &Scope,
        orders: Vec<OrderId>,
    ) -> Result<Vec<OrderAnswer>, Error> {
        let mut of_wallets: HashMap<WalletKey, Vec<OrderId>> = HashMap::new();
        for &order in &orders {
            of_wallets.entry(order.wallet).or_default().push(order);
        }
        let reads = of_wallets.into_iter();
        let reads = reads.map(|(wallet, orders)| self.orders_of::<true>(scope, wallet, orders));
        let mut reads = stream::iter(reads).buffer_unordered(CONCURRENCY);
        let mut found = HashMap::new();
        while let Some(read) = reads.next().await {
            let of_wallet = if_found(read)?.unwrap_or_default();
            found.extend(of_wallet.into_iter().map(|order| (order.id, order)));
        }
        let listed = orders.iter().filter_map(|order| found.remove(order));
        Ok(listed.collect())
    }

    /// The ids and positions of a project's orders before a position, newest first.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub fn order_positions(
        &self,
        scope: &Scope,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        looked_up(self.books().orders(scope.project, before, limit))
    }
}
