//! What an entry says about lists: where its wallet, and one of the wallet's orders, stood in them before the event and
//! after it.

use domain::{
    Timestamp,
    id::{OrderSerial, PriceId, ProductId, ProjectId},
    wallet::OrderStatus,
};
use serde::{Deserialize, Serialize};

/// What an event moved in lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListChange {
    pub(crate) project: ProjectId,
    /// The order that changed.
    pub(crate) order: Option<OrderChange>,
    /// The day of the wallet's last use, since the epoch: before, and now. A wallet without an owner has none: it is not
    /// listed.
    pub(crate) day: Option<(Option<i32>, Option<i32>)>,
    /// Ranks of balances: before, if there was one, and now.
    pub(crate) ranks: Vec<(ProductId, Option<u8>, u8)>,
}

/// An order before and after an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderChange {
    pub(crate) serial: OrderSerial,
    pub(crate) before: Option<ListedOrder>,
    pub(crate) after: Option<ListedOrder>,
}

/// What a list shows of an order, as far as it can be filtered by that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderSummary {
    /// The status that it has now.
    pub status: OrderStatus,
    /// Whether its money is on its way.
    pub processing: bool,
    /// Whether it is disputed and the bank awaits an answer.
    pub disputed: bool,
    /// The product that it buys.
    pub product: ProductId,
    /// The price that it buys at.
    pub price: PriceId,
    /// The price, and once it is paid what was charged; in the currency's minor unit.
    pub amount_cents: i64,
    /// What is refunded of it; nothing before it is paid.
    pub refunded_cents: i64,
    pub(crate) currency: [u8; 3],
}

/// What decides an order's places in lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListedOrder {
    pub(crate) placed_at: Timestamp,
    pub(super) buyer: Option<[u8; 16]>,
    pub(crate) summary: OrderSummary,
}
