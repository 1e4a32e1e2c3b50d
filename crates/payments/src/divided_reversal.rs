//! Divides the refunds and disputes of an invoice among its orders.

use domain::{id::OrderId, wallet::Reversal};
use payments_port::Share;

/// An order's part of an invoice, in the currency's minor unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderShare {
    pub(crate) order: OrderId,
    /// What was paid for it.
    pub(crate) amount_cents: i64,
    /// Refunds that name it.
    pub(crate) refunded_cents: i64,
}

/// Each order's part of an invoice's reversal. A refund that names an order is that order's; other refunds and disputes
/// are divided in proportion to what is left of each.
pub(crate) fn divide(whole: Reversal, orders: &[OrderShare]) -> Vec<(OrderId, Reversal)> {
    let named = orders.iter().map(|order| order.refunded_cents);
    let named = named.fold(0, i64::saturating_add);
    let unnamed = whole.refunded_cents.saturating_sub(named).max(0);
    let left = |order: &OrderShare| {
        order
            .amount_cents
            .saturating_sub(order.refunded_cents)
            .max(0)
    };
    let all = orders.iter().map(left).fold(0, i64::saturating_add);
    // Differences of running sums, so that rounding neither loses nor makes a cent.
    let part = |of: i64, until: i64| {
        let share = Share {
            cents: until,
            of_cents: all,
        };
        share.share(of)
    };
    let mut before = 0_i64;
    let divided = orders.iter().map(|order| {
        let until = before.saturating_add(left(order));
        let share = |cents| part(cents, until).saturating_sub(part(cents, before));
        let reversal = Reversal {
            refunded_cents: order.refunded_cents.saturating_add(share(unnamed)),
            disputed_cents: share(whole.disputed_cents),
            ..whole
        };
        before = until;
        (order.order, reversal)
    });
    divided.collect()
}

#[cfg(test)]
mod tests {
    use domain::id::{OrderSerial, WalletKey};

    use super::*;

    fn divided(refunded: i64, disputed: i64, orders: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let whole = Reversal {
            refunded_cents: refunded,
            disputed_cents: disputed,
            ..Reversal::default()
        };
        let orders = orders
            .iter()
            .enumerate()
            .map(|(serial, &(amount, named))| OrderShare {
                order: OrderId {
                    serial: OrderSerial(serial as u128),
                    wallet: WalletKey([0; 16]),
                },
                amount_cents: amount,
                refunded_cents: named,
            });
        let orders: Vec<OrderShare> = orders.collect();
        let divided = divide(whole, &orders);
        assert!(
            divided
                .iter()
                .map(|(order, _)| order)
                .eq(orders.iter().map(|of| &of.order))
        );
        let both = |(_, part): &(_, Reversal)| (part.refunded_cents, part.disputed_cents);
        divided.iter().map(both).collect()
    }

    #[test]
    fn what_names_no_order_is_divided_in_proportion() {
        assert_eq!(divided(500, 0, &[(900, 0), (600, 0)]), [(300, 0), (200, 0)]);
        assert_eq!(
            divided(0, 1500, &[(900, 0), (600, 0)]),
            [(0, 900), (0, 600)]
        );
        assert_eq!(
            divided(100, 1, &[(1, 0), (1, 0), (1, 0)]),
            [(33, 0), (33, 0), (34, 1)]
        );
    }

    #[test]
    fn a_refund_that_names_an_order_is_its_own() {
        assert_eq!(divided(600, 0, &[(900, 0), (600, 600)]), [(0, 0), (600, 0)]);
        // Another refund was made at the provider, and a dispute is about the rest.
        assert_eq!(
            divided(800, 100, &[(900, 0), (600, 600)]),
            [(200, 100), (600, 0)]
        );
        assert_eq!(
            divided(1500, 0, &[(900, 900), (600, 600)]),
            [(900, 0), (600, 0)]
        );
    }
}
