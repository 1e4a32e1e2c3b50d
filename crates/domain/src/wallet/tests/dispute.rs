//! Disputes: they take their share as refunds do, and give it back when they are won.

use super::{
    GOLD, deduct,
    driver::Driver,
    hold, hold_id,
    shop::{DAY, features, pack, tier},
};
use crate::{
    Timestamp,
    history::Reason,
    id::OrderSerial,
    project_event::OrderEvent,
    terms::Terms,
    wallet::{Currency, Dispute, DisputeReason, OrderStatus},
};

/// All of the payment is withheld, or gone.
const ALL: i64 = 1000;
/// Nothing is withheld: the seller has won.
const WON: i64 = 0;

/// 100 credits and a feature for 10.00 as order 1.
fn bought() -> Driver {
    let mut driver = Driver::new();
    driver.buy(
        1,
        Terms {
            features: features(&["pro"]),
            ..pack()
        },
    );
    driver
}

fn status(driver: &Driver) -> OrderStatus {
    driver.placed_order(1).status()
}

#[test]
fn an_open_dispute_takes_what_a_full_refund_takes() {
    let mut driver = bought();
    driver.deduct(deduct("d", 30)).unwrap();
    assert!(driver.dispute(1, ALL));
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
    assert!(driver.wallet.features(driver.now).is_empty());
    assert_eq!(driver.ledger(GOLD).last(), Some(&(Reason::Refund, -70)));
}

#[test]
fn a_dispute_that_is_won_gives_back_what_it_took() {
    let mut driver = bought();
    driver.deduct(deduct("d", 30)).unwrap();
    driver.dispute(1, ALL);
    assert!(driver.dispute(1, WON));
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 70));
    assert_eq!(driver.wallet.features(driver.now), ["pro"]);
    let entry = driver.last_entry();
    assert_eq!((entry.reason, entry.delta), (Reason::Refund, 70));
    assert_eq!(
        (entry.order, entry.expires_at),
        (Some(OrderSerial(1)), None)
    );
    assert_eq!(
        (driver.left_of(1), driver.placed_order(1).reclaimed_credits),
        (70, 0)
    );
    driver.refund(1, 1000);
    assert_eq!(driver.gold(), 0, "they are the order's own again");
}

#[test]
fn what_is_given_back_joins_what_is_still_there() {
    let mut driver = bought();
    driver.place(hold(1, 40, driver.after_seconds(60))).unwrap();
    driver.dispute(1, ALL);
    assert_eq!(driver.left_of(1), 40);
    driver.dispute(1, WON);
    assert_eq!(driver.left_of(1), 100);
    assert_eq!(driver.wallet.account(GOLD).unwrap().lots().len(), 1);
    driver.release(hold_id(1)).unwrap();
    assert_eq!(driver.gold(), 100);
}

#[test]
fn a_dispute_that_is_lost_leaves_things_refunded() {
    let mut driver = bought();
    driver.dispute(1, ALL);
    let ledger = driver.ledger(GOLD);
    driver.pass_seconds(60);
    assert!(driver.dispute(1, ALL), "the time of the report is stored");
    assert_eq!(
        (status(&driver), driver.ledger(GOLD)),
        (OrderStatus::Refunded, ledger)
    );
}

#[test]
fn a_dispute_of_a_part_takes_its_share() {
    let mut driver = bought();
    assert!(driver.dispute(1, 255));
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 75));
    assert_eq!(driver.wallet.features(driver.now), ["pro"]);
    assert!(driver.dispute(1, 600), "a second one");
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 40));
    assert!(driver.dispute(1, 1600), "and at most the whole");
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
    assert!(driver.dispute(1, 345), "one of them is won");
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 66));
}

#[test]
fn an_answer_older_than_the_last_one_changes_nothing() {
    let mut driver = bought();
    let older = [(0, 0), (0, 1000), (400, 0)].map(|(r, d)| driver.reversal(r, d));
    driver.pass_seconds(1);
    driver.reverse(1, 0, 500);
    let before = driver.wallet.clone();
    for old in older {
        assert_eq!(driver.reverse_with(1, old), Ok(false), "{old:?}");
    }
    assert_eq!((driver.wallet.clone(), driver.gold()), (before, 50));
}

#[test]
fn a_dispute_before_its_payment_is_applied_with_it() {
    for (cents, left, then) in [
        (ALL, 0, OrderStatus::Refunded),
        (500, 50, OrderStatus::Paid),
        (WON, 100, OrderStatus::Paid),
    ] {
        for existing in [true, false] {
            let mut driver = Driver::new();
            if existing {
                driver.order(1, pack()).unwrap();
            }
            assert!(driver.dispute(1, cents));
            assert!(!driver.dispute(1, cents));
            if !existing {
                driver.order(1, pack()).unwrap();
            }
            assert_eq!(status(&driver), OrderStatus::Pending);
            driver.pay(1, 1000).unwrap();
            assert_eq!(
                (status(&driver), driver.gold()),
                (then, left),
                "{cents} {existing}"
            );
        }
    }
}

#[test]
fn what_was_refunded_before_stays_refunded_when_the_dispute_is_won() {
    let mut driver = bought();
    driver.refund(1, 300);
    driver.dispute(1, ALL);
    assert_eq!(driver.gold(), 0);
    driver.dispute(1, WON);
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 70));
    driver.refund(1, 1000);
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
}

#[test]
fn refunds_during_a_dispute_take_nothing_more_and_count_when_it_is_won() {
    let mut driver = bought();
    driver.dispute(1, ALL);
    assert!(driver.refund(1, 300));
    assert_eq!(driver.ledger(GOLD).len(), 2, "at most the whole");
    driver.dispute(1, WON);
    assert_eq!(driver.gold(), 70);
    let mut driver = bought();
    driver.dispute(1, ALL);
    driver.refund(1, 1000);
    driver.dispute(1, WON);
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
}

#[test]
fn credits_given_back_keep_their_end() {
    let mut driver = Driver::new();
    driver.buy(
        1,
        Terms {
            expire_after_days: Some(2),
            ..pack()
        },
    );
    let end = driver.after_seconds(2 * DAY);
    driver.dispute(1, ALL);
    driver.pass_seconds(DAY);
    driver.dispute(1, WON);
    assert_eq!(driver.last_entry().expires_at, Some(end));
    assert_eq!((driver.gold(), driver.wallet.due_at()), (100, end));
    driver.pass_seconds(DAY);
    assert_eq!(driver.expiries(), [(end, -100)]);
}

#[test]
fn credits_given_back_past_their_end_expire_at_once() {
    let mut driver = Driver::new();
    driver.buy(
        1,
        Terms {
            expire_after_days: Some(2),
            ..pack()
        },
    );
    driver.dispute(1, ALL);
    driver.pass_seconds(3 * DAY);
    driver.dispute(1, WON);
    assert_eq!(status(&driver), OrderStatus::Paid);
    assert_eq!(
        driver.ledger(GOLD)[2..],
        [(Reason::Refund, 100), (Reason::Expiry, -100)]
    );
}

#[test]
fn credits_of_a_cycle_that_is_over_are_not_given_back_for_good() {
    let mut driver = Driver::new();
    driver.subscribe(1, 1, tier("basic", 100));
    driver.dispute(1, ALL);
    driver.renew(2, 1, tier("basic", 100));
    driver.dispute(1, WON);
    assert_eq!((driver.left_of(1), driver.gold()), (0, 100));
    assert_eq!(
        driver.ledger(GOLD)[3..],
        [(Reason::Refund, 100), (Reason::Expiry, -100)]
    );
}

fn dispute(opened: i64, inquiry: bool, won: Option<bool>) -> Option<Dispute> {
    Some(Dispute {
        opened_at: Timestamp(opened),
        amount_cents: 500,
        currency: Currency::new("EUR").unwrap(),
        reason: DisputeReason::named("fraudulent"),
        respond_by: None,
        inquiry,
        won,
    })
}

#[test]
fn an_opened_and_a_closed_dispute_are_one_event_each() {
    use OrderEvent::{DisputeClosed, Disputed};
    for (before, now, order_event) in [
        (None, None, None),
        (None, dispute(1, false, None), Some(Disputed)),
        (dispute(1, false, None), dispute(1, false, None), None),
        (
            dispute(1, true, None),
            dispute(1, false, None),
            Some(Disputed),
        ),
        (
            dispute(1, false, None),
            dispute(1, false, Some(true)),
            Some(DisputeClosed),
        ),
        (
            dispute(1, false, Some(true)),
            dispute(1, false, Some(true)),
            None,
        ),
        (
            dispute(1, false, Some(false)),
            dispute(1, false, None),
            Some(Disputed),
        ),
        (None, dispute(1, true, Some(true)), Some(DisputeClosed)),
        (
            dispute(1, false, Some(true)),
            dispute(2, false, None),
            Some(Disputed),
        ),
        // The provider may not return it any more.
        (dispute(1, false, None), None, None),
    ] {
        assert_eq!(
            OrderEvent::of_dispute(before, now),
            order_event,
            "{before:?} {now:?}"
        );
    }
}
