//! An order's status, as a filter.

use domain::wallet::OrderStatus;

use super::text::Text;
use crate::choice;

/// An order's status as callers send it.
pub type OrderStatusText = Text<OrderStatus>;

choice!(OrderStatus, "OrderStatus":
    "pending" => OrderStatus::Pending,
    "paid" => OrderStatus::Paid,
    "failed" => OrderStatus::Failed,
    "refunded" => OrderStatus::Refunded,
    "expired" => OrderStatus::Expired,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FromText as _;

    #[test]
    fn a_status_is_read_as_an_order_shows_it() {
        assert_eq!(OrderStatus::from_text("Paid"), None);
        for text in ["pending", "paid", "failed", "refunded", "expired"] {
            let status = OrderStatus::from_text(text).expect(text);
            assert_eq!(serde_json::to_value(status).unwrap(), text);
        }
    }
}
