//! An order as a request names it: by its own identifier, or by its checkout's.

use actors::{Handle, OrderAnswer, Scope};
use domain::{Rejection, id::OrderId, text::CheckoutId};

/// The order that a text names.
#[derive(Debug)]
pub(crate) enum OrderName {
    /// An order's identifier, `ord_…`.
    Order(OrderId),
    /// A checkout session's identifier, `cs_…`.
    Checkout(CheckoutId),
    /// No order can have this name.
    Nothing,
}

impl OrderName {
    /// Reads an identifier of either kind.
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

    /// Looks the order up.
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
