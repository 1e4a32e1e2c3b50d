//! A subscription's cycles: the new one replaces what the last one left.

use super::{
    GOLD, credit,
    driver::Driver,
    hold, hold_id,
    shop::{DAY, MONTH, basic, pack, subscribed, subscription_event, tier, unlocked},
};
use crate::{
    catalog::Interval,
    history::Reason::{Expiry, Purchase, Refund},
    id::OrderSerial,
    terms::Terms,
    wallet::{
        OrderKind, OrderStatus, Owner,
        SubscriptionStatus::{Canceled, PastDue},
        event::SubscriptionEvent,
        update_subscription::UpdateSubscription,
    },
};

#[test]
fn a_renewal_is_an_order_of_its_own_and_replaces_what_was_left() {
    let mut driver = subscribed();
    driver.deduct(super::deduct("d", 30)).unwrap();
    driver.credit(credit("bonus", 5, None)).unwrap();
    driver.buy(8, pack());
    driver.pass_seconds(MONTH);
    assert_eq!(
        driver.gold(),
        175,
        "nothing ends before the next cycle is paid"
    );
    assert!(driver.renew(2, 1, basic()));
    assert_eq!(driver.gold(), 205);
    let ledger = driver.ledger(GOLD);
    assert_eq!(
        ledger[4..],
        [(Expiry, -70), (Purchase, 100)],
        "room is made first"
    );
    let order = driver.placed_order(2);
    assert_eq!(
        (order.kind, order.status()),
        (OrderKind::Renewal, OrderStatus::Paid)
    );
    assert_eq!(
        (order.paid_at, order.created_at),
        (Some(driver.now), driver.now)
    );
    assert_eq!((order.checkout.as_ref(), order.amount_cents), (None, 1000));
    let orders = driver.records.iter().rev().filter_map(|r| r.entry()?.order);
    assert_eq!(
        orders.take(2).collect::<Vec<_>>(),
        [OrderSerial(2), OrderSerial(1)]
    );
    let renewed = driver.subscription(1);
    assert_eq!(renewed.current_period_end, driver.after_seconds(MONTH));
    assert_eq!(renewed.order, Some(OrderSerial(2)));
    assert_eq!(
        subscription_event(&driver)[1..],
        [Some(SubscriptionEvent::Renewed)]
    );
}

#[test]
fn an_invoice_renews_once() {
    let mut driver = subscribed();
    let renewal = driver.renewal(2, 1, basic());
    assert!(driver.renew_with(renewal.clone()));
    let before = driver.wallet.clone();
    assert!(!driver.renew_with(renewal));
    assert_eq!(driver.pay(2, 1000), Ok(false));
    assert_eq!(driver.wallet, before);
}

#[test]
fn an_invoice_over_nothing_renews_too() {
    let mut driver = subscribed();
    let mut renewal = driver.renewal(2, 1, basic());
    renewal.payment.amount_cents = 0;
    renewal.payment.payment = None;
    assert!(driver.renew_with(renewal));
    assert_eq!((driver.left_of(1), driver.left_of(2)), (0, 100));
    assert_eq!(driver.placed_order(2).status(), OrderStatus::Paid);
}

#[test]
fn credits_that_roll_over_stay() {
    let mut driver = Driver::new();
    let rolling = Terms {
        rollover: true,
        ..basic()
    };
    driver.subscribe(1, 1, rolling.clone());
    driver.renew(2, 1, rolling.clone());
    assert_eq!((driver.left_of(1), driver.left_of(2)), (100, 100));
    driver.set_status(1, Canceled);
    assert_eq!((driver.gold(), driver.ledger(GOLD).len()), (200, 2));
}

#[test]
fn only_the_subscriptions_own_credits_end_with_its_cycle() {
    let mut driver = subscribed();
    driver
        .order(
            2,
            Terms {
                product: GOLD,
                ..tier("other", 50)
            },
        )
        .unwrap();
    assert!(driver.pay_subscription(2, 2));
    driver.renew(3, 1, basic());
    assert_eq!([1, 2, 3].map(|order| driver.left_of(order)), [0, 50, 100]);
    driver.set_status(2, Canceled);
    assert_eq!([2, 3].map(|order| driver.left_of(order)), [0, 100]);
    assert_eq!(unlocked(&driver), ["basic"]);
}

#[test]
fn held_credits_of_the_last_cycle_go_when_they_come_back() {
    let mut driver = subscribed();
    driver.place(hold(1, 60, driver.after_seconds(60))).unwrap();
    driver.renew(2, 1, basic());
    let account = driver.wallet.account(GOLD).unwrap();
    assert_eq!(
        (account.balance, account.held, driver.left_of(1)),
        (160, 60, 60)
    );
    assert_eq!(driver.ledger(GOLD)[1..], [(Expiry, -40), (Purchase, 100)]);
    driver.settle(hold_id(1), 10).unwrap();
    assert_eq!((driver.left_of(1), driver.gold()), (0, 100));
    assert_eq!(driver.ledger(GOLD).last(), Some(&(Expiry, -50)));
}

#[test]
fn a_settlement_takes_first_what_would_be_lost() {
    let mut driver = Driver::new();
    let end = driver.after_seconds(DAY);
    driver.credit(credit("bonus", 30, Some(end))).unwrap();
    driver.subscribe(1, 1, basic());
    driver.place(hold(1, 130, end)).unwrap();
    driver.renew(2, 1, basic());
    driver.settle(hold_id(1), 100).unwrap();
    assert_eq!((driver.left_of(1), driver.gold()), (0, 130));
    assert_eq!(driver.expiries(), []);
}

#[test]
fn a_hold_placed_after_the_renewal_pins_the_new_credits() {
    let mut driver = subscribed();
    driver
        .place(hold(1, 100, driver.after_seconds(60)))
        .unwrap();
    driver.renew(2, 1, basic());
    driver
        .place(hold(2, 100, driver.after_seconds(600)))
        .unwrap();
    driver.pass_seconds(60);
    assert_eq!(
        (driver.left_of(1), driver.left_of(2), driver.gold()),
        (0, 100, 0)
    );
}

#[test]
fn the_last_cycle_makes_room_in_a_full_balance() {
    let mut driver = Driver::new();
    let huge = tier("huge", crate::MAX_CREDITS);
    driver.subscribe(1, 1, huge.clone());
    driver.renew(2, 1, huge);
    assert_eq!(driver.left_of(2), crate::MAX_CREDITS);
}

#[test]
fn a_tiers_credits_may_expire_before_their_cycle_does() {
    let mut driver = Driver::new();
    let weekly = Terms {
        expire_after_days: Some(7),
        ..basic()
    };
    driver.subscribe(1, 1, weekly.clone());
    let end = driver.after_seconds(7 * DAY);
    driver.pass_seconds(MONTH);
    assert_eq!(driver.expiries(), [(end, -100)]);
    driver.renew(2, 1, weekly);
    assert_eq!((driver.expiries().len(), driver.gold()), (1, 100));
    assert_eq!(
        driver.placed_order(1).credits_end,
        end,
        "the cycle's end is no extension"
    );
}

#[test]
fn a_late_payment_report_does_not_undo_later_reports() {
    let mut driver = subscribed();
    driver.pass_seconds(MONTH);
    let renewal = driver.renewal(2, 1, basic());
    driver.pass_seconds(60);
    driver.set_status(1, PastDue);
    assert!(driver.renew_with(renewal));
    assert_eq!(driver.subscription(1).status, PastDue);
    assert_eq!((driver.left_of(1), driver.left_of(2)), (0, 100));
}

#[test]
fn the_invoice_of_a_former_cycle_ends_nothing_and_turns_nothing_back() {
    let mut driver = subscribed();
    driver.pass_seconds(MONTH);
    let missed = driver.renewal(2, 1, basic());
    driver.pass_seconds(MONTH);
    driver.renew(3, 1, basic());
    let current = driver.subscription(1).clone();
    assert!(driver.renew_with(missed));
    assert_eq!(
        [1, 2, 3].map(|order| driver.left_of(order)),
        [0, 0, 100],
        "its credits come and go, as if it had come in time"
    );
    assert_eq!(driver.placed_order(2).status(), OrderStatus::Paid);
    assert_eq!(driver.ledger(GOLD)[3..], [(Purchase, 100), (Expiry, -100)]);
    assert_eq!(*driver.subscription(1), current);
    driver.renew(4, 1, basic());
    assert_eq!([2, 3, 4].map(|order| driver.left_of(order)), [0, 0, 100]);
}

#[test]
fn what_a_former_cycle_rolls_over_stays() {
    let mut driver = Driver::new();
    let rolling = Terms {
        rollover: true,
        ..basic()
    };
    driver.subscribe(1, 1, rolling.clone());
    driver.pass_seconds(MONTH);
    let missed = driver.renewal(2, 1, rolling.clone());
    driver.pass_seconds(MONTH);
    driver.renew(3, 1, rolling);
    assert!(driver.renew_with(missed));
    assert_eq!(driver.gold(), 300);
}

#[test]
fn a_renewal_reported_before_the_first_payment_starts_the_subscription() {
    let mut driver = Driver::new();
    driver.order(1, basic()).unwrap();
    assert!(driver.renew(2, 1, basic()));
    assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["basic"]));
    let existing = driver.subscription(1).clone();
    assert!(driver.pay_subscription(1, 1));
    assert_eq!(*driver.subscription(1), existing);
    assert_eq!(
        [1, 2].map(|order| driver.left_of(order)),
        [0, 100],
        "the first cycle is over"
    );
    driver.renew(3, 1, basic());
    assert_eq!(driver.gold(), 100);
}

#[test]
fn a_draft_invoice_changes_nothing_before_it_is_paid() {
    let mut driver = subscribed();
    driver.deduct(super::deduct("d", 30)).unwrap();
    driver.pass_seconds(MONTH);
    let bill = driver.renewal(2, 1, basic());
    // The provider's period has moved on, and its invoice is a decision for an hour.
    let moved = UpdateSubscription {
        current_period_end: driver.after_seconds(MONTH),
        ..driver.report(1)
    };
    driver.pass_seconds(60);
    let again = UpdateSubscription {
        reported_at: driver.now,
        ..moved.clone()
    };
    assert!(driver.update(moved) && driver.update(again));
    assert_eq!((driver.left_of(1), driver.ledger(GOLD).len()), (70, 2));
    driver.pass_seconds(3600);
    assert!(driver.renew_with(bill));
    assert_eq!([1, 2].map(|order| driver.left_of(order)), [0, 100]);
    assert_eq!(driver.ledger(GOLD)[2..], [(Expiry, -70), (Purchase, 100)]);
    let after = driver.report(1);
    driver.update(after);
    assert_eq!((driver.gold(), driver.ledger(GOLD).len()), (100, 4));
}

#[test]
fn a_whole_new_cycle_is_billed_by_a_switch() {
    let yearly = Terms {
        interval: Interval::Year,
        ..tier("yearly", 1500)
    };
    let mut driver = subscribed();
    driver.deduct(super::deduct("d", 30)).unwrap();
    driver.pass_seconds(10 * DAY);
    let mut bill = driver.renewal(2, 1, yearly.clone());
    bill.pays = crate::wallet::bill::Pays::NewCycle;
    bill.billing.current_period_end = driver.after_seconds(12 * MONTH);
    assert!(
        driver.name_tier(1, yearly.clone()),
        "reported before it is paid"
    );
    assert_eq!((driver.gold(), unlocked(&driver)), (70, vec!["basic"]));
    assert!(driver.renew_with(bill.clone()) && !driver.renew_with(bill));
    assert_eq!((driver.gold(), unlocked(&driver)), (1500, vec!["yearly"]));
    assert_eq!(driver.placed_order(2).kind, OrderKind::Switch);
    assert_eq!(driver.ledger(GOLD)[2..], [(Expiry, -70), (Purchase, 1500)]);
    // And back: the new cycle ends before the old one would have.
    driver.pass_seconds(30 * DAY);
    driver.name_tier(1, basic());
    assert_eq!(unlocked(&driver), ["yearly"]);
    driver.pass_seconds(1);
    let mut bill = driver.renewal(3, 1, basic());
    bill.pays = crate::wallet::bill::Pays::NewCycle;
    assert!(driver.renew_with(bill));
    assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["basic"]));
    let end = driver.after_seconds(MONTH);
    assert_eq!(driver.subscription(1).current_period_end, end);
    driver.refund(3, 500);
    assert_eq!(driver.gold(), 50);
}

#[test]
fn a_whole_new_cycle_keeps_what_rolls_over() {
    let rolling = Terms {
        rollover: true,
        ..basic()
    };
    let mut driver = Driver::new();
    driver.subscribe(1, 1, rolling.clone());
    let mut bill = driver.renewal(
        2,
        1,
        Terms {
            interval: Interval::Year,
            ..rolling
        },
    );
    bill.pays = crate::wallet::bill::Pays::NewCycle;
    driver.renew_with(bill);
    assert_eq!([1, 2].map(|order| driver.left_of(order)), [100, 100]);
}

#[test]
fn a_renewals_refund_is_its_own() {
    let mut driver = Driver::new();
    let rolling = Terms {
        rollover: true,
        ..basic()
    };
    driver.subscribe(1, 1, rolling.clone());
    assert!(driver.refund(2, 500), "reported before the renewal");
    driver.renew(2, 1, rolling);
    assert_eq!((driver.left_of(1), driver.left_of(2)), (100, 50));
    assert_eq!(driver.ledger(GOLD).last(), Some(&(Refund, -50)));
}

#[test]
fn a_renewal_alone_does_not_mint_a_code() {
    let mut driver = Driver::born(super::at("2026-03-02T09:00:00Z"), Owner::Order);
    driver.order(1, basic()).unwrap();
    driver.renew(2, 1, basic());
    assert_eq!(driver.wallet.owner, Owner::Order);
    driver.pay_subscription(1, 1);
    assert!(matches!(driver.wallet.owner, Owner::Code { .. }));
}
