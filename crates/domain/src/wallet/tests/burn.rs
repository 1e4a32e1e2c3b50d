//! Which credits go first: the soonest to expire, then the oldest.

use super::{
    GOLD, credit, deduct, free_grant, hold, hold_id,
    teller::{Done, Teller},
};
use crate::{Timestamp, history::Reason, time::Period, wallet::NextExpiry};

const HOUR: i64 = 3600;

/// 10 credits that never expire, 10 that do in two hours, 10 in one: in this order of age.
fn three_lots() -> (Teller, Timestamp, Timestamp) {
    let mut teller = Teller::new();
    let (soon, later) = (teller.after_seconds(HOUR), teller.after_seconds(2 * HOUR));
    teller.credit(credit("never", 10, None)).unwrap();
    teller.credit(credit("later", 10, Some(later))).unwrap();
    teller.credit(credit("soon", 10, Some(soon))).unwrap();
    (teller, soon, later)
}

/// The lots left: end, free credits, held credits.
fn lots(teller: &Teller) -> Vec<(Timestamp, i64, i64)> {
    let lots = teller.wallet.account(GOLD).unwrap().lots();
    lots.iter()
        .map(|lot| (lot.expires_at, lot.free(), lot.held))
        .collect()
}

fn next_expiry(teller: &Teller) -> Option<NextExpiry> {
    teller.wallet.account(GOLD).unwrap().next_expiry()
}

#[test]
fn what_expires_soonest_is_spent_first_and_what_never_does_last() {
    let (mut teller, soon, later) = three_lots();
    assert_eq!(
        next_expiry(&teller),
        Some(NextExpiry {
            amount: 10,
            at: soon
        })
    );
    teller.deduct(deduct("a", 4)).unwrap();
    assert_eq!(
        lots(&teller),
        [(soon, 6, 0), (later, 10, 0), (Timestamp::NEVER, 10, 0)]
    );
    teller.deduct(deduct("b", 12)).unwrap();
    assert_eq!(lots(&teller), [(later, 4, 0), (Timestamp::NEVER, 10, 0)]);
    assert_eq!(
        next_expiry(&teller),
        Some(NextExpiry {
            amount: 4,
            at: later
        })
    );
    teller.deduct(deduct("c", 13)).unwrap();
    assert_eq!(lots(&teller), [(Timestamp::NEVER, 1, 0)]);
}

#[test]
fn of_lots_that_expire_together_the_oldest_goes_first() {
    let mut teller = Teller::new();
    let midnight = super::at("2026-03-03T00:00:00Z");
    teller.credit(credit("before", 10, Some(midnight))).unwrap();
    teller.rules = vec![free_grant::daily(10)];
    teller.touch();
    teller.credit(credit("after", 10, Some(midnight))).unwrap();
    let sources = |teller: &Teller| -> Vec<(Reason, i64)> {
        let lots = teller.wallet.account(GOLD).unwrap().lots();
        lots.iter().map(|lot| (lot.source, lot.left)).collect()
    };
    teller.deduct(deduct("a", 15)).unwrap();
    assert_eq!(
        sources(&teller),
        [(Reason::Manual, 5), (Reason::FreeGrant, 10)],
        "credits granted later share the older lot of their kind"
    );
    assert_eq!(
        next_expiry(&teller),
        Some(NextExpiry {
            amount: 15,
            at: midnight
        })
    );
    teller.deduct(deduct("b", 6)).unwrap();
    assert_eq!(sources(&teller), [(Reason::FreeGrant, 9)]);
    assert_eq!(teller.rules[0].period, Period::Daily);
}

#[test]
fn a_hold_pins_what_would_be_spent_first() {
    let (mut teller, soon, later) = three_lots();
    teller.place(hold(1, 15, later)).unwrap();
    assert_eq!(
        lots(&teller),
        [(soon, 0, 10), (later, 5, 5), (Timestamp::NEVER, 10, 0)]
    );
    assert_eq!(
        next_expiry(&teller),
        Some(NextExpiry {
            amount: 5,
            at: later
        }),
        "held: cannot"
    );
    teller.deduct(deduct("d", 6)).unwrap();
    assert_eq!(
        lots(&teller),
        [(soon, 0, 10), (later, 0, 5), (Timestamp::NEVER, 9, 0)]
    );
}

#[test]
fn settling_for_less_spends_the_soonest_and_returns_the_rest_where_it_was() {
    let (mut teller, soon, later) = three_lots();
    teller.place(hold(1, 25, later)).unwrap();
    assert_eq!(teller.settle(hold_id(1), 7), Ok(Done::Applied));
    assert_eq!(
        lots(&teller),
        [(soon, 3, 0), (later, 10, 0), (Timestamp::NEVER, 10, 0)]
    );
}

#[test]
fn settling_for_more_spends_the_held_ones_then_the_soonest_of_the_others() {
    let (mut teller, soon, later) = three_lots();
    teller.place(hold(1, 12, later)).unwrap();
    teller.credit(credit("fresh", 5, Some(soon))).unwrap();
    assert_eq!(teller.settle(hold_id(1), 20), Ok(Done::Applied));
    // 10 + 2 were held; 5 fresh ones and 3 of the next went with them.
    assert_eq!(lots(&teller), [(later, 5, 0), (Timestamp::NEVER, 10, 0)]);
    assert_eq!(teller.ledger(GOLD).last(), Some(&(Reason::Deduction, -20)));
}

#[test]
fn two_holds_never_pin_the_same_credits() {
    let (mut teller, soon, later) = three_lots();
    teller.place(hold(1, 6, later)).unwrap();
    teller.place(hold(2, 6, later)).unwrap();
    assert_eq!(
        lots(&teller),
        [(soon, 0, 10), (later, 8, 2), (Timestamp::NEVER, 10, 0)]
    );
    teller.settle(hold_id(1), 6).unwrap();
    assert_eq!(
        lots(&teller),
        [(soon, 0, 4), (later, 8, 2), (Timestamp::NEVER, 10, 0)]
    );
    teller.release(hold_id(2)).unwrap();
    assert_eq!(
        lots(&teller),
        [(soon, 4, 0), (later, 10, 0), (Timestamp::NEVER, 10, 0)]
    );
}

#[test]
fn credits_that_come_back_are_spent_before_younger_ones_of_the_same_end() {
    let mut teller = Teller::new();
    teller.rules = vec![free_grant::daily(5)];
    let midnight = super::at("2026-03-03T00:00:00Z");
    teller.credit(credit("bought", 5, Some(midnight))).unwrap();
    teller.place(hold(1, 5, teller.after_seconds(60))).unwrap();
    teller.release(hold_id(1)).unwrap();
    teller.deduct(deduct("d", 5)).unwrap();
    let lots = teller.wallet.account(GOLD).unwrap().lots();
    assert_eq!(
        (lots.len(), lots[0].source),
        (1, Reason::Manual),
        "the free ones came first"
    );
}
