//! Refunds: how many credits they take, from where, and what a late, repeated or early report does.

use super::{
    GOLD, credit, deduct, hold, hold_id,
    shop::{DAY, features, pack, tier, unlock, unlocked},
    teller::Teller,
};
use crate::{
    MAX_CREDITS, Rejection,
    history::Reason,
    id::OrderSerial,
    terms::Terms,
    wallet::{OrderStatus, SubscriptionStatus, state::commerce::MAX_UNKNOWN_ORDERS},
};

/// 100 credits bought for 10.00 as order 1.
fn bought() -> Teller {
    let mut teller = Teller::new();
    teller.buy(1, pack());
    teller
}

fn status(teller: &Teller) -> OrderStatus {
    teller.placed_order(1).status()
}

#[test]
fn a_full_refund_takes_the_credits_and_the_features() {
    let mut teller = Teller::new();
    teller.buy(
        1,
        Terms {
            features: features(&["pro"]),
            ..pack()
        },
    );
    assert!(teller.refund(1, 1000));
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Refunded, 0));
    assert!(teller.wallet.features(teller.now).is_empty());
    assert_eq!(
        teller.placed_order(1).paid_at,
        Some(teller.now),
        "it was paid all the same"
    );
    let entry = teller.last_entry();
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
    let mut teller = Teller::new();
    let terms = Terms {
        credits: 7,
        features: features(&["pro"]),
        ..pack()
    };
    teller.buy(1, terms);
    // 7 credits for 1000 cents: one per 142.86 cents.
    for (cents, gone) in [(142, 0), (143, 1), (285, 1), (286, 2), (999, 6), (1000, 7)] {
        assert!(teller.refund(1, cents));
        assert_eq!(teller.gold(), 7 - gone, "{cents}");
        let whole = cents == 1000;
        assert_eq!(status(&teller) == OrderStatus::Refunded, whole, "{cents}");
        assert_eq!(
            teller.wallet.features(teller.now).is_empty(),
            whole,
            "{cents}"
        );
    }
    assert_eq!(
        teller.entries().len(),
        5,
        "what takes nothing writes nothing"
    );
    assert_eq!(teller.placed_order(1).reversal.refunded_cents, 1000);
}

#[test]
fn a_refund_is_measured_by_what_was_charged_not_by_the_price() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.pay(1, 500).unwrap();
    teller.refund(1, 250);
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Paid, 50));
    teller.refund(1, 500);
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Refunded, 0));
}

#[test]
fn what_stands_now_counts_whatever_stood_before() {
    let mut teller = bought();
    assert!(teller.refund(1, 500));
    let before = teller.wallet.clone();
    assert!(!teller.refund(1, 500), "said twice");
    assert_eq!(teller.wallet, before);
    assert!(teller.refund(1, 600));
    assert!(teller.refund(1, 100), "one of them failed");
    assert_eq!(
        teller.ledger(GOLD)[1..],
        [
            (Reason::Refund, -50),
            (Reason::Refund, -10),
            (Reason::Refund, 50)
        ]
    );
    assert_eq!(
        (teller.gold(), teller.placed_order(1).reclaimed_credits),
        (90, 10)
    );
}

#[test]
fn a_full_refund_that_fails_makes_the_order_paid_again() {
    let mut teller = Teller::new();
    let terms = Terms {
        features: features(&["pro"]),
        ..pack()
    };
    teller.buy(1, terms);
    teller.deduct(deduct("d", 30)).unwrap();
    assert!(teller.refund(1, 1000));
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Refunded, 0));
    teller.pass_seconds(DAY);
    assert!(teller.refund(1, 0));
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Paid, 70));
    assert_eq!(teller.wallet.features(teller.now), ["pro"]);
    assert_eq!(teller.ledger(GOLD).last(), Some(&(Reason::Refund, 70)));
    assert_eq!(
        (teller.left_of(1), teller.placed_order(1).reclaimed_credits),
        (70, 0)
    );
}

#[test]
fn what_comes_back_past_its_lots_end_expires_at_once() {
    let mut teller = Teller::new();
    let terms = Terms {
        expire_after_days: Some(2),
        ..pack()
    };
    teller.buy(1, terms);
    teller.refund(1, 400);
    teller.pass_seconds(3 * DAY);
    assert!(teller.refund(1, 0));
    assert_eq!(
        teller.ledger(GOLD)[1..],
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
    let mut teller = bought();
    teller.refund(1, 1000);
    teller
        .credit(credit("much", MAX_CREDITS - 40, None))
        .unwrap();
    teller.refund(1, 0);
    assert_eq!(
        (teller.gold(), teller.placed_order(1).reclaimed_credits),
        (MAX_CREDITS, 60)
    );
    teller.deduct(deduct("d", MAX_CREDITS)).unwrap();
    teller.pass_seconds(1);
    teller.refund(1, 0);
    assert_eq!(
        (teller.gold(), teller.placed_order(1).reclaimed_credits),
        (60, 0),
        "asked again"
    );
}

#[test]
fn sums_below_zero_are_nothing() {
    let mut teller = bought();
    teller.reverse(1, -500, 300);
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Paid, 70));
    teller.reverse(1, i64::MAX, i64::MAX);
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Refunded, 0));
    teller.reverse(1, i64::MIN, i64::MIN);
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Paid, 100));
}

#[test]
fn only_what_is_left_of_the_order_is_taken() {
    let mut teller = bought();
    teller.deduct(deduct("d", 80)).unwrap();
    teller.refund(1, 500);
    assert_eq!(
        (teller.gold(), teller.placed_order(1).reclaimed_credits),
        (0, 20)
    );
    teller.refund(1, 1000);
    assert_eq!((teller.gold(), status(&teller)), (0, OrderStatus::Refunded));
    assert_eq!(teller.entries().len(), 3, "there was nothing left to take");
}

#[test]
fn credits_of_other_origin_are_never_taken() {
    let mut teller = bought();
    teller.buy(2, pack());
    teller.credit(credit("gift", 5, None)).unwrap();
    teller.deduct(deduct("d", 130)).unwrap();
    assert_eq!(
        (teller.left_of(1), teller.left_of(2), teller.gold()),
        (0, 70, 75)
    );
    teller.refund(1, 1000);
    assert_eq!(teller.gold(), 75);
    teller.refund(2, 1000);
    assert_eq!(teller.gold(), 5);
}

#[test]
fn a_refund_does_not_touch_an_order_that_is_not_its_own() {
    let mut teller = bought();
    teller.buy(2, pack());
    teller.refund(2, 1000);
    assert_eq!((teller.left_of(1), teller.left_of(2)), (100, 0));
    assert_eq!(status(&teller), OrderStatus::Paid);
}

#[test]
fn held_credits_are_not_refunded() {
    let mut teller = bought();
    teller.place(hold(1, 60, teller.after_seconds(60))).unwrap();
    teller.refund(1, 800);
    let account = teller.wallet.account(GOLD).unwrap();
    assert_eq!((account.balance, account.held), (60, 60));
    assert_eq!(teller.placed_order(1).reclaimed_credits, 40);
    teller.release(hold_id(1)).unwrap();
    assert_eq!(teller.gold(), 60, "the report was dealt with when it came");
    assert!(!teller.refund(1, 800));
    assert_eq!(teller.gold(), 60);
    assert!(teller.refund(1, 900));
    assert_eq!(teller.gold(), 10, "the next one is about the sum");
}

#[test]
fn a_refund_before_its_payment_is_applied_with_it() {
    let mut teller = Teller::new();
    teller.order(1, unlock("pro")).unwrap();
    teller.order(2, pack()).unwrap();
    assert!(teller.refund(1, 1000) && teller.refund(2, 400));
    assert_eq!(status(&teller), OrderStatus::Pending);
    assert!(!teller.refund(2, 400));
    teller.pay(1, 1000).unwrap();
    assert_eq!(status(&teller), OrderStatus::Refunded);
    assert!(teller.wallet.features(teller.now).is_empty());
    teller.pay(2, 1000).unwrap();
    assert_eq!(
        teller.ledger(GOLD),
        [(Reason::Purchase, 100), (Reason::Refund, -40)]
    );
    assert_eq!(teller.placed_order(2).status(), OrderStatus::Paid);
}

#[test]
fn a_refund_before_its_order_is_known_is_kept_for_it() {
    let mut teller = Teller::new();
    assert!(teller.refund(1, 300));
    assert!(!teller.refund(1, 300));
    assert!(teller.refund(1, 500));
    assert_eq!(teller.wallet.orders().count(), 0);
    let known = teller.reversal(500, 0);
    teller.order(1, pack()).unwrap();
    assert_eq!(teller.placed_order(1).reversal, known);
    let commerce = teller.wallet.commerce.as_ref().unwrap();
    assert!(commerce.early.is_empty(), "kept once");
    teller.pay(1, 1000).unwrap();
    assert_eq!(teller.gold(), 50);
}

#[test]
fn of_orders_that_are_not_known_only_so_many_reversals_are_kept() {
    let mut teller = Teller::new();
    let most = MAX_UNKNOWN_ORDERS as u128;
    for serial in 0..most {
        assert!(teller.refund(serial, 300));
    }
    let before = teller.wallet.clone();
    let one_more = teller.reversal(300, 0);
    let refused = Err(Rejection::OrderNotFound);
    assert_eq!(teller.reverse_with(most, one_more), refused);
    assert_eq!(teller.wallet, before);
    assert!(teller.refund(7, 500), "those that are kept still change");
    teller.order(7, pack()).unwrap();
    assert_eq!(teller.reverse_with(most, one_more), Ok(true), "told again");
    teller.pay(7, 1000).unwrap();
    assert_eq!(teller.gold(), 50);
    teller.order(most + 1, pack()).unwrap();
    assert!(
        teller.refund(most + 1, 1),
        "that of a known order is its own"
    );
}

#[test]
fn what_is_paid_late_is_refunded_too() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.refund(1, 1000);
    teller.pass_seconds(2 * DAY);
    assert_eq!(status(&teller), OrderStatus::Expired);
    teller.pay(1, 1000).unwrap();
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Refunded, 0));
}

#[test]
fn an_order_that_cost_nothing_is_refunded_by_any_refund() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.pay(1, 0).unwrap();
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Paid, 100));
    teller.refund(1, 0);
    assert_eq!(status(&teller), OrderStatus::Paid, "nothing went back");
    assert!(teller.refund(1, 1));
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Refunded, 0));
}

#[test]
fn the_largest_numbers_are_divided_exactly() {
    let mut teller = Teller::new();
    teller.buy(
        1,
        Terms {
            credits: MAX_CREDITS,
            amount_cents: i64::MAX,
            ..pack()
        },
    );
    teller.refund(1, i64::MAX - 1);
    assert_eq!(teller.gold(), 1);
    teller.refund(1, i64::MAX);
    assert_eq!(teller.gold(), 0);
}

#[test]
fn expired_credits_are_not_taken_again() {
    let mut teller = Teller::new();
    teller.buy(
        1,
        Terms {
            expire_after_days: Some(1),
            ..pack()
        },
    );
    teller.pass_seconds(2 * DAY);
    teller.refund(1, 1000);
    assert_eq!(status(&teller), OrderStatus::Refunded);
    assert_eq!(
        teller.ledger(GOLD),
        [(Reason::Purchase, 100), (Reason::Expiry, -100)]
    );
}

#[test]
fn refunding_the_current_cycle_takes_its_credits_and_its_features() {
    let mut teller = Teller::new();
    teller.subscribe(1, 1, tier("basic", 100));
    teller.refund(1, 999);
    assert_eq!((teller.gold(), unlocked(&teller)), (1, vec!["basic"]));
    teller.refund(1, 1000);
    assert_eq!((status(&teller), teller.gold()), (OrderStatus::Refunded, 0));
    assert!(unlocked(&teller).is_empty());
    assert_eq!(
        teller.wallet.subscriptions().count(),
        1,
        "the provider ends it, or does not"
    );
    teller.refund(1, 0);
    assert_eq!((teller.gold(), unlocked(&teller)), (100, vec!["basic"]));
    teller.dispute(1, 1000);
    assert!(unlocked(&teller).is_empty());
    teller.renew(2, 1, tier("basic", 100));
    assert_eq!(
        (teller.gold(), unlocked(&teller)),
        (100, vec!["basic"]),
        "a new cycle"
    );
    teller.dispute(1, 0);
    teller.dispute(1, 1000);
    assert_eq!(unlocked(&teller), ["basic"], "the last one is over");
    teller.refund(2, 1000);
    assert!(unlocked(&teller).is_empty());
    teller.set_status(1, SubscriptionStatus::Canceled);
    teller.refund(2, 0);
    assert!(unlocked(&teller).is_empty(), "it is over");
}

#[test]
fn a_cycle_that_was_refunded_before_its_payment_was_heard_of_unlocks_nothing() {
    let mut teller = Teller::new();
    teller.refund(1, 1000);
    teller.refund(2, 1000);
    teller.subscribe(1, 1, tier("basic", 100));
    assert!(unlocked(&teller).is_empty());
    teller.refund(1, 0);
    assert_eq!(unlocked(&teller), ["basic"]);
    teller.renew(2, 1, tier("basic", 100));
    assert_eq!((teller.gold(), unlocked(&teller).len()), (0, 0));
}
