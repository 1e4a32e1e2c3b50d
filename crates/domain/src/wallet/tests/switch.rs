//! Switching tiers within a cycle: up brings the difference for the time that is left, once it is paid; down
//! changes nothing before the cycle ends; back and forth brings nothing.

use super::{
    GOLD, TIN, deduct,
    shop::{
        DAY, MONTH, basic, pack, placed, subscribed, subscription_event, switch as two_lines, tier,
        unlocked,
    },
    teller::Teller,
};
use crate::{
    MAX_CREDITS, Timestamp,
    history::Reason::{Expiry, Purchase, Refund},
    id::OrderSerial,
    terms::Terms,
    wallet::{
        OrderKind, OrderStatus,
        SubscriptionStatus::{Active, Canceled, PastDue},
        bill::Bill,
        event::SubscriptionEvent,
        pay::Pay,
        state::subscription::MAX_STEPS,
        update_subscription::UpdateSubscription,
    },
};

/// 25.00 a month, the higher tier.
fn plus() -> Terms {
    Terms {
        amount_cents: 2500,
        ..tier("plus", 250)
    }
}

/// 40.00 a month, the highest.
fn most() -> Terms {
    Terms {
        amount_cents: 4000,
        ..tier("most", 400)
    }
}

/// Ten days of thirty of the basic tier have passed.
fn ten_days_in() -> Teller {
    let mut teller = subscribed();
    teller.pass_seconds(10 * DAY);
    teller
}

#[test]
fn up_brings_the_difference_for_the_time_left_as_an_order_of_its_own() {
    let mut teller = ten_days_in();
    teller.deduct(deduct("d", 60)).unwrap();
    assert!(teller.switch(2, 1, plus()));
    assert_eq!(teller.gold(), 140, "150 for 20 of 30 days");
    assert_eq!(unlocked(&teller), ["plus"]);
    let entry = teller.last_entry();
    assert_eq!((entry.reason, entry.delta), (Purchase, 100));
    assert_eq!(entry.order, Some(OrderSerial(2)));
    let order = teller.placed_order(2);
    assert_eq!(
        (order.kind, order.status(), order.granted_credits),
        (OrderKind::Switch, OrderStatus::Paid, 100)
    );
    assert_eq!((order.amount_cents, order.checkout.as_ref()), (700, None));
    assert!(order.invoice.is_some() && order.subscription.is_some());
    assert_eq!(*teller.subscription(1).tier(), plus());
    assert_eq!(
        subscription_event(&teller)[1..],
        [Some(SubscriptionEvent::Updated), None]
    );
    assert!(!teller.switch(2, 1, plus()), "said twice");
}

#[test]
fn the_share_is_rounded_to_the_nearest_by_the_instant_of_the_switch() {
    // Of 150 credits for 30 days, by seconds.
    let one = MONTH / 150;
    for (passed, brings) in [
        (0, 150),
        (1, 150),
        (one / 2, 150),
        (one / 2 + 1, 149),
        (one, 149),
        (MONTH - one / 2, 1),
        (MONTH - one / 2 + 1, 0),
        (MONTH - 1, 0),
    ] {
        let mut teller = subscribed();
        let switch = teller.switching(2, 1, (basic(), plus()));
        let at = teller.after_seconds(passed);
        // Reported when it was paid, some time later.
        teller.pass_seconds(7);
        let pays = two_lines(basic(), plus(), at, &switch.billing);
        teller.switch_with(Bill { pays, ..switch });
        assert_eq!(teller.gold(), 100 + brings, "after {passed} seconds");
    }
}

#[test]
fn a_switch_that_is_named_before_it_is_paid_brings_its_features_and_no_credits() {
    let mut teller = ten_days_in();
    let switch = teller.switching(2, 1, (basic(), plus()));
    assert!(teller.name_tier(1, plus()));
    assert_eq!((teller.gold(), unlocked(&teller)), (100, vec!["plus"]));
    assert!(teller.switch_with(switch));
    assert_eq!((teller.gold(), unlocked(&teller)), (200, vec!["plus"]));
    assert!(!teller.name_tier(1, plus()), "said twice");
}

#[test]
fn down_changes_nothing_before_the_cycle_ends() {
    let mut teller = Teller::new();
    teller.subscribe(1, 1, plus());
    teller.pass_seconds(DAY);
    teller.name_tier(1, basic());
    assert_eq!((teller.gold(), teller.ledger(GOLD).len()), (250, 1));
    assert_eq!(unlocked(&teller), ["plus"]);
    assert_eq!(*teller.subscription(1).tier(), plus());
    assert_eq!(
        subscription_event(&teller).last(),
        Some(&None),
        "nobody sees anything of it"
    );
    // In the provider's own dashboard it may be billed at once, over nothing.
    let mut bill = teller.switching(2, 1, (plus(), basic()));
    bill.payment.amount_cents = 0;
    assert!(teller.switch_with(bill));
    assert_eq!((teller.gold(), unlocked(&teller)), (250, vec!["plus"]));
    assert_eq!(teller.placed_order(2).granted_credits, 0);
    teller.pass_seconds(MONTH);
    assert_eq!(
        unlocked(&teller),
        ["plus"],
        "not before the next one is paid"
    );
    teller.renew(3, 1, basic());
    assert_eq!(teller.ledger(GOLD)[1..], [(Expiry, -250), (Purchase, 100)]);
    assert_eq!(unlocked(&teller), ["basic"]);
}

#[test]
fn to_and_fro_earns_nothing() {
    let mut teller = subscribed();
    for day in 1..6_u32 {
        teller.pass_seconds(DAY);
        let up = teller.switching((10 + day).into(), 1, (basic(), plus()));
        teller.switch_with(up);
        teller.name_tier(1, plus());
        let down = teller.switching((20 + day).into(), 1, (plus(), basic()));
        teller.switch_with(down);
        teller.name_tier(1, basic());
        assert_eq!(teller.gold(), 245, "day {day}");
    }
    let up = teller.switching(30, 1, (basic(), most()));
    teller.switch_with(up);
    assert_eq!(
        teller.gold(),
        245 + 125,
        "what the highest one has over the most that was paid, for 25 of 30 days"
    );
    teller.renew(31, 1, basic());
    assert_eq!(teller.gold(), 100);
    teller.switch(32, 1, plus());
    assert_eq!(teller.gold(), 250, "a new cycle counts anew");
}

#[test]
fn what_the_cycle_began_with_is_not_brought_again() {
    let mut teller = Teller::new();
    teller.subscribe(1, 1, plus());
    teller.name_tier(1, basic());
    let back = teller.switching(2, 1, (basic(), plus()));
    assert!(teller.switch_with(back));
    assert_eq!(teller.gold(), 250);
    let up = teller.switching(3, 1, (basic(), most()));
    assert!(teller.switch_with(up));
    assert_eq!(teller.gold(), 400);
}

#[test]
fn credits_of_a_switch_end_with_the_cycle() {
    let mut teller = ten_days_in();
    teller.switch(2, 1, plus());
    teller.renew(3, 1, plus());
    assert_eq!([1, 2, 3].map(|order| teller.left_of(order)), [0, 0, 250]);
    assert_eq!(
        teller.ledger(GOLD)[2..],
        [(Expiry, -100), (Expiry, -100), (Purchase, 250)]
    );
}

#[test]
fn a_refund_of_a_switch_takes_what_it_brought() {
    let mut teller = ten_days_in();
    teller.switch(2, 1, plus());
    teller.refund(1, 1000);
    assert_eq!(teller.gold(), 100, "the switch was charged apart");
    teller.refund(1, 0);
    assert_eq!(teller.gold(), 200);
    teller.refund(2, 350);
    assert_eq!((teller.gold(), unlocked(&teller)), (150, vec!["plus"]));
    teller.refund(2, 700);
    assert_eq!(teller.ledger(GOLD).last(), Some(&(Refund, -50)));
    assert_eq!((teller.gold(), teller.left_of(1)), (100, 100));
    assert_eq!(teller.placed_order(2).status(), OrderStatus::Refunded);
    teller.refund(2, 0);
    assert_eq!((teller.gold(), unlocked(&teller)), (200, vec!["plus"]));
}

#[test]
fn features_of_a_refunded_switch_go_with_it() {
    let mut teller = ten_days_in();
    let switch = teller.switching(2, 1, (basic(), plus()));
    teller.switch_with(switch);
    teller.refund(2, 700);
    assert_eq!(
        unlocked(&teller),
        ["basic"],
        "those of the cycle's own order stay"
    );
    teller.refund(2, 0);
    assert_eq!(unlocked(&teller), ["plus"]);
    teller.refund(2, 700);
    teller.pass_seconds(5 * DAY);
    let again = teller.switching(3, 1, (basic(), plus()));
    teller.switch_with(again);
    assert_eq!(
        (teller.gold(), unlocked(&teller)),
        (175, vec!["plus"]),
        "paid anew, brought anew"
    );
}

#[test]
fn a_refunded_switch_is_not_in_force_while_the_provider_names_its_tier() {
    let mut teller = ten_days_in();
    let switch = teller.switching(2, 1, (basic(), plus()));
    teller.switch_with(switch);
    teller.name_tier(1, plus());
    teller.refund(2, 700);
    assert_eq!((teller.gold(), unlocked(&teller)), (100, vec!["basic"]));
    assert_eq!(*teller.subscription(1).tier(), basic());
    teller.name_tier(1, plus());
    assert_eq!(unlocked(&teller), ["basic"], "said again");
    teller.refund(2, 0);
    assert_eq!((teller.gold(), unlocked(&teller)), (200, vec!["plus"]));
    teller.refund(2, 700);
    teller.renew(3, 1, plus());
    assert_eq!(unlocked(&teller), ["plus"], "the next cycle is paid for");
}

#[test]
fn a_tier_that_is_not_paid_for_brings_its_credits_when_it_is() {
    let mut teller = ten_days_in();
    teller.set_status(1, PastDue);
    let switch = teller.switching(2, 1, (basic(), plus()));
    teller.name_tier(1, plus());
    assert_eq!(
        (teller.gold(), teller.subscription(1).status),
        (100, PastDue)
    );
    assert_eq!(unlocked(&teller), ["basic"], "nor its features");
    teller.pass_seconds(DAY);
    assert!(teller.switch_with(switch));
    teller.set_status(1, Active);
    assert_eq!((teller.gold(), unlocked(&teller)), (200, vec!["plus"]));
}

#[test]
fn a_switch_heard_of_before_the_renewal_that_it_followed_comes_to_the_same() {
    let mut in_order = subscribed();
    in_order.pass_seconds(MONTH);
    let renewal = in_order.renewal(2, 1, basic());
    let mut reordered = subscribed();
    reordered.pass_seconds(MONTH);
    for teller in [&mut in_order, &mut reordered] {
        teller.now = teller.after_seconds(15 * DAY);
    }
    let switched = UpdateSubscription {
        terms: Some(plus()),
        current_period_end: renewal.billing.current_period_end,
        ..in_order.report(1)
    };
    let mut bill = in_order.switching(3, 1, (basic(), plus()));
    bill.billing.cycle_start = renewal.billing.cycle_start;
    bill.billing.current_period_end = renewal.billing.current_period_end;
    bill.pays = two_lines(basic(), plus(), in_order.now, &bill.billing);
    assert!(in_order.renew_with(renewal.clone()) && in_order.update(switched.clone()));
    assert!(in_order.switch_with(bill.clone()));
    assert!(reordered.switch_with(bill.clone()) && reordered.update(switched));
    assert!(reordered.renew_with(renewal.clone()));
    for teller in [&mut in_order, &mut reordered] {
        assert_eq!(
            [1, 2, 3].map(|order| teller.left_of(order)),
            [0, 100, 75],
            "each once"
        );
        assert_eq!(unlocked(teller), ["plus"]);
        assert!(!teller.renew_with(renewal.clone()) && !teller.switch_with(bill.clone()));
    }
    let (one, other) = (in_order.subscription(1), reordered.subscription(1));
    assert_eq!(one.tier(), other.tier());
    assert_eq!((one.order, one.cycle_end), (other.order, other.cycle_end));
}

#[test]
fn a_switch_heard_of_before_the_first_payment_comes_to_the_same() {
    let mut teller = Teller::new();
    let first = teller.billing(1);
    teller.pass_seconds(15 * DAY);
    let mut billing = teller.billing(1);
    billing.cycle_start = first.cycle_start;
    billing.current_period_end = first.current_period_end;
    let switch = Bill {
        order: OrderSerial(2),
        is_add_on: false,
        pays: two_lines(basic(), plus(), teller.now, &billing),
        terms: Some(plus()),
        quantity: crate::Quantity::ONE,
        payment: super::shop::payment(2, 700),
        billing,
    };
    assert!(teller.switch_with(switch));
    assert_eq!((teller.gold(), unlocked(&teller)), (75, vec!["plus"]));
    let pay = Pay {
        missing_order: Some(placed(1, basic())),
        billing: Some(first),
        ..super::shop::paying(1, 1000)
    };
    assert_eq!(teller.pay_with(pay), Ok(true));
    assert_eq!((teller.gold(), unlocked(&teller)), (175, vec!["plus"]));
    assert_eq!(teller.subscription(1).order, Some(OrderSerial(1)));
    teller.renew(3, 1, plus());
    assert_eq!(teller.gold(), 250);
}

#[test]
fn a_switch_of_a_cycle_or_a_subscription_that_is_over_ends_with_it() {
    let mut teller = ten_days_in();
    let late = teller.switching(2, 1, (basic(), plus()));
    let later = teller.switching(3, 1, (basic(), plus()));
    teller.pass_seconds(20 * DAY);
    teller.renew(4, 1, basic());
    let current = teller.subscription(1).clone();
    assert!(teller.switch_with(late));
    assert_eq!((teller.gold(), teller.left_of(2)), (100, 0));
    assert_eq!(*teller.subscription(1), current);
    teller.set_status(1, Canceled);
    assert!(teller.switch_with(later));
    assert_eq!((teller.gold(), unlocked(&teller).len()), (0, 0));
    assert_eq!(teller.placed_order(3).status(), OrderStatus::Paid);
}

#[test]
fn a_tier_that_fills_another_product_brings_its_credits_once() {
    let mut teller = ten_days_in();
    let tin = Terms {
        fills: TIN,
        ..plus()
    };
    for serial in 2..5 {
        let up = teller.switching(serial, 1, (basic(), tin.clone()));
        teller.switch_with(up);
        teller.name_tier(1, basic());
    }
    assert_eq!((teller.gold(), teller.wallet.available(TIN)), (100, 167));
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
    teller.switch(3, 1, plus());
    assert_eq!(teller.gold(), MAX_CREDITS);
    assert_eq!(teller.ledger(GOLD).last(), Some(&(Purchase, 10)));
}

#[test]
fn the_largest_numbers_and_odd_cycles_are_divided_exactly() {
    let huge = Terms {
        credits: MAX_CREDITS,
        ..plus()
    };
    let mut teller = subscribed();
    let mut switch = teller.switching(2, 1, (basic(), huge.clone()));
    switch.billing.cycle_start = Timestamp(i64::MIN);
    switch.billing.current_period_end = Timestamp(i64::MAX);
    let at = teller.after_seconds(1);
    switch.pays = two_lines(basic(), huge.clone(), at, &switch.billing);
    assert!(teller.switch_with(switch));
    assert!(teller.gold() > 100 && teller.gold() < MAX_CREDITS);
    // A cycle of no length, or that ends before it begins, brings nothing.
    for ends in [0, -1] {
        let mut teller = subscribed();
        let mut switch = teller.switching(2, 1, (basic(), huge.clone()));
        switch.billing.current_period_end = teller.after_seconds(ends);
        switch.pays = two_lines(basic(), huge.clone(), teller.now, &switch.billing);
        assert!(teller.switch_with(switch));
        assert_eq!(teller.gold(), 100);
    }
}

#[test]
fn credits_of_a_switch_expire_as_the_new_tier_says() {
    let mut teller = ten_days_in();
    let quick = Terms {
        expire_after_days: Some(3),
        ..plus()
    };
    teller.switch(2, 1, quick);
    let end = teller.after_seconds(3 * DAY);
    assert_eq!(teller.last_entry().expires_at, Some(end));
    teller.pass_seconds(4 * DAY);
    assert_eq!(teller.expiries(), [(end, -100)]);
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
    assert_eq!(*teller.subscription(1).tier(), basic());
    assert!(teller.subscription(1).cancel_at_period_end);
}

#[test]
fn of_many_switches_in_one_cycle_only_so_many_are_remembered() {
    let mut teller = subscribed();
    for serial in 0..MAX_STEPS as u128 + 9 {
        let up = teller.switching(100 + serial, 1, (basic(), plus()));
        teller.switch_with(up);
        assert_eq!(teller.gold(), 250, "at once, and once");
    }
    assert_eq!(teller.subscription(1).steps.len(), MAX_STEPS);
}
