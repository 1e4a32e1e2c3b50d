//! Switching tiers in mid-cycle: up brings the difference, down nothing, to and fro nothing either.

use super::{
    GOLD, TIN, deduct,
    shop::{DAY, MONTH, pack, tier},
    teller::Teller,
};
use crate::{
    MAX_CREDITS,
    history::Reason::{Expiry, Purchase},
    id::OrderSerial,
    terms::Terms,
    wallet::{
        SubscriptionStatus::{Active, PastDue},
        update_subscription::UpdateSubscription,
    },
};

fn basic() -> Terms {
    tier("basic", 100)
}

fn plus() -> Terms {
    tier("plus", 250)
}

fn subscribed() -> Teller {
    let mut teller = Teller::new();
    teller.subscribe(1, 1, basic());
    teller
}

#[test]
fn up_brings_the_difference_and_the_features_at_once() {
    let mut teller = subscribed();
    teller.deduct(deduct("d", 60)).unwrap();
    assert!(teller.switch(1, plus()));
    assert_eq!(teller.gold(), 190);
    assert_eq!(teller.wallet.features(teller.now), ["plus"]);
    let entry = teller.records.last().unwrap().entry().unwrap();
    assert_eq!((entry.reason, entry.delta), (Purchase, 150));
    assert_eq!(entry.order, Some(OrderSerial(1)));
    assert_eq!(teller.subscription(1).terms, plus());
    assert!(!teller.switch(1, plus()), "said twice");
}

#[test]
fn down_changes_the_features_and_no_credits_until_the_renewal() {
    let mut teller = Teller::new();
    teller.subscribe(1, 1, plus());
    assert!(teller.switch(1, basic()));
    assert_eq!((teller.gold(), teller.ledger(GOLD).len()), (250, 1));
    assert_eq!(teller.wallet.features(teller.now), ["basic"]);
    teller.renew(2, 1, basic());
    assert_eq!(teller.ledger(GOLD)[1..], [(Expiry, -250), (Purchase, 100)]);
}

#[test]
fn to_and_fro_earns_nothing() {
    let mut teller = subscribed();
    for day in 1..6 {
        teller.pass_seconds(DAY);
        teller.switch(1, plus());
        teller.switch(1, basic());
        assert_eq!(teller.gold(), 250, "day {day}");
    }
    let most = tier("most", 300);
    teller.switch(1, most);
    assert_eq!(
        teller.gold(),
        300,
        "the difference to the most that was granted"
    );
    teller.renew(2, 1, basic());
    assert_eq!(teller.gold(), 100);
    teller.switch(1, plus());
    assert_eq!(teller.gold(), 250, "a new cycle counts anew");
}

#[test]
fn credits_of_a_switch_end_with_the_cycle() {
    let mut teller = subscribed();
    teller.switch(1, plus());
    teller.renew(2, 1, plus());
    assert_eq!(teller.left_of(1), 0);
    assert_eq!(
        teller.ledger(GOLD)[2..],
        [(Expiry, -100), (Expiry, -150), (Purchase, 250)]
    );
}

#[test]
fn credits_of_a_switch_are_not_the_orders_own() {
    let mut teller = subscribed();
    teller.switch(1, plus());
    teller.refund(1, 1000);
    assert_eq!(teller.gold(), 150, "the switch was charged apart");
    let mut teller = subscribed();
    teller.switch(1, plus());
    teller.dispute(1, 1000);
    teller.dispute(1, 0);
    assert_eq!((teller.gold(), teller.placed_order(1).taken), (250, 0));
}

#[test]
fn a_tier_that_is_not_paid_for_brings_its_credits_when_it_is() {
    let mut teller = subscribed();
    teller.set_status(1, PastDue);
    teller.switch(1, plus());
    assert_eq!(
        (teller.gold(), teller.subscription(1).status),
        (100, PastDue)
    );
    teller.pass_seconds(DAY);
    teller.set_status(1, Active);
    assert_eq!(teller.gold(), 250);
}

#[test]
fn a_switch_heard_of_before_the_renewal_that_it_followed_comes_to_the_same() {
    let mut in_order = subscribed();
    in_order.pass_seconds(MONTH);
    let renewal = in_order.renewal(2, 1, basic());
    let mut reordered = subscribed();
    reordered.pass_seconds(MONTH);
    for teller in [&mut in_order, &mut reordered] {
        teller.now = teller.after_seconds(60);
    }
    let switched = UpdateSubscription {
        terms: Some(plus()),
        current_period_end: renewal.billing.current_period_end,
        ..in_order.report(1)
    };
    assert!(in_order.renew_with(renewal.clone()) && in_order.update(switched.clone()));
    assert!(reordered.update(switched) && reordered.renew_with(renewal));
    for teller in [&in_order, &reordered] {
        assert_eq!(
            (teller.gold(), teller.left_of(1), teller.left_of(2)),
            (250, 0, 250)
        );
        assert_eq!(teller.wallet.features(teller.now), ["plus"]);
    }
    assert_eq!(in_order.subscription(1), reordered.subscription(1));
}

#[test]
fn a_tier_that_fills_another_product_brings_its_credits_once() {
    let mut teller = subscribed();
    let tin = Terms {
        fills: TIN,
        ..plus()
    };
    for _ in 0..3 {
        teller.switch(1, tin.clone());
        teller.switch(1, basic());
    }
    assert_eq!((teller.gold(), teller.wallet.available(TIN)), (100, 250));
}

#[test]
fn a_switch_into_a_full_balance_brings_what_fits() {
    let mut teller = subscribed();
    teller.buy(
        2,
        Terms {
            credits: MAX_CREDITS - 110,
            ..pack()
        },
    );
    teller.switch(1, plus());
    assert_eq!(teller.gold(), MAX_CREDITS);
    assert_eq!(teller.ledger(GOLD).last(), Some(&(Purchase, 10)));
}

#[test]
fn credits_of_a_switch_expire_as_the_new_tier_says() {
    let mut teller = subscribed();
    teller.switch(
        1,
        Terms {
            expire_after_days: Some(3),
            ..plus()
        },
    );
    let end = teller.after_seconds(3 * DAY);
    assert_eq!(
        teller.records.last().unwrap().entry().unwrap().expires_at,
        Some(end)
    );
    teller.pass_seconds(4 * DAY);
    assert_eq!(teller.expiries(), [(end, -150)]);
}

#[test]
fn a_tier_that_the_catalog_does_not_know_changes_nothing_that_it_does() {
    let mut teller = subscribed();
    let report = UpdateSubscription {
        terms: None,
        cancel_at_period_end: true,
        ..teller.report(1)
    };
    teller.update(report);
    assert_eq!(teller.subscription(1).terms, basic());
    assert!(teller.subscription(1).cancel_at_period_end);
}
