//! Which credits go first: the soonest to expire, then the oldest.

use super::{
    GOLD, credit, deduct,
    driver::{Done, Driver},
    free_grant, hold, hold_id,
};
use crate::{Timestamp, history::Reason, time::Period, wallet::NextExpiry};

const HOUR: i64 = 3600;

/// 10 credits that never expire, 10 that do in two hours, 10 in one: in this order of age.
fn three_lots() -> (Driver, Timestamp, Timestamp) {
    let mut driver = Driver::new();
    let (soon, later) = (driver.after_seconds(HOUR), driver.after_seconds(2 * HOUR));
    driver.credit(credit("never", 10, None)).unwrap();
    driver.credit(credit("later", 10, Some(later))).unwrap();
    driver.credit(credit("soon", 10, Some(soon))).unwrap();
    (driver, soon, later)
}

/// The lots left: end, free credits, held credits.
fn lots(driver: &Driver) -> Vec<(Timestamp, i64, i64)> {
    let lots = driver.wallet.account(GOLD).unwrap().lots();
    lots.iter()
        .map(|lot| (lot.expires_at, lot.free(), lot.held))
        .collect()
}

fn next_expiry(driver: &Driver) -> Option<NextExpiry> {
    driver.wallet.account(GOLD).unwrap().next_expiry()
}

#[test]
fn what_expires_soonest_is_spent_first_and_what_never_does_last() {
    let (mut driver, soon, later) = three_lots();
    assert_eq!(
        next_expiry(&driver),
        Some(NextExpiry {
            amount: 10,
            at: soon
        })
    );
    driver.deduct(deduct("a", 4)).unwrap();
    assert_eq!(
        lots(&driver),
        [(soon, 6, 0), (later, 10, 0), (Timestamp::NEVER, 10, 0)]
    );
    driver.deduct(deduct("b", 12)).unwrap();
    assert_eq!(lots(&driver), [(later, 4, 0), (Timestamp::NEVER, 10, 0)]);
    assert_eq!(
        next_expiry(&driver),
        Some(NextExpiry {
            amount: 4,
            at: later
        })
    );
    driver.deduct(deduct("c", 13)).unwrap();
    assert_eq!(lots(&driver), [(Timestamp::NEVER, 1, 0)]);
}

#[test]
fn of_lots_that_expire_together_the_oldest_goes_first() {
    let mut driver = Driver::new();
    let midnight = super::at("2026-03-03T00:00:00Z");
    driver.credit(credit("before", 10, Some(midnight))).unwrap();
    driver.rules = vec![free_grant::daily(10)];
    driver.touch();
    driver.credit(credit("after", 10, Some(midnight))).unwrap();
    let sources = |driver: &Driver| -> Vec<(Reason, i64)> {
        let lots = driver.wallet.account(GOLD).unwrap().lots();
        lots.iter().map(|lot| (lot.source, lot.left)).collect()
    };
    driver.deduct(deduct("a", 15)).unwrap();
    assert_eq!(
        sources(&driver),
        [(Reason::Manual, 5), (Reason::FreeGrant, 10)],
        "credits granted later share the older lot of their kind"
    );
    assert_eq!(
        next_expiry(&driver),
        Some(NextExpiry {
            amount: 15,
            at: midnight
        })
    );
    driver.deduct(deduct("b", 6)).unwrap();
    assert_eq!(sources(&driver), [(Reason::FreeGrant, 9)]);
    assert_eq!(driver.rules[0].period, Period::Daily);
}

#[test]
fn a_hold_pins_what_would_be_spent_first() {
    let (mut driver, soon, later) = three_lots();
    driver.place(hold(1, 15, later)).unwrap();
    assert_eq!(
        lots(&driver),
        [(soon, 0, 10), (later, 5, 5), (Timestamp::NEVER, 10, 0)]
    );
    assert_eq!(
        next_expiry(&driver),
        Some(NextExpiry {
            amount: 5,
            at: later
        }),
        "held: cannot"
    );
    driver.deduct(deduct("d", 6)).unwrap();
    assert_eq!(
        lots(&driver),
        [(soon, 0, 10), (later, 0, 5), (Timestamp::NEVER, 9, 0)]
    );
}

#[test]
fn settling_for_less_spends_the_soonest_and_returns_the_rest_where_it_was() {
    let (mut driver, soon, later) = three_lots();
    driver.place(hold(1, 25, later)).unwrap();
    assert_eq!(driver.settle(hold_id(1), 7), Ok(Done::Applied));
    assert_eq!(
        lots(&driver),
        [(soon, 3, 0), (later, 10, 0), (Timestamp::NEVER, 10, 0)]
    );
}

#[test]
fn settling_for_more_spends_the_held_ones_then_the_soonest_of_the_others() {
    let (mut driver, soon, later) = three_lots();
    driver.place(hold(1, 12, later)).unwrap();
    driver.credit(credit("new", 5, Some(soon))).unwrap();
    assert_eq!(driver.settle(hold_id(1), 20), Ok(Done::Applied));
    // 10 + 2 were held; 5 new ones and 3 of the next went with them.
    assert_eq!(lots(&driver), [(later, 5, 0), (Timestamp::NEVER, 10, 0)]);
    assert_eq!(driver.ledger(GOLD).last(), Some(&(Reason::Deduction, -20)));
}

#[test]
fn two_holds_never_pin_the_same_credits() {
    let (mut driver, soon, later) = three_lots();
    driver.place(hold(1, 6, later)).unwrap();
    driver.place(hold(2, 6, later)).unwrap();
    assert_eq!(
        lots(&driver),
        [(soon, 0, 10), (later, 8, 2), (Timestamp::NEVER, 10, 0)]
    );
    driver.settle(hold_id(1), 6).unwrap();
    assert_eq!(
        lots(&driver),
        [(soon, 0, 4), (later, 8, 2), (Timestamp::NEVER, 10, 0)]
    );
    driver.release(hold_id(2)).unwrap();
    assert_eq!(
        lots(&driver),
        [(soon, 4, 0), (later, 10, 0), (Timestamp::NEVER, 10, 0)]
    );
}

#[test]
fn credits_that_come_back_are_spent_before_younger_ones_of_the_same_end() {
    let mut driver = Driver::new();
    driver.rules = vec![free_grant::daily(5)];
    let midnight = super::at("2026-03-03T00:00:00Z");
    driver.credit(credit("bought", 5, Some(midnight))).unwrap();
    driver.place(hold(1, 5, driver.after_seconds(60))).unwrap();
    driver.release(hold_id(1)).unwrap();
    driver.deduct(deduct("d", 5)).unwrap();
    let lots = driver.wallet.account(GOLD).unwrap().lots();
    assert_eq!(
        (lots.len(), lots[0].source),
        (1, Reason::Manual),
        "the free ones came first"
    );
}
