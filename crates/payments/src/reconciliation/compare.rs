//! Compares an item of the provider's lists with what is stored here. A pure function.

use domain::id::OrderId;
use payments_port::{Movement, ProviderListItem};

use super::result::{Difference, DifferenceKind};

/// What is stored here about an item's charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attribution {
    /// It paid this order.
    Order(OrderAmounts),
    /// It is on the list of unfulfilled payments.
    Unfulfilled,
    /// It should be an order's, but no order has it.
    Ours(Option<OrderId>),
    /// Nothing: it is another product's.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrderAmounts {
    pub(super) order: OrderId,
    pub(super) paid: bool,
    /// Whether the item's payment is the order's only one.
    pub(super) whole: bool,
    pub(super) amount_cents: i64,
    pub(super) currency: Box<str>,
    pub(super) refunded_cents: i64,
    pub(super) disputed_cents: i64,
}

/// How an item differs from what is stored here; `None` if it matches.
pub(super) fn compare_item(
    entry: &ProviderListItem,
    attribution: &Attribution,
) -> Option<Difference> {
    let charge = &entry.charge;
    let (order, (kind, provider_cents, order_cents)) = match attribution {
        Attribution::Nothing | Attribution::Unfulfilled => return None,
        // It was refunded in full.
        Attribution::Ours(_) if charge.refunded_cents >= charge.amount_cents => return None,
        Attribution::Ours(order) => {
            let unplaced = (DifferenceKind::Unplaced, charge.amount_cents, None);
            (*order, unplaced)
        }
        Attribution::Order(facts) => (Some(facts.order), compare(entry, facts)?),
    };
    let currency = match (&entry.movement, kind) {
        (Movement::Disputed { currency, .. }, DifferenceKind::Dispute) => currency,
        _ => &charge.currency,
    };
    Some(Difference {
        kind,
        id: entry.id.clone(),
        payment: charge.payment.clone(),
        order: order.map(|order| order.to_string()),
        provider_cents,
        order_cents,
        currency: currency.clone(),
    })
}

/// How an item differs from its order, with both amounts: the provider's and the order's.
fn compare(
    entry: &ProviderListItem,
    facts: &OrderAmounts,
) -> Option<(DifferenceKind, i64, Option<i64>)> {
    use DifferenceKind::{Amount, Currency, Dispute, Refund, Unpaid};
    let charge = &entry.charge;
    let (taken, refunded) = (charge.amount_cents, charge.refunded_cents);
    if !facts.paid {
        return Some((Unpaid, taken, None));
    }
    if facts.currency != charge.currency {
        return Some((Currency, taken, Some(facts.amount_cents)));
    }
    // One of several payments is at most the order's amount.
    let fits = |part: i64, all: i64| {
        if facts.whole {
            part == all
        } else {
            part <= all
        }
    };
    if !fits(taken, facts.amount_cents) {
        return Some((Amount, taken, Some(facts.amount_cents)));
    }
    if !fits(refunded, facts.refunded_cents) {
        return Some((Refund, refunded, Some(facts.refunded_cents)));
    }
    match &entry.movement {
        Movement::Taken | Movement::Refunded { .. } => None,
        Movement::Disputed {
            withheld_cents,
            currency,
        } => {
            // Amounts in different currencies are compared only as zero or not.
            let least = match *currency == facts.currency {
                true => *withheld_cents,
                false => (*withheld_cents).min(1),
            };
            let fits = facts.disputed_cents >= least.min(facts.amount_cents);
            (!fits).then_some((Dispute, *withheld_cents, Some(facts.disputed_cents)))
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        id::{OrderSerial, WalletKey},
        text::PaymentId,
    };
    use payments_port::ProviderCharge;

    use super::{super::result::Reconciliation, *};

    const ORDER: OrderId = OrderId {
        serial: OrderSerial(1),
        wallet: WalletKey([1; 16]),
    };

    fn entry(amount_cents: i64, refunded_cents: i64, movement: Movement) -> ProviderListItem {
        ProviderListItem {
            id: "ch_1".into(),
            charge: ProviderCharge {
                payment: PaymentId::new("pi_1").ok(),
                order: None,
                customer: None,
                email: None,
                amount_cents,
                refunded_cents,
                currency: "EUR".into(),
                at: Timestamp(0),
            },
            movement,
        }
    }

    fn facts(amount_cents: i64, refunded_cents: i64, disputed_cents: i64) -> OrderAmounts {
        OrderAmounts {
            order: ORDER,
            paid: true,
            whole: true,
            amount_cents,
            currency: "EUR".into(),
            refunded_cents,
            disputed_cents,
        }
    }

    fn kind(entry: &ProviderListItem, facts: OrderAmounts) -> Option<DifferenceKind> {
        compare_item(entry, &Attribution::Order(facts)).map(|difference| difference.kind)
    }

    fn disputed(withheld_cents: i64, currency: &str) -> ProviderListItem {
        let currency = currency.into();
        entry(
            500,
            0,
            Movement::Disputed {
                withheld_cents,
                currency,
            },
        )
    }

    #[test]
    fn every_cent_is_an_orders_or_does_not_fit() {
        use DifferenceKind::{Amount, Currency, Refund, Unpaid};
        let taken = entry(500, 0, Movement::Taken);
        let with = |change: fn(&mut OrderAmounts)| {
            let mut facts = facts(500, 0, 0);
            change(&mut facts);
            kind(&taken, facts)
        };
        assert_eq!(with(|_| ()), None);
        assert_eq!(with(|facts| facts.paid = false), Some(Unpaid));
        assert_eq!(with(|facts| facts.amount_cents = 499), Some(Amount));
        assert_eq!(with(|facts| facts.amount_cents = 900), Some(Amount));
        assert_eq!(with(|facts| facts.currency = "USD".into()), Some(Currency));
        assert_eq!(with(|facts| facts.refunded_cents = 1), Some(Refund));
        // One of two payments of an invoice.
        let part = |cents| OrderAmounts {
            whole: false,
            ..facts(cents, 0, 0)
        };
        assert_eq!(kind(&taken, part(900)), None);
        assert_eq!(kind(&taken, part(499)), Some(Amount));
    }

    #[test]
    fn what_went_back_is_what_the_order_says() {
        let back = |cents| entry(500, cents, Movement::Refunded { cents });
        assert_eq!(kind(&back(200), facts(500, 200, 0)), None);
        let differs = compare_item(&back(200), &Attribution::Order(facts(500, 0, 0))).unwrap();
        assert_eq!(differs.kind, DifferenceKind::Refund);
        assert_eq!(
            (differs.provider_cents, differs.order_cents),
            (200, Some(0))
        );
        assert_eq!(differs.order, Some(ORDER.to_string()));
        // The refund failed, and its event was lost.
        let failed = entry(500, 0, Movement::Refunded { cents: 200 });
        assert_eq!(
            kind(&failed, facts(500, 200, 0)),
            Some(DifferenceKind::Refund)
        );
    }

    #[test]
    fn what_a_bank_withholds_is_in_the_order_and_never_compared_across_currencies() {
        use DifferenceKind::Dispute;
        assert_eq!(kind(&disputed(500, "EUR"), facts(500, 0, 500)), None);
        assert_eq!(
            kind(&disputed(500, "EUR"), facts(500, 0, 400)),
            Some(Dispute)
        );
        // Several disputes add up, at most to the whole.
        assert_eq!(kind(&disputed(510, "EUR"), facts(500, 0, 500)), None);
        assert_eq!(kind(&disputed(540, "USD"), facts(500, 0, 500)), None);
        assert_eq!(kind(&disputed(540, "USD"), facts(500, 0, 0)), Some(Dispute));
        // A dispute that was won, or an inquiry.
        assert_eq!(kind(&disputed(0, "EUR"), facts(500, 0, 0)), None);
    }

    #[test]
    fn a_charge_is_summed_by_what_it_belongs_to() {
        let charge = entry(500, 0, Movement::Taken).charge;
        let order = Attribution::Order(facts(500, 0, 0));
        let mut result = Reconciliation::default();
        for (attribution, differs) in [
            (&order, false),
            (&Attribution::Unfulfilled, false),
            (&Attribution::Nothing, false),
            (&order, true),
        ] {
            result.add_charge(&charge, attribution, differs);
        }
        let [sum] = result.sums.as_slice() else {
            panic!("one currency has one sum: {:?}", result.sums)
        };
        let parts = [
            sum.orders_cents,
            sum.unfulfilled_cents,
            sum.other_cents,
            sum.differing_cents,
        ];
        assert_eq!(parts, [500; 4]);
    }

    #[test]
    fn a_charge_without_an_order_is_unfulfilled_or_foreign() {
        let taken = entry(500, 0, Movement::Taken);
        assert_eq!(compare_item(&taken, &Attribution::Nothing), None);
        assert_eq!(compare_item(&taken, &Attribution::Unfulfilled), None);
        let differs = compare_item(&taken, &Attribution::Ours(Some(ORDER))).unwrap();
        assert_eq!(differs.kind, DifferenceKind::Unplaced);
        assert_eq!(differs.provider_cents, 500);
        let gone = entry(500, 500, Movement::Taken);
        assert_eq!(compare_item(&gone, &Attribution::Ours(None)), None);
    }
}
