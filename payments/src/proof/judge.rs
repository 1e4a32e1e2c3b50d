//! Decides whether an item of the provider's lists matches what is known here. A pure function.

use domain::id::OrderId;
use port::{Movement, ProviderListItem};

use super::result::{ChargeOwner, Difference, DifferenceKind};

/// What is known here of an item's charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attribution {
    /// It paid this order.
    Order(OrderAmounts),
    /// It is on the list of unfulfilled payments.
    Unfulfilled,
    /// It should be an order's, but no order has it.
    Ours(Option<OrderId>),
    /// Nothing is known of it: it is another product's.
    Nothing,
}

/// What an order says of its money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrderAmounts {
    pub(super) order: OrderId,
    pub(super) paid: bool,
    /// Whether the item's payment is the order's only one: an invoice may be paid by several.
    pub(super) whole: bool,
    pub(super) amount_cents: i64,
    pub(super) currency: Box<str>,
    pub(super) refunded_cents: i64,
    pub(super) disputed_cents: i64,
}

/// What an item belongs to, or how it differs.
pub(super) fn judge(
    entry: &ProviderListItem,
    attribution: &Attribution,
) -> Result<ChargeOwner, Difference> {
    let charge = &entry.charge;
    match attribution {
        Attribution::Nothing => Ok(ChargeOwner::Other),
        Attribution::Unfulfilled => Ok(ChargeOwner::Unfulfilled),
        // All of it was refunded: nobody is owed anything for it.
        Attribution::Ours(_) if charge.refunded_cents >= charge.amount_cents => {
            Ok(ChargeOwner::Unfulfilled)
        }
        Attribution::Ours(order) => {
            let order = order.map(|order| order.to_string());
            Err(Difference {
                order,
                ..difference(entry, DifferenceKind::Unplaced, charge.amount_cents, None)
            })
        }
        Attribution::Order(facts) => match misfit(entry, facts) {
            None => Ok(ChargeOwner::Order),
            Some((kind, provider, order)) => Err(Difference {
                order: Some(facts.order.to_string()),
                ..difference(entry, kind, provider, order)
            }),
        },
    }
}

/// How an item differs from its order, with the provider's amount and the order's.
fn misfit(
    entry: &ProviderListItem,
    facts: &OrderAmounts,
) -> Option<(DifferenceKind, i64, Option<i64>)> {
    use DifferenceKind::{Amount, Currency, Dispute, Refund, Unpaid};
    let charge = &entry.charge;
    let (took, back) = (charge.amount_cents, charge.refunded_cents);
    if !facts.paid {
        return Some((Unpaid, took, None));
    }
    if facts.currency != charge.currency {
        return Some((Currency, took, Some(facts.amount_cents)));
    }
    // Each of several payments of one order is at most the whole.
    let fits = |part: i64, all: i64| {
        if facts.whole {
            part == all
        } else {
            part <= all
        }
    };
    if !fits(took, facts.amount_cents) {
        return Some((Amount, took, Some(facts.amount_cents)));
    }
    if !fits(back, facts.refunded_cents) {
        return Some((Refund, back, Some(facts.refunded_cents)));
    }
    match &entry.movement {
        Movement::Taken | Movement::Refunded { .. } => None,
        Movement::Disputed {
            withheld_cents,
            currency,
        } => {
            // Amounts in different currencies compare only as zero or not.
            let least = match *currency == facts.currency {
                true => *withheld_cents,
                false => (*withheld_cents).min(1),
            };
            let fits = facts.disputed_cents >= least.min(facts.amount_cents);
            (!fits).then_some((Dispute, *withheld_cents, Some(facts.disputed_cents)))
        }
    }
}

fn difference(
    entry: &ProviderListItem,
    kind: DifferenceKind,
    provider_cents: i64,
    order_cents: Option<i64>,
) -> Difference {
    let currency = match (&entry.movement, kind) {
        (Movement::Disputed { currency, .. }, DifferenceKind::Dispute) => currency,
        _ => &entry.charge.currency,
    };
    Difference {
        kind,
        id: entry.id.clone(),
        payment: entry.charge.payment.clone(),
        order: None,
        provider_cents,
        order_cents,
        currency: currency.clone(),
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        id::{OrderSerial, WalletKey},
        text::PaymentId,
    };
    use port::ProviderCharge;

    use super::*;

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

    fn kind(entry: &ProviderListItem, facts: OrderAmounts) -> Result<ChargeOwner, DifferenceKind> {
        judge(entry, &Attribution::Order(facts)).map_err(|it| it.kind)
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
        assert_eq!(with(|_| ()), Ok(ChargeOwner::Order));
        assert_eq!(with(|it| it.paid = false), Err(Unpaid));
        assert_eq!(with(|it| it.amount_cents = 499), Err(Amount));
        assert_eq!(with(|it| it.amount_cents = 900), Err(Amount));
        assert_eq!(with(|it| it.currency = "USD".into()), Err(Currency));
        assert_eq!(with(|it| it.refunded_cents = 1), Err(Refund));
        // One of two payments of an invoice.
        let part = |cents| OrderAmounts {
            whole: false,
            ..facts(cents, 0, 0)
        };
        assert_eq!(kind(&taken, part(900)), Ok(ChargeOwner::Order));
        assert_eq!(kind(&taken, part(499)), Err(Amount));
    }

    #[test]
    fn what_went_back_is_what_the_order_says() {
        let back = |cents| entry(500, cents, Movement::Refunded { cents });
        assert_eq!(kind(&back(200), facts(500, 200, 0)), Ok(ChargeOwner::Order));
        let differs = judge(&back(200), &Attribution::Order(facts(500, 0, 0))).unwrap_err();
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
            Err(DifferenceKind::Refund)
        );
    }

    #[test]
    fn what_a_bank_withholds_is_in_the_order_and_never_compared_across_currencies() {
        use DifferenceKind::Dispute;
        assert_eq!(
            kind(&disputed(500, "EUR"), facts(500, 0, 500)),
            Ok(ChargeOwner::Order)
        );
        assert_eq!(
            kind(&disputed(500, "EUR"), facts(500, 0, 400)),
            Err(Dispute)
        );
        // Several disputes add up, at most to the whole.
        assert_eq!(
            kind(&disputed(510, "EUR"), facts(500, 0, 500)),
            Ok(ChargeOwner::Order)
        );
        assert_eq!(
            kind(&disputed(540, "USD"), facts(500, 0, 500)),
            Ok(ChargeOwner::Order)
        );
        assert_eq!(kind(&disputed(540, "USD"), facts(500, 0, 0)), Err(Dispute));
        // A dispute that was won, or an inquiry.
        assert_eq!(
            kind(&disputed(0, "EUR"), facts(500, 0, 0)),
            Ok(ChargeOwner::Order)
        );
    }

    #[test]
    fn what_is_no_orders_waits_for_a_person_or_is_nobodys_here() {
        let taken = entry(500, 0, Movement::Taken);
        assert_eq!(judge(&taken, &Attribution::Nothing), Ok(ChargeOwner::Other));
        assert_eq!(
            judge(&taken, &Attribution::Unfulfilled),
            Ok(ChargeOwner::Unfulfilled)
        );
        let differs = judge(&taken, &Attribution::Ours(Some(ORDER))).unwrap_err();
        assert_eq!(differs.kind, DifferenceKind::Unplaced);
        assert_eq!(differs.provider_cents, 500);
        let gone = entry(500, 500, Movement::Taken);
        assert_eq!(
            judge(&gone, &Attribution::Ours(None)),
            Ok(ChargeOwner::Unfulfilled)
        );
    }
}
