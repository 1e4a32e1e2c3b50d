//! Whether a line of the provider's books fits what is known here. Nothing is asked, nothing is changed.

use domain::id::OrderId;
use port::{Entry, Movement};

use super::result::{Difference, DifferenceKind, Owner};

/// What is known here of a line's money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Known {
    /// It paid this order.
    Order(Facts),
    /// It leads to no order, and a person decides or decided.
    Unfulfilled,
    /// It should be an order's.
    Ours(Option<OrderId>),
    /// Nothing: it is another product's.
    Nothing,
}

/// How an order stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) order: OrderId,
    pub(super) paid: bool,
    /// Whether the line's payment is the only one of the order's: a bill may be paid by several.
    pub(super) whole: bool,
    pub(super) amount_cents: i64,
    pub(super) currency: Box<str>,
    pub(super) refunded_cents: i64,
    pub(super) disputed_cents: i64,
}

/// Whose a line is, or what does not fit.
pub(super) fn judge(entry: &Entry, known: &Known) -> Result<Owner, Difference> {
    let charge = &entry.charge;
    match known {
        Known::Nothing => Ok(Owner::Other),
        Known::Unfulfilled => Ok(Owner::Unfulfilled),
        // Nothing of it is there any more that anybody could be owed for.
        Known::Ours(_) if charge.refunded_cents >= charge.amount_cents => Ok(Owner::Unfulfilled),
        Known::Ours(order) => {
            let order = order.map(|order| order.to_string());
            Err(Difference {
                order,
                ..difference(entry, DifferenceKind::Unplaced, charge.amount_cents, None)
            })
        }
        Known::Order(facts) => match misfit(entry, facts) {
            None => Ok(Owner::Order),
            Some((kind, provider, order)) => Err(Difference {
                order: Some(facts.order.to_string()),
                ..difference(entry, kind, provider, order)
            }),
        },
    }
}

/// What does not fit, what the provider says of it, and what the order does.
fn misfit(entry: &Entry, facts: &Facts) -> Option<(DifferenceKind, i64, Option<i64>)> {
    use DifferenceKind::{Amount, Currency, Dispute, Refund, Unpaid};
    let charge = &entry.charge;
    let (took, back) = (charge.amount_cents, charge.refunded_cents);
    if !facts.paid {
        return Some((Unpaid, took, None));
    }
    if facts.currency != charge.currency {
        return Some((Currency, took, Some(facts.amount_cents)));
    }
    // Of several payments of one order each is at most the whole.
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
            // Of another currency only whether there is something can be compared.
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
    entry: &Entry,
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
    use port::Charge;

    use super::*;

    const ORDER: OrderId = OrderId {
        serial: OrderSerial(1),
        wallet: WalletKey([1; 16]),
    };

    fn entry(amount_cents: i64, refunded_cents: i64, movement: Movement) -> Entry {
        Entry {
            id: "ch_1".into(),
            charge: Charge {
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

    fn facts(amount_cents: i64, refunded_cents: i64, disputed_cents: i64) -> Facts {
        Facts {
            order: ORDER,
            paid: true,
            whole: true,
            amount_cents,
            currency: "EUR".into(),
            refunded_cents,
            disputed_cents,
        }
    }

    fn kind(entry: &Entry, facts: Facts) -> Result<Owner, DifferenceKind> {
        judge(entry, &Known::Order(facts)).map_err(|it| it.kind)
    }

    fn disputed(withheld_cents: i64, currency: &str) -> Entry {
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
        let with = |change: fn(&mut Facts)| {
            let mut facts = facts(500, 0, 0);
            change(&mut facts);
            kind(&taken, facts)
        };
        assert_eq!(with(|_| ()), Ok(Owner::Order));
        assert_eq!(with(|it| it.paid = false), Err(Unpaid));
        assert_eq!(with(|it| it.amount_cents = 499), Err(Amount));
        assert_eq!(with(|it| it.amount_cents = 900), Err(Amount));
        assert_eq!(with(|it| it.currency = "USD".into()), Err(Currency));
        assert_eq!(with(|it| it.refunded_cents = 1), Err(Refund));
        // One of two payments of a bill.
        let part = |cents| Facts {
            whole: false,
            ..facts(cents, 0, 0)
        };
        assert_eq!(kind(&taken, part(900)), Ok(Owner::Order));
        assert_eq!(kind(&taken, part(499)), Err(Amount));
    }

    #[test]
    fn what_went_back_is_what_the_order_says() {
        let back = |cents| entry(500, cents, Movement::Refunded { cents });
        assert_eq!(kind(&back(200), facts(500, 200, 0)), Ok(Owner::Order));
        let differs = judge(&back(200), &Known::Order(facts(500, 0, 0))).unwrap_err();
        assert_eq!(differs.kind, DifferenceKind::Refund);
        assert_eq!(
            (differs.provider_cents, differs.order_cents),
            (200, Some(0))
        );
        assert_eq!(differs.order, Some(ORDER.to_string()));
        // It failed, and nobody was told.
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
            Ok(Owner::Order)
        );
        assert_eq!(
            kind(&disputed(500, "EUR"), facts(500, 0, 400)),
            Err(Dispute)
        );
        // Several add up, at most to the whole.
        assert_eq!(
            kind(&disputed(510, "EUR"), facts(500, 0, 500)),
            Ok(Owner::Order)
        );
        assert_eq!(
            kind(&disputed(540, "USD"), facts(500, 0, 500)),
            Ok(Owner::Order)
        );
        assert_eq!(kind(&disputed(540, "USD"), facts(500, 0, 0)), Err(Dispute));
        // Won, or an inquiry.
        assert_eq!(
            kind(&disputed(0, "EUR"), facts(500, 0, 0)),
            Ok(Owner::Order)
        );
    }

    #[test]
    fn what_is_no_orders_waits_for_a_person_or_is_nobodys_here() {
        let taken = entry(500, 0, Movement::Taken);
        assert_eq!(judge(&taken, &Known::Nothing), Ok(Owner::Other));
        assert_eq!(judge(&taken, &Known::Unfulfilled), Ok(Owner::Unfulfilled));
        let differs = judge(&taken, &Known::Ours(Some(ORDER))).unwrap_err();
        assert_eq!(differs.kind, DifferenceKind::Unplaced);
        assert_eq!(differs.provider_cents, 500);
        let gone = entry(500, 500, Movement::Taken);
        assert_eq!(judge(&gone, &Known::Ours(None)), Ok(Owner::Unfulfilled));
    }
}
