//! Refunds: how many credits they take, from where, and what a late, repeated or early report does.

use super::{
    GOLD, credit, deduct,
    driver::Driver,
    hold, hold_id,
    shop::{DAY, features, pack, tier, unlock, unlocked},
};
use crate::{
    MAX_CREDITS, Rejection,
    history::Reason,
    id::OrderSerial,
    terms::Terms,
    wallet::{OrderStatus, SubscriptionStatus, state::commerce::MAX_UNKNOWN_ORDERS},
};

/// 100 credits bought for 10.00 as order 1.
fn bought() -> Driver {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    driver
}

fn status(driver: &Driver) -> OrderStatus {
    driver.placed_order(1).status()
}

#[test]
fn a_full_refund_takes_the_credits_and_the_features() {
    let mut driver = Driver::new();
    driver.buy(
        1,
        Terms {
            features: features(&["pro"]),
            ..pack()
        },
    );
    assert!(driver.refund(1, 1000));
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
    assert!(driver.wallet.features(driver.now).is_empty());
    assert_eq!(
        driver.placed_order(1).paid_at,
        Some(driver.now),
        "it was paid all the same"
    );
    let entry = driver.last_entry();
    assert_eq!(
        (entry.reason, entry.delta, entry.balance_after),
        (Reason::Refund, -100, 0)
    );
    assert_eq!(
        (entry.order, entry.expires_at),
        (Some(OrderSerial(1)), None)
    );
}

#[test]
fn a_partial_refund_takes_its_share_rounded_down_and_keeps_the_features() {
    let mut driver = Driver::new();
    let terms = Terms {
        credits: 7,
        features: features(&["pro"]),
        ..pack()
    };
    driver.buy(1, terms);
    // 7 credits for 1000 cents: one per 142.86 cents.
    for (cents, gone) in [(142, 0), (143, 1), (285, 1), (286, 2), (999, 6), (1000, 7)] {
        assert!(driver.refund(1, cents));
        assert_eq!(driver.gold(), 7 - gone, "{cents}");
        let whole = cents == 1000;
        assert_eq!(status(&driver) == OrderStatus::Refunded, whole, "{cents}");
        assert_eq!(
            driver.wallet.features(driver.now).is_empty(),
            whole,
            "{cents}"
        );
    }
    assert_eq!(
        driver.entries().len(),
        5,
        "what takes nothing writes nothing"
    );
    assert_eq!(driver.placed_order(1).reversal.refunded_cents, 1000);
}

#[test]
fn a_refund_is_measured_by_what_was_charged_not_by_the_price() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.pay(1, 500).unwrap();
    driver.refund(1, 250);
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 50));
    driver.refund(1, 500);
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
}

#[test]
fn only_the_present_state_of_a_payment_counts() {
    let mut driver = bought();
    assert!(driver.refund(1, 500));
    let before = driver.wallet.clone();
    assert!(!driver.refund(1, 500), "reported twice");
    assert_eq!(driver.wallet, before);
    assert!(driver.refund(1, 600));
    assert!(driver.refund(1, 100), "one of them failed");
    assert_eq!(
        driver.ledger(GOLD)[1..],
        [
            (Reason::Refund, -50),
            (Reason::Refund, -10),
            (Reason::Refund, 50)
        ]
    );
    assert_eq!(
        (driver.gold(), driver.placed_order(1).reclaimed_credits),
        (90, 10)
    );
}

#[test]
fn a_full_refund_that_fails_makes_the_order_paid_again() {
    let mut driver = Driver::new();
    let terms = Terms {
        features: features(&["pro"]),
        ..pack()
    };
    driver.buy(1, terms);
    driver.deduct(deduct("d", 30)).unwrap();
    assert!(driver.refund(1, 1000));
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
    driver.pass_seconds(DAY);
    assert!(driver.refund(1, 0));
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 70));
    assert_eq!(driver.wallet.features(driver.now), ["pro"]);
    assert_eq!(driver.ledger(GOLD).last(), Some(&(Reason::Refund, 70)));
    assert_eq!(
        (driver.left_of(1), driver.placed_order(1).reclaimed_credits),
        (70, 0)
    );
}

#[test]
fn what_comes_back_past_its_lots_end_expires_at_once() {
    let mut driver = Driver::new();
    let terms = Terms {
        expire_after_days: Some(2),
        ..pack()
    };
    driver.buy(1, terms);
    driver.refund(1, 400);
    driver.pass_seconds(3 * DAY);
    assert!(driver.refund(1, 0));
    assert_eq!(
        driver.ledger(GOLD)[1..],
        [
            (Reason::Refund, -40),
            (Reason::Expiry, -60),
            (Reason::Refund, 40),
            (Reason::Expiry, -40)
        ]
    );
}

#[test]
fn what_comes_back_into_a_full_balance_is_what_fits() {
    let mut driver = bought();
    driver.refund(1, 1000);
    driver
        .credit(credit("much", MAX_CREDITS - 40, None))
        .unwrap();
    driver.refund(1, 0);
    assert_eq!(
        (driver.gold(), driver.placed_order(1).reclaimed_credits),
        (MAX_CREDITS, 60)
    );
    driver.deduct(deduct("d", MAX_CREDITS)).unwrap();
    driver.pass_seconds(1);
    driver.refund(1, 0);
    assert_eq!(
        (driver.gold(), driver.placed_order(1).reclaimed_credits),
        (60, 0),
        "requested again"
    );
}

#[test]
fn sums_below_zero_are_nothing() {
    let mut driver = bought();
    driver.reverse(1, -500, 300);
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 70));
    driver.reverse(1, i64::MAX, i64::MAX);
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
    driver.reverse(1, i64::MIN, i64::MIN);
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 100));
}

#[test]
fn only_what_is_left_of_the_order_is_taken() {
    let mut driver = bought();
    driver.deduct(deduct("d", 80)).unwrap();
    driver.refund(1, 500);
    assert_eq!(
        (driver.gold(), driver.placed_order(1).reclaimed_credits),
        (0, 20)
    );
    driver.refund(1, 1000);
    assert_eq!((driver.gold(), status(&driver)), (0, OrderStatus::Refunded));
    assert_eq!(driver.entries().len(), 3, "there was nothing left to take");
}

#[test]
fn credits_of_other_origin_are_never_taken() {
    let mut driver = bought();
    driver.buy(2, pack());
    driver.credit(credit("bonus", 5, None)).unwrap();
    driver.deduct(deduct("d", 130)).unwrap();
    assert_eq!(
        (driver.left_of(1), driver.left_of(2), driver.gold()),
        (0, 70, 75)
    );
    driver.refund(1, 1000);
    assert_eq!(driver.gold(), 75);
    driver.refund(2, 1000);
    assert_eq!(driver.gold(), 5);
}

#[test]
fn a_refund_does_not_touch_an_order_that_is_not_its_own() {
    let mut driver = bought();
    driver.buy(2, pack());
    driver.refund(2, 1000);
    assert_eq!((driver.left_of(1), driver.left_of(2)), (100, 0));
    assert_eq!(status(&driver), OrderStatus::Paid);
}

#[test]
fn held_credits_are_not_refunded() {
    let mut driver = bought();
    driver.place(hold(1, 60, driver.after_seconds(60))).unwrap();
    driver.refund(1, 800);
    let account = driver.wallet.account(GOLD).unwrap();
    assert_eq!((account.balance, account.held), (60, 60));
    assert_eq!(driver.placed_order(1).reclaimed_credits, 40);
    driver.release(hold_id(1)).unwrap();
    assert_eq!(driver.gold(), 60, "the report was dealt with when it came");
    assert!(!driver.refund(1, 800));
    assert_eq!(driver.gold(), 60);
    assert!(driver.refund(1, 900));
    assert_eq!(driver.gold(), 10, "the next one is about the sum");
}

#[test]
fn a_refund_before_its_payment_is_applied_with_it() {
    let mut driver = Driver::new();
    driver.order(1, unlock("pro")).unwrap();
    driver.order(2, pack()).unwrap();
    assert!(driver.refund(1, 1000) && driver.refund(2, 400));
    assert_eq!(status(&driver), OrderStatus::Pending);
    assert!(!driver.refund(2, 400));
    driver.pay(1, 1000).unwrap();
    assert_eq!(status(&driver), OrderStatus::Refunded);
    assert!(driver.wallet.features(driver.now).is_empty());
    driver.pay(2, 1000).unwrap();
    assert_eq!(
        driver.ledger(GOLD),
        [(Reason::Purchase, 100), (Reason::Refund, -40)]
    );
    assert_eq!(driver.placed_order(2).status(), OrderStatus::Paid);
}

#[test]
fn a_refund_before_its_order_is_known_is_kept_for_it() {
    let mut driver = Driver::new();
    assert!(driver.refund(1, 300));
    assert!(!driver.refund(1, 300));
    assert!(driver.refund(1, 500));
    assert_eq!(driver.wallet.orders().count(), 0);
    let existing = driver.reversal(500, 0);
    driver.order(1, pack()).unwrap();
    assert_eq!(driver.placed_order(1).reversal, existing);
    let commerce = driver.wallet.commerce.as_ref().unwrap();
    assert!(commerce.early.is_empty(), "kept once");
    driver.pay(1, 1000).unwrap();
    assert_eq!(driver.gold(), 50);
}

#[test]
fn of_orders_that_are_not_known_only_so_many_reversals_are_kept() {
    let mut driver = Driver::new();
    let most = MAX_UNKNOWN_ORDERS as u128;
    for serial in 0..most {
        assert!(driver.refund(serial, 300));
    }
    let before = driver.wallet.clone();
    let one_more = driver.reversal(300, 0);
    let refused = Err(Rejection::OrderNotFound);
    assert_eq!(driver.reverse_with(most, one_more), refused);
    assert_eq!(driver.wallet, before);
    assert!(driver.refund(7, 500), "those that are kept still change");
    driver.order(7, pack()).unwrap();
    assert_eq!(
        driver.reverse_with(most, one_more),
        Ok(true),
        "reported again"
    );
    driver.pay(7, 1000).unwrap();
    assert_eq!(driver.gold(), 50);
    driver.order(most + 1, pack()).unwrap();
    assert!(
        driver.refund(most + 1, 1),
        "that of a known order is its own"
    );
}

#[test]
fn what_is_paid_late_is_refunded_too() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.refund(1, 1000);
    driver.pass_seconds(2 * DAY);
    assert_eq!(status(&driver), OrderStatus::Expired);
    driver.pay(1, 1000).unwrap();
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
}

#[test]
fn an_order_that_cost_nothing_is_refunded_by_any_refund() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.pay(1, 0).unwrap();
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Paid, 100));
    driver.refund(1, 0);
    assert_eq!(status(&driver), OrderStatus::Paid, "nothing went back");
    assert!(driver.refund(1, 1));
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
}

#[test]
fn the_largest_numbers_are_divided_exactly() {
    let mut driver = Driver::new();
    driver.buy(
        1,
        Terms {
            credits: MAX_CREDITS,
            amount_cents: i64::MAX,
            ..pack()
        },
    );
    driver.refund(1, i64::MAX - 1);
    assert_eq!(driver.gold(), 1);
    driver.refund(1, i64::MAX);
    assert_eq!(driver.gold(), 0);
}

#[test]
fn expired_credits_are_not_taken_again() {
    let mut driver = Driver::new();
    driver.buy(
        1,
        Terms {
            expire_after_days: Some(1),
            ..pack()
        },
    );
    driver.pass_seconds(2 * DAY);
    driver.refund(1, 1000);
    assert_eq!(status(&driver), OrderStatus::Refunded);
    assert_eq!(
        driver.ledger(GOLD),
        [(Reason::Purchase, 100), (Reason::Expiry, -100)]
    );
}

#[test]
fn refunding_the_current_cycle_takes_its_credits_and_its_features() {
    let mut driver = Driver::new();
    driver.subscribe(1, 1, tier("basic", 100));
    driver.refund(1, 999);
    assert_eq!((driver.gold(), unlocked(&driver)), (1, vec!["basic"]));
    driver.refund(1, 1000);
    assert_eq!((status(&driver), driver.gold()), (OrderStatus::Refunded, 0));
    assert!(unlocked(&driver).is_empty());
    assert_eq!(
        driver.wallet.subscriptions().count(),
        1,
        "the provider ends it, or does not"
    );
    driver.refund(1, 0);
    assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["basic"]));
    driver.dispute(1, 1000);
    assert!(unlocked(&driver).is_empty());
    driver.renew(2, 1, tier("basic", 100));
    assert_eq!(
        (driver.gold(), unlocked(&driver)),
        (100, vec!["basic"]),
        "a new cycle"
    );
    driver.dispute(1, 0);
    driver.dispute(1, 1000);
    assert_eq!(unlocked(&driver), ["basic"], "the last one is over");
    driver.refund(2, 1000);
    assert!(unlocked(&driver).is_empty());
    driver.set_status(1, SubscriptionStatus::Canceled);
    driver.refund(2, 0);
    assert!(unlocked(&driver).is_empty(), "it is over");
}

#[test]
fn a_cycle_refunded_before_its_payment_was_reported_unlocks_nothing() {
    let mut driver = Driver::new();
    driver.refund(1, 1000);
    driver.refund(2, 1000);
    driver.subscribe(1, 1, tier("basic", 100));
    assert!(unlocked(&driver).is_empty());
    driver.refund(1, 0);
    assert_eq!(unlocked(&driver), ["basic"]);
    driver.renew(2, 1, tier("basic", 100));
    assert_eq!((driver.gold(), unlocked(&driver).len()), (0, 0));
}
