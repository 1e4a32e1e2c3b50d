//! An order's state, as a filter.

use domain::wallet::OrderStatus;
use persistence::OrderState;

use super::text::Text;
use crate::choice;

/// An order's state as callers send it.
pub type OrderStateText = Text<OrderState>;

choice!(OrderState, "OrderState":
    "pending" => OrderState::Is(OrderStatus::Pending),
    "processing" => OrderState::Processing,
    "disputed" => OrderState::Disputed,
    "paid" => OrderState::Is(OrderStatus::Paid),
    "failed" => OrderState::Is(OrderStatus::Failed),
    "refunded" => OrderState::Is(OrderStatus::Refunded),
    "expired" => OrderState::Is(OrderStatus::Expired),
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FromText as _;

    #[test]
    fn a_status_is_read_as_an_order_shows_it() {
        assert_eq!(OrderState::from_text("Paid"), None);
        for text in ["pending", "paid", "failed", "refunded", "expired"] {
            let Some(OrderState::Is(status)) = OrderState::from_text(text) else {
                panic!("{text}");
            };
            assert_eq!(serde_json::to_value(status).unwrap(), text);
        }
    }
}
