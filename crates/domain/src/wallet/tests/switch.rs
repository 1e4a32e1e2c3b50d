//! Switching tiers within a cycle: up brings the difference for the time that is left, once it is paid; down
//! changes nothing before the cycle ends; back and forth brings nothing.

use super::{
    GOLD, TIN, deduct,
    driver::Driver,
    shop::{
        DAY, MONTH, basic, pack, placed, subscribed, subscription_event, switch as two_lines, tier,
        unlocked,
    },
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
fn ten_days_in() -> Driver {
    let mut driver = subscribed();
    driver.pass_seconds(10 * DAY);
    driver
}

#[test]
fn up_brings_the_difference_for_the_time_left_as_an_order_of_its_own() {
    let mut driver = ten_days_in();
    driver.deduct(deduct("d", 60)).unwrap();
    assert!(driver.switch(2, 1, plus()));
    assert_eq!(driver.gold(), 140, "150 for 20 of 30 days");
    assert_eq!(unlocked(&driver), ["plus"]);
    let entry = driver.last_entry();
    assert_eq!((entry.reason, entry.delta), (Purchase, 100));
    assert_eq!(entry.order, Some(OrderSerial(2)));
    let order = driver.placed_order(2);
    assert_eq!(
        (order.kind, order.status(), order.granted_credits),
        (OrderKind::Switch, OrderStatus::Paid, 100)
    );
    assert_eq!((order.amount_cents, order.checkout.as_ref()), (700, None));
    assert!(order.invoice.is_some() && order.subscription.is_some());
    assert_eq!(*driver.subscription(1).tier(), plus());
    assert_eq!(
        subscription_event(&driver)[1..],
        [Some(SubscriptionEvent::Updated), None]
    );
    assert!(!driver.switch(2, 1, plus()), "reported twice");
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
        let mut driver = subscribed();
        let switch = driver.switching(2, 1, (basic(), plus()));
        let at = driver.after_seconds(passed);
        // Reported when it was paid, some time later.
        driver.pass_seconds(7);
        let pays = two_lines(basic(), plus(), at, &switch.billing);
        driver.switch_with(Bill { pays, ..switch });
        assert_eq!(driver.gold(), 100 + brings, "after {passed} seconds");
    }
}

#[test]
fn a_switch_that_is_named_before_it_is_paid_brings_its_features_and_no_credits() {
    let mut driver = ten_days_in();
    let switch = driver.switching(2, 1, (basic(), plus()));
    assert!(driver.name_tier(1, plus()));
    assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["plus"]));
    assert!(driver.switch_with(switch));
    assert_eq!((driver.gold(), unlocked(&driver)), (200, vec!["plus"]));
    assert!(!driver.name_tier(1, plus()), "reported twice");
}

#[test]
fn down_changes_nothing_before_the_cycle_ends() {
    let mut driver = Driver::new();
    driver.subscribe(1, 1, plus());
    driver.pass_seconds(DAY);
    driver.name_tier(1, basic());
    assert_eq!((driver.gold(), driver.ledger(GOLD).len()), (250, 1));
    assert_eq!(unlocked(&driver), ["plus"]);
    assert_eq!(*driver.subscription(1).tier(), plus());
    assert_eq!(
        subscription_event(&driver).last(),
        Some(&None),
        "nobody sees anything of it"
    );
    // In the provider's own dashboard it may be billed at once, over nothing.
    let mut bill = driver.switching(2, 1, (plus(), basic()));
    bill.payment.amount_cents = 0;
    assert!(driver.switch_with(bill));
    assert_eq!((driver.gold(), unlocked(&driver)), (250, vec!["plus"]));
    assert_eq!(driver.placed_order(2).granted_credits, 0);
    driver.pass_seconds(MONTH);
    assert_eq!(
        unlocked(&driver),
        ["plus"],
        "not before the next one is paid"
    );
    driver.renew(3, 1, basic());
    assert_eq!(driver.ledger(GOLD)[1..], [(Expiry, -250), (Purchase, 100)]);
    assert_eq!(unlocked(&driver), ["basic"]);
}

#[test]
fn to_and_fro_earns_nothing() {
    let mut driver = subscribed();
    for day in 1..6_u32 {
        driver.pass_seconds(DAY);
        let up = driver.switching((10 + day).into(), 1, (basic(), plus()));
        driver.switch_with(up);
        driver.name_tier(1, plus());
        let down = driver.switching((20 + day).into(), 1, (plus(), basic()));
        driver.switch_with(down);
        driver.name_tier(1, basic());
        assert_eq!(driver.gold(), 245, "day {day}");
    }
    let up = driver.switching(30, 1, (basic(), most()));
    driver.switch_with(up);
    assert_eq!(
        driver.gold(),
        245 + 125,
        "what the highest one has over the most that was paid, for 25 of 30 days"
    );
    driver.renew(31, 1, basic());
    assert_eq!(driver.gold(), 100);
    driver.switch(32, 1, plus());
    assert_eq!(driver.gold(), 250, "a new cycle counts again");
}

#[test]
fn what_the_cycle_began_with_is_not_brought_again() {
    let mut driver = Driver::new();
    driver.subscribe(1, 1, plus());
    driver.name_tier(1, basic());
    let back = driver.switching(2, 1, (basic(), plus()));
    assert!(driver.switch_with(back));
    assert_eq!(driver.gold(), 250);
    let up = driver.switching(3, 1, (basic(), most()));
    assert!(driver.switch_with(up));
    assert_eq!(driver.gold(), 400);
}

#[test]
fn credits_of_a_switch_end_with_the_cycle() {
    let mut driver = ten_days_in();
    driver.switch(2, 1, plus());
    driver.renew(3, 1, plus());
    assert_eq!([1, 2, 3].map(|order| driver.left_of(order)), [0, 0, 250]);
    assert_eq!(
        driver.ledger(GOLD)[2..],
        [(Expiry, -100), (Expiry, -100), (Purchase, 250)]
    );
}

#[test]
fn a_refund_of_a_switch_takes_what_it_brought() {
    let mut driver = ten_days_in();
    driver.switch(2, 1, plus());
    driver.refund(1, 1000);
    assert_eq!(driver.gold(), 100, "the switch was charged apart");
    driver.refund(1, 0);
    assert_eq!(driver.gold(), 200);
    driver.refund(2, 350);
    assert_eq!((driver.gold(), unlocked(&driver)), (150, vec!["plus"]));
    driver.refund(2, 700);
    assert_eq!(driver.ledger(GOLD).last(), Some(&(Refund, -50)));
    assert_eq!((driver.gold(), driver.left_of(1)), (100, 100));
    assert_eq!(driver.placed_order(2).status(), OrderStatus::Refunded);
    driver.refund(2, 0);
    assert_eq!((driver.gold(), unlocked(&driver)), (200, vec!["plus"]));
}

#[test]
fn features_of_a_refunded_switch_go_with_it() {
    let mut driver = ten_days_in();
    let switch = driver.switching(2, 1, (basic(), plus()));
    driver.switch_with(switch);
    driver.refund(2, 700);
    assert_eq!(
        unlocked(&driver),
        ["basic"],
        "those of the cycle's own order stay"
    );
    driver.refund(2, 0);
    assert_eq!(unlocked(&driver), ["plus"]);
    driver.refund(2, 700);
    driver.pass_seconds(5 * DAY);
    let again = driver.switching(3, 1, (basic(), plus()));
    driver.switch_with(again);
    assert_eq!(
        (driver.gold(), unlocked(&driver)),
        (175, vec!["plus"]),
        "paid again, granted again"
    );
}

#[test]
fn a_refunded_switch_is_not_in_force_while_the_provider_names_its_tier() {
    let mut driver = ten_days_in();
    let switch = driver.switching(2, 1, (basic(), plus()));
    driver.switch_with(switch);
    driver.name_tier(1, plus());
    driver.refund(2, 700);
    assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["basic"]));
    assert_eq!(*driver.subscription(1).tier(), basic());
    driver.name_tier(1, plus());
    assert_eq!(unlocked(&driver), ["basic"], "reported again");
    driver.refund(2, 0);
    assert_eq!((driver.gold(), unlocked(&driver)), (200, vec!["plus"]));
    driver.refund(2, 700);
    driver.renew(3, 1, plus());
    assert_eq!(unlocked(&driver), ["plus"], "the next cycle is paid for");
}

#[test]
fn a_tier_that_is_not_paid_for_brings_its_credits_when_it_is() {
    let mut driver = ten_days_in();
    driver.set_status(1, PastDue);
    let switch = driver.switching(2, 1, (basic(), plus()));
    driver.name_tier(1, plus());
    assert_eq!(
        (driver.gold(), driver.subscription(1).status),
        (100, PastDue)
    );
    assert_eq!(unlocked(&driver), ["basic"], "nor its features");
    driver.pass_seconds(DAY);
    assert!(driver.switch_with(switch));
    driver.set_status(1, Active);
    assert_eq!((driver.gold(), unlocked(&driver)), (200, vec!["plus"]));
}

#[test]
fn a_switch_reported_before_its_renewal_has_the_same_result() {
    let mut in_order = subscribed();
    in_order.pass_seconds(MONTH);
    let renewal = in_order.renewal(2, 1, basic());
    let mut reordered = subscribed();
    reordered.pass_seconds(MONTH);
    for driver in [&mut in_order, &mut reordered] {
        driver.now = driver.after_seconds(15 * DAY);
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
    for driver in [&mut in_order, &mut reordered] {
        assert_eq!(
            [1, 2, 3].map(|order| driver.left_of(order)),
            [0, 100, 75],
            "each once"
        );
        assert_eq!(unlocked(driver), ["plus"]);
        assert!(!driver.renew_with(renewal.clone()) && !driver.switch_with(bill.clone()));
    }
    let (one, other) = (in_order.subscription(1), reordered.subscription(1));
    assert_eq!(one.tier(), other.tier());
    assert_eq!((one.order, one.cycle_end), (other.order, other.cycle_end));
}

#[test]
fn a_switch_reported_before_the_first_payment_has_the_same_result() {
    let mut driver = Driver::new();
    let first = driver.billing(1);
    driver.pass_seconds(15 * DAY);
    let mut billing = driver.billing(1);
    billing.cycle_start = first.cycle_start;
    billing.current_period_end = first.current_period_end;
    let switch = Bill {
        order: OrderSerial(2),
        is_add_on: false,
        pays: two_lines(basic(), plus(), driver.now, &billing),
        terms: Some(plus()),
        quantity: crate::Quantity::ONE,
        payment: super::shop::payment(2, 700),
        billing,
    };
    assert!(driver.switch_with(switch));
    assert_eq!((driver.gold(), unlocked(&driver)), (75, vec!["plus"]));
    let pay = Pay {
        missing_order: Some(placed(1, basic())),
        billing: Some(first),
        ..super::shop::paying(1, 1000)
    };
    assert_eq!(driver.pay_with(pay), Ok(true));
    assert_eq!((driver.gold(), unlocked(&driver)), (175, vec!["plus"]));
    assert_eq!(driver.subscription(1).order, Some(OrderSerial(1)));
    driver.renew(3, 1, plus());
    assert_eq!(driver.gold(), 250);
}

#[test]
fn a_switch_of_a_cycle_or_a_subscription_that_is_over_ends_with_it() {
    let mut driver = ten_days_in();
    let late = driver.switching(2, 1, (basic(), plus()));
    let later = driver.switching(3, 1, (basic(), plus()));
    driver.pass_seconds(20 * DAY);
    driver.renew(4, 1, basic());
    let current = driver.subscription(1).clone();
    assert!(driver.switch_with(late));
    assert_eq!((driver.gold(), driver.left_of(2)), (100, 0));
    assert_eq!(*driver.subscription(1), current);
    driver.set_status(1, Canceled);
    assert!(driver.switch_with(later));
    assert_eq!((driver.gold(), unlocked(&driver).len()), (0, 0));
    assert_eq!(driver.placed_order(3).status(), OrderStatus::Paid);
}

#[test]
fn a_tier_that_fills_another_product_brings_its_credits_once() {
    let mut driver = ten_days_in();
    let other_product = Terms {
        fills: TIN,
        ..plus()
    };
    for serial in 2..5 {
        let up = driver.switching(serial, 1, (basic(), other_product.clone()));
        driver.switch_with(up);
        driver.name_tier(1, basic());
    }
    assert_eq!((driver.gold(), driver.wallet.available(TIN)), (100, 167));
}

#[test]
fn a_switch_into_a_full_balance_brings_what_fits() {
    let mut driver = subscribed();
    driver.buy(
        2,
        Terms {
            credits: MAX_CREDITS - 110,
            ..pack()
        },
    );
    driver.switch(3, 1, plus());
    assert_eq!(driver.gold(), MAX_CREDITS);
    assert_eq!(driver.ledger(GOLD).last(), Some(&(Purchase, 10)));
}

#[test]
fn the_largest_numbers_and_odd_cycles_are_divided_exactly() {
    let huge = Terms {
        credits: MAX_CREDITS,
        ..plus()
    };
    let mut driver = subscribed();
    let mut switch = driver.switching(2, 1, (basic(), huge.clone()));
    switch.billing.cycle_start = Timestamp(i64::MIN);
    switch.billing.current_period_end = Timestamp(i64::MAX);
    let at = driver.after_seconds(1);
    switch.pays = two_lines(basic(), huge.clone(), at, &switch.billing);
    assert!(driver.switch_with(switch));
    assert!(driver.gold() > 100 && driver.gold() < MAX_CREDITS);
    // A cycle of no length, or that ends before it begins, brings nothing.
    for ends in [0, -1] {
        let mut driver = subscribed();
        let mut switch = driver.switching(2, 1, (basic(), huge.clone()));
        switch.billing.current_period_end = driver.after_seconds(ends);
        switch.pays = two_lines(basic(), huge.clone(), driver.now, &switch.billing);
        assert!(driver.switch_with(switch));
        assert_eq!(driver.gold(), 100);
    }
}

#[test]
fn credits_of_a_switch_expire_as_the_new_tier_says() {
    let mut driver = ten_days_in();
    let quick = Terms {
        expire_after_days: Some(3),
        ..plus()
    };
    driver.switch(2, 1, quick);
    let end = driver.after_seconds(3 * DAY);
    assert_eq!(driver.last_entry().expires_at, Some(end));
    driver.pass_seconds(4 * DAY);
    assert_eq!(driver.expiries(), [(end, -100)]);
}

#[test]
fn a_tier_that_the_catalog_does_not_know_changes_nothing_that_it_does() {
    let mut driver = subscribed();
    let report = UpdateSubscription {
        terms: None,
        cancel_at_period_end: true,
        ..driver.report(1)
    };
    driver.update(report);
    assert_eq!(*driver.subscription(1).tier(), basic());
    assert!(driver.subscription(1).cancel_at_period_end);
}

#[test]
fn of_many_switches_in_one_cycle_only_so_many_are_remembered() {
    let mut driver = subscribed();
    for serial in 0..MAX_STEPS as u128 + 9 {
        let up = driver.switching(100 + serial, 1, (basic(), plus()));
        driver.switch_with(up);
        assert_eq!(driver.gold(), 250, "at once, and once");
    }
    assert_eq!(driver.subscription(1).steps.len(), MAX_STEPS);
}
