//! What an order is named by: its own identifier, or its checkout's.

use actors::{Handle, OrderAnswer, Scope};
use domain::{Rejection, id::OrderId, text::CheckoutId};

/// A text in place of an order's name.
#[derive(Debug)]
pub(crate) enum OrderName {
    /// `ord_…`
    Order(OrderId),
    /// `cs_…`
    Checkout(CheckoutId),
    /// Neither.
    Nothing,
}

impl OrderName {
    /// Reads it.
    pub(crate) fn by(named: &str) -> Self {
        let checkout = || {
            CheckoutId::new(named)
                .ok()
                .filter(|_| named.starts_with("cs_"))
        };
        match (named.parse(), checkout()) {
            (Ok(order), _) => Self::Order(order),
            (Err(_), Some(checkout)) => Self::Checkout(checkout),
            (Err(_), None) => Self::Nothing,
        }
    }

    /// The order of this name.
    pub(crate) async fn find(
        self,
        handle: &Handle,
        scope: &Scope,
    ) -> Result<OrderAnswer, actors::Error> {
        match self {
            Self::Order(order) => handle.order(scope, order).await,
            Self::Checkout(checkout) => handle.order_of_checkout(scope, &checkout).await,
            Self::Nothing => Err(Rejection::OrderNotFound.into()),
        }
    }
}
