//! A subscription's cycles: the new one replaces what the last one left.

use super::{
    GOLD, credit, hold, hold_id,
    shop::{DAY, MONTH, basic, pack, subscribed, subscription_event, tier, unlocked},
    teller::Teller,
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
    let mut teller = subscribed();
    teller.deduct(super::deduct("d", 30)).unwrap();
    teller.credit(credit("gift", 5, None)).unwrap();
    teller.buy(8, pack());
    teller.pass_seconds(MONTH);
    assert_eq!(
        teller.gold(),
        175,
        "nothing ends before the next cycle is paid"
    );
    assert!(teller.renew(2, 1, basic()));
    assert_eq!(teller.gold(), 205);
    let ledger = teller.ledger(GOLD);
    assert_eq!(
        ledger[4..],
        [(Expiry, -70), (Purchase, 100)],
        "room is made first"
    );
    let order = teller.placed_order(2);
    assert_eq!(
        (order.kind, order.status()),
        (OrderKind::Renewal, OrderStatus::Paid)
    );
    assert_eq!(
        (order.paid_at, order.created_at),
        (Some(teller.now), teller.now)
    );
    assert_eq!((order.checkout.as_ref(), order.amount_cents), (None, 1000));
    let orders = teller.records.iter().rev().filter_map(|r| r.entry()?.order);
    assert_eq!(
        orders.take(2).collect::<Vec<_>>(),
        [OrderSerial(2), OrderSerial(1)]
    );
    let renewed = teller.subscription(1);
    assert_eq!(renewed.current_period_end, teller.after_seconds(MONTH));
    assert_eq!(renewed.order, Some(OrderSerial(2)));
    assert_eq!(
        subscription_event(&teller)[1..],
        [Some(SubscriptionEvent::Renewed)]
    );
}

#[test]
fn an_invoice_renews_once() {
    let mut teller = subscribed();
    let renewal = teller.renewal(2, 1, basic());
    assert!(teller.renew_with(renewal.clone()));
    let before = teller.wallet.clone();
    assert!(!teller.renew_with(renewal));
    assert_eq!(teller.pay(2, 1000), Ok(false));
    assert_eq!(teller.wallet, before);
}

#[test]
fn an_invoice_over_nothing_renews_too() {
    let mut teller = subscribed();
    let mut renewal = teller.renewal(2, 1, basic());
    renewal.payment.amount_cents = 0;
    renewal.payment.payment = None;
    assert!(teller.renew_with(renewal));
    assert_eq!((teller.left_of(1), teller.left_of(2)), (0, 100));
    assert_eq!(teller.placed_order(2).status(), OrderStatus::Paid);
}

#[test]
fn credits_that_roll_over_stay() {
    let mut teller = Teller::new();
    let rolling = Terms {
        rollover: true,
        ..basic()
    };
    teller.subscribe(1, 1, rolling.clone());
    teller.renew(2, 1, rolling.clone());
    assert_eq!((teller.left_of(1), teller.left_of(2)), (100, 100));
    teller.set_status(1, Canceled);
    assert_eq!((teller.gold(), teller.ledger(GOLD).len()), (200, 2));
}

#[test]
fn only_the_subscriptions_own_credits_end_with_its_cycle() {
    let mut teller = subscribed();
    teller
        .order(
            2,
            Terms {
                product: GOLD,
                ..tier("other", 50)
            },
        )
        .unwrap();
    assert!(teller.pay_subscription(2, 2));
    teller.renew(3, 1, basic());
    assert_eq!([1, 2, 3].map(|order| teller.left_of(order)), [0, 50, 100]);
    teller.set_status(2, Canceled);
    assert_eq!([2, 3].map(|order| teller.left_of(order)), [0, 100]);
    assert_eq!(unlocked(&teller), ["basic"]);
}

#[test]
fn held_credits_of_the_last_cycle_go_when_they_come_back() {
    let mut teller = subscribed();
    teller.place(hold(1, 60, teller.after_seconds(60))).unwrap();
    teller.renew(2, 1, basic());
    let account = teller.wallet.account(GOLD).unwrap();
    assert_eq!(
        (account.balance, account.held, teller.left_of(1)),
        (160, 60, 60)
    );
    assert_eq!(teller.ledger(GOLD)[1..], [(Expiry, -40), (Purchase, 100)]);
    teller.settle(hold_id(1), 10).unwrap();
    assert_eq!((teller.left_of(1), teller.gold()), (0, 100));
    assert_eq!(teller.ledger(GOLD).last(), Some(&(Expiry, -50)));
}

#[test]
fn a_settlement_takes_first_what_would_be_lost() {
    let mut teller = Teller::new();
    let end = teller.after_seconds(DAY);
    teller.credit(credit("gift", 30, Some(end))).unwrap();
    teller.subscribe(1, 1, basic());
    teller.place(hold(1, 130, end)).unwrap();
    teller.renew(2, 1, basic());
    teller.settle(hold_id(1), 100).unwrap();
    assert_eq!((teller.left_of(1), teller.gold()), (0, 130));
    assert_eq!(teller.expiries(), []);
}

#[test]
fn a_hold_placed_after_the_renewal_pins_the_new_credits() {
    let mut teller = subscribed();
    teller
        .place(hold(1, 100, teller.after_seconds(60)))
        .unwrap();
    teller.renew(2, 1, basic());
    teller
        .place(hold(2, 100, teller.after_seconds(600)))
        .unwrap();
    teller.pass_seconds(60);
    assert_eq!(
        (teller.left_of(1), teller.left_of(2), teller.gold()),
        (0, 100, 0)
    );
}

#[test]
fn the_last_cycle_makes_room_in_a_full_balance() {
    let mut teller = Teller::new();
    let huge = tier("huge", crate::MAX_CREDITS);
    teller.subscribe(1, 1, huge.clone());
    teller.renew(2, 1, huge);
    assert_eq!(teller.left_of(2), crate::MAX_CREDITS);
}

#[test]
fn a_tiers_credits_may_expire_before_their_cycle_does() {
    let mut teller = Teller::new();
    let weekly = Terms {
        expire_after_days: Some(7),
        ..basic()
    };
    teller.subscribe(1, 1, weekly.clone());
    let end = teller.after_seconds(7 * DAY);
    teller.pass_seconds(MONTH);
    assert_eq!(teller.expiries(), [(end, -100)]);
    teller.renew(2, 1, weekly);
    assert_eq!((teller.expiries().len(), teller.gold()), (1, 100));
    assert_eq!(
        teller.placed_order(1).credits_end,
        end,
        "the cycle's end is no extension"
    );
}

#[test]
fn a_payment_heard_of_late_does_not_undo_what_was_said_after_it() {
    let mut teller = subscribed();
    teller.pass_seconds(MONTH);
    let renewal = teller.renewal(2, 1, basic());
    teller.pass_seconds(60);
    teller.set_status(1, PastDue);
    assert!(teller.renew_with(renewal));
    assert_eq!(teller.subscription(1).status, PastDue);
    assert_eq!((teller.left_of(1), teller.left_of(2)), (0, 100));
}

#[test]
fn the_invoice_of_a_former_cycle_ends_nothing_and_turns_nothing_back() {
    let mut teller = subscribed();
    teller.pass_seconds(MONTH);
    let missed = teller.renewal(2, 1, basic());
    teller.pass_seconds(MONTH);
    teller.renew(3, 1, basic());
    let current = teller.subscription(1).clone();
    assert!(teller.renew_with(missed));
    assert_eq!(
        [1, 2, 3].map(|order| teller.left_of(order)),
        [0, 0, 100],
        "its credits come and go, as if it had come in time"
    );
    assert_eq!(teller.placed_order(2).status(), OrderStatus::Paid);
    assert_eq!(teller.ledger(GOLD)[3..], [(Purchase, 100), (Expiry, -100)]);
    assert_eq!(*teller.subscription(1), current);
    teller.renew(4, 1, basic());
    assert_eq!([2, 3, 4].map(|order| teller.left_of(order)), [0, 0, 100]);
}

#[test]
fn what_a_former_cycle_rolls_over_stays() {
    let mut teller = Teller::new();
    let rolling = Terms {
        rollover: true,
        ..basic()
    };
    teller.subscribe(1, 1, rolling.clone());
    teller.pass_seconds(MONTH);
    let missed = teller.renewal(2, 1, rolling.clone());
    teller.pass_seconds(MONTH);
    teller.renew(3, 1, rolling);
    assert!(teller.renew_with(missed));
    assert_eq!(teller.gold(), 300);
}

#[test]
fn a_renewal_heard_of_before_the_first_payment_starts_the_subscription() {
    let mut teller = Teller::new();
    teller.order(1, basic()).unwrap();
    assert!(teller.renew(2, 1, basic()));
    assert_eq!((teller.gold(), unlocked(&teller)), (100, vec!["basic"]));
    let known = teller.subscription(1).clone();
    assert!(teller.pay_subscription(1, 1));
    assert_eq!(*teller.subscription(1), known);
    assert_eq!(
        [1, 2].map(|order| teller.left_of(order)),
        [0, 100],
        "the first cycle is over"
    );
    teller.renew(3, 1, basic());
    assert_eq!(teller.gold(), 100);
}

#[test]
fn a_draft_invoice_changes_nothing_before_it_is_paid() {
    let mut teller = subscribed();
    teller.deduct(super::deduct("d", 30)).unwrap();
    teller.pass_seconds(MONTH);
    let bill = teller.renewal(2, 1, basic());
    // The provider's period has moved on, and its invoice is a decision for an hour.
    let moved = UpdateSubscription {
        current_period_end: teller.after_seconds(MONTH),
        ..teller.report(1)
    };
    teller.pass_seconds(60);
    let again = UpdateSubscription {
        reported_at: teller.now,
        ..moved.clone()
    };
    assert!(teller.update(moved) && teller.update(again));
    assert_eq!((teller.left_of(1), teller.ledger(GOLD).len()), (70, 2));
    teller.pass_seconds(3600);
    assert!(teller.renew_with(bill));
    assert_eq!([1, 2].map(|order| teller.left_of(order)), [0, 100]);
    assert_eq!(teller.ledger(GOLD)[2..], [(Expiry, -70), (Purchase, 100)]);
    let after = teller.report(1);
    teller.update(after);
    assert_eq!((teller.gold(), teller.ledger(GOLD).len()), (100, 4));
}

#[test]
fn a_whole_new_cycle_is_billed_by_a_switch() {
    let yearly = Terms {
        interval: Interval::Year,
        ..tier("yearly", 1500)
    };
    let mut teller = subscribed();
    teller.deduct(super::deduct("d", 30)).unwrap();
    teller.pass_seconds(10 * DAY);
    let mut bill = teller.renewal(2, 1, yearly.clone());
    bill.pays = crate::wallet::bill::Pays::Anew;
    bill.billing.current_period_end = teller.after_seconds(12 * MONTH);
    assert!(
        teller.name_tier(1, yearly.clone()),
        "said before it is paid"
    );
    assert_eq!((teller.gold(), unlocked(&teller)), (70, vec!["basic"]));
    assert!(teller.renew_with(bill.clone()) && !teller.renew_with(bill));
    assert_eq!((teller.gold(), unlocked(&teller)), (1500, vec!["yearly"]));
    assert_eq!(teller.placed_order(2).kind, OrderKind::Switch);
    assert_eq!(teller.ledger(GOLD)[2..], [(Expiry, -70), (Purchase, 1500)]);
    // And back: the new cycle ends before the old one would have.
    teller.pass_seconds(30 * DAY);
    teller.name_tier(1, basic());
    assert_eq!(unlocked(&teller), ["yearly"]);
    teller.pass_seconds(1);
    let mut bill = teller.renewal(3, 1, basic());
    bill.pays = crate::wallet::bill::Pays::Anew;
    assert!(teller.renew_with(bill));
    assert_eq!((teller.gold(), unlocked(&teller)), (100, vec!["basic"]));
    let end = teller.after_seconds(MONTH);
    assert_eq!(teller.subscription(1).current_period_end, end);
    teller.refund(3, 500);
    assert_eq!(teller.gold(), 50);
}

#[test]
fn a_whole_new_cycle_keeps_what_rolls_over() {
    let rolling = Terms {
        rollover: true,
        ..basic()
    };
    let mut teller = Teller::new();
    teller.subscribe(1, 1, rolling.clone());
    let mut bill = teller.renewal(
        2,
        1,
        Terms {
            interval: Interval::Year,
            ..rolling
        },
    );
    bill.pays = crate::wallet::bill::Pays::Anew;
    teller.renew_with(bill);
    assert_eq!([1, 2].map(|order| teller.left_of(order)), [100, 100]);
}

#[test]
fn a_renewals_refund_is_its_own() {
    let mut teller = Teller::new();
    let rolling = Terms {
        rollover: true,
        ..basic()
    };
    teller.subscribe(1, 1, rolling.clone());
    assert!(teller.refund(2, 500), "heard of before the renewal");
    teller.renew(2, 1, rolling);
    assert_eq!((teller.left_of(1), teller.left_of(2)), (100, 50));
    assert_eq!(teller.ledger(GOLD).last(), Some(&(Refund, -50)));
}

#[test]
fn a_renewal_alone_does_not_mint_a_code() {
    let mut teller = Teller::born(super::at("2026-03-02T09:00:00Z"), Owner::Order);
    teller.order(1, basic()).unwrap();
    teller.renew(2, 1, basic());
    assert_eq!(teller.wallet.owner, Owner::Order);
    teller.pay_subscription(1, 1);
    assert!(matches!(teller.wallet.owner, Owner::Code { .. }));
}
