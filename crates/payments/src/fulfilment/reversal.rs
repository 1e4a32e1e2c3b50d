//! Applies refunds and disputes of a payment; those of an invoice are divided among its orders.

use domain::{
    Rejection,
    id::OrderId,
    wallet::{Reversal, purchase::Purchase},
};
use payments_port::{InvoicePart, ObjectRef, PaymentReversal, PaymentTarget, Share};

use super::{
    apply::{ReportApplier, drop_rejected},
    order_of_part,
};
use crate::Error;

impl ReportApplier<'_> {
    pub(super) async fn reversal(&self, report: PaymentReversal) -> Result<(), Error> {
        let PaymentReversal {
            target,
            reversal,
            parts,
            refunds,
        } = report;
        let reversal = Reversal {
            as_of: self.at,
            ..reversal
        };
        let mut known_order = None;
        if let ObjectRef::Payment(payment) = self.subject {
            let (project, list) = (self.project.project.id, &self.of.unfulfilled);
            if list.is_listed(project, payment) {
                return list
                    .refunded(project, payment, reversal.refunded_cents, self.at)
                    .await;
            }
            known_order = self.of.handle.order_of(&self.project.scope, payment)?;
            // A payment may carry the metadata of an order that another payment paid ("duplicate" in Stripe's
            // dashboard): refunding it takes nothing from that order.
            if let (None, PaymentTarget::Order(order)) = (known_order, &target) {
                let answer = self.of.handle.order(&self.project.scope, *order).await;
                if answer.is_ok_and(|answer| {
                    let subscription = answer.order.subscription.as_ref();
                    answer.order.is_paid_by_another(Some(payment), subscription)
                }) {
                    return Ok(());
                }
            }
        }
        let (first_order, invoice) = match target {
            // The look-up wins over metadata, which can be edited.
            PaymentTarget::Order(order) => {
                return self.reverse(known_order.unwrap_or(order), reversal).await;
            }
            PaymentTarget::Invoice(first_order, invoice) => (first_order, invoice),
        };
        let order_of = |part: &InvoicePart| OrderId {
            serial: order_of_part(&self.of.handle, &self.project.scope, &invoice, part),
            ..first_order
        };
        // The look-up knows only one payment of a bill that was paid in parts.
        let known_order = match known_order {
            Some(order) => Some(order),
            None => self.of.handle.order_of(&self.project.scope, &invoice.id)?,
        };
        if parts.is_empty() {
            // An operator may have assigned the whole payment to another order.
            let order = known_order.unwrap_or_else(|| order_of(&InvoicePart::default()));
            return self.reverse(order, reversal).await;
        }
        let refunds = |order| {
            let own = refunds.iter().filter(|(of, _)| *of == order);
            own.fold(0, |sum: i64, (_, cents)| sum.saturating_add(*cents))
        };
        let parts = parts.iter().map(|part| {
            let order = order_of(&part.part);
            OrderShare {
                order,
                amount_cents: part.amount_cents,
                refunded_cents: refunds(order),
            }
        });
        let parts: Vec<OrderShare> = parts.collect();
        if let Some(order) = known_order
            && parts.iter().all(|part| part.order != order)
        {
            return self.reverse(order, reversal).await;
        }
        for (order, share) in divide(reversal, &parts) {
            self.reverse(order, share).await?;
        }
        Ok(())
    }

    async fn reverse(&self, order: OrderId, reversal: Reversal) -> Result<(), Error> {
        let is_nothing = reversal.refunded_cents == 0
            && reversal.disputed_cents == 0
            && reversal.dispute.is_none();
        let report = Purchase::Reverse(order.serial, reversal);
        let scope = &self.project.scope;
        match self.of.handle.report(scope, order.wallet, report).await {
            // Without reversals nothing is lost.
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) if is_nothing => Ok(()),
            // The event of the payment will make the order.
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => Err(Error::TooEarly),
            outcome => drop_rejected(order, outcome),
        }
    }
}

/// An order's part of an invoice, in the currency's minor unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OrderShare {
    order: OrderId,
    /// What was paid for it.
    amount_cents: i64,
    /// Refunds that name it.
    refunded_cents: i64,
}

/// Each order's part of an invoice's reversal. A refund that names an order is that order's; other refunds and disputes
/// are divided in proportion to what is left of each.
fn divide(whole: Reversal, orders: &[OrderShare]) -> Vec<(OrderId, Reversal)> {
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
