//! A wallet that has bought for years is no larger and decides no slower than one that is new.

use super::{
    GOLD, deduct,
    driver::{Done, Driver},
    hold,
    shop::{DAY, basic, features, pack, paying, placed, sub, tier, unlock},
};
use crate::{
    Rejection,
    history::RecordContent,
    id::OrderSerial,
    terms::Terms,
    wallet::{
        Change, OrderStatus, SubscriptionStatus, Wallet, pay::Pay, purchase::Purchase,
        state::lots::visits_taken,
    },
};

/// The size of a wallet, in characters of its debug text.
fn size(wallet: &Wallet) -> usize {
    format!("{wallet:?}").len()
}

/// The cost of one purchase: its events, look-ups of lots, and the size of the wallet afterwards.
fn purchase(driver: &mut Driver, serial: u128) -> (Vec<String>, u64, usize) {
    let before = driver.events.len();
    visits_taken();
    driver.buy(serial, pack());
    let kinds = driver.events[before..].iter().map(|event| {
        let name = format!("{:?}", event.change);
        name.split(['(', ' ', '{']).next().unwrap().to_owned()
    });
    let kinds = kinds.collect();
    (kinds, visits_taken(), size(&driver.wallet))
}

fn again() -> Terms {
    Terms {
        repeatable: true,
        ..unlock("pro")
    }
}

#[test]
fn a_hundred_thousand_orders_leave_nothing_behind() {
    let mut new = Driver::new();
    let mut old = Driver::new();
    old.keeps_states = false;
    for serial in 0..100_000 {
        match serial % 4 {
            0 => old.buy(serial, pack()),
            1 => old.buy(serial, again()),
            2 => assert_eq!(old.order(serial, pack()), Ok(true)),
            _ => {
                assert_eq!(old.order(serial, pack()), Ok(true));
                assert_eq!(old.fail(serial), Ok(true));
            }
        }
        if serial % 100 == 99 {
            let spent = old.gold();
            assert_eq!(
                old.deduct(deduct(&serial.to_string(), spent)),
                Ok(Done::Applied)
            );
            old.pass_seconds(DAY);
        }
    }
    assert_eq!(old.orders().len(), 100_000);
    for driver in [&mut new, &mut old] {
        driver.buy(200_000, again());
    }
    assert_eq!(old.wallet.orders().count(), 0);
    let (events, steps, bytes) = purchase(&mut new, 200_001);
    let (old_events, old_steps, old_bytes) = purchase(&mut old, 200_001);
    assert_eq!(
        events,
        ["OrderPlaced", "OrderPaid", "OrderArchived"],
        "and nothing that grows"
    );
    assert_eq!((old_events, old_steps), (events, steps));
    // Larger numbers take a few bytes more, and so does the lot that the last deduction took from.
    assert!(old_bytes <= bytes + 96, "{old_bytes} bytes beside {bytes}");
    for (driver, name) in [(&mut new, "a"), (&mut old, "a")] {
        visits_taken();
        driver.deduct(deduct(name, 1)).unwrap();
        assert!(visits_taken() < 12);
        assert_eq!(driver.wallet.features(driver.now), ["pro"]);
    }
}

#[test]
fn a_purchase_costs_no_more_beside_a_thousand_lots_and_holds() {
    let mut driver = Driver::new();
    driver.keeps_states = false;
    let (_, steps, _) = purchase(&mut driver, 100_000);
    for serial in 0..1000 {
        driver.buy(serial, pack());
        let end = driver.after_seconds(DAY);
        driver.place(hold(serial, 50, end)).unwrap();
    }
    let (events, more, _) = purchase(&mut driver, 100_001);
    assert_eq!(events.len(), 3);
    assert!(more <= steps + 2, "{more} steps beside {steps}");
    visits_taken();
    assert!(driver.refund(999, 1000));
    assert!(visits_taken() < 24);
    assert_eq!(driver.left_of(999), 0);
}

#[test]
fn a_settled_order_is_a_fact_of_the_history() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.order(2, pack()).unwrap();
    driver.order(3, pack()).unwrap();
    driver.pay(1, 900).unwrap();
    driver.fail(2).unwrap();
    assert_eq!(driver.wallet.orders().count(), 1, "one can still change");
    driver.pass_seconds(DAY);
    assert_eq!(driver.wallet.orders().count(), 0, "the clock took it");
    let archived = driver.records.iter().filter_map(|record| record.order());
    let archived: Vec<_> = archived.map(|a| (a.serial.0, a.order.status())).collect();
    assert_eq!(
        archived,
        [
            (1, OrderStatus::Paid),
            (2, OrderStatus::Failed),
            (3, OrderStatus::Expired)
        ]
    );
    let entries = driver.records.iter().filter(|r| r.entry().is_some());
    assert_eq!(entries.count(), 1, "it is no ledger entry");
}

#[test]
fn the_last_record_of_an_order_counts() {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    assert!(driver.refund(1, 300));
    assert!(driver.refund(1, 500));
    let refunded = driver.records.iter().filter_map(|record| record.order());
    let refunded: Vec<_> = refunded.map(|a| a.order.reversal.refunded_cents).collect();
    assert_eq!(refunded, [0, 300, 500]);
    assert_eq!(
        (driver.placed_order(1).reclaimed_credits, driver.gold()),
        (50, 50)
    );
}

#[test]
fn a_report_that_changes_nothing_recalls_nothing() {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    driver.refund(1, 300);
    driver.order(2, pack()).unwrap();
    driver.fail(2).unwrap();
    let before = (driver.wallet.clone(), driver.events.len());
    assert_eq!(driver.pay(1, 1000), Ok(false), "paid twice");
    let placed_along = Pay {
        missing_order: Some(placed(1, pack())),
        ..paying(1, 1000)
    };
    assert_eq!(driver.pay_with(placed_along), Ok(false));
    assert_eq!(driver.order(1, pack()), Ok(false), "placed late");
    assert!(!driver.refund(1, 300) && !driver.reverse(1, 300, 0));
    assert_eq!((driver.fail(1), driver.expire(1)), (Ok(false), Ok(false)));
    assert_eq!((driver.fail(2), driver.expire(2)), (Ok(false), Ok(false)));
    assert_eq!(driver.fail(3), Err(Rejection::OrderNotFound));
    assert_eq!((driver.wallet.clone(), driver.events.len()), before);
}

#[test]
fn a_late_payment_recalls_its_order_first_and_archives_it_last() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.pass_seconds(2 * DAY);
    let before = driver.events.len();
    assert_eq!(driver.pay(1, 1000), Ok(true));
    let changes: Vec<_> = driver.events[before..].iter().map(|e| &e.change).collect();
    let order = OrderSerial(1);
    assert!(matches!(changes[0], Change::OrderRecalled(a) if a.serial == order));
    assert!(matches!(changes[1], Change::OrderPaid(paid) if paid.order == order));
    assert_eq!(*changes[2], Change::OrderArchived { order });
    assert_eq!((changes.len(), driver.gold()), (3, 100));
    assert_eq!(driver.placed_order(1).status(), OrderStatus::Paid);
}

#[test]
fn features_bought_twice_go_when_both_are_refunded() {
    let mut driver = Driver::new();
    let both = Terms {
        features: features(&["pro", "beta"]),
        ..unlock("pro")
    };
    driver.buy(1, unlock("pro"));
    driver.buy(2, both);
    assert_eq!(driver.wallet.features(driver.now), ["beta", "pro"]);
    driver.refund(2, 1000);
    assert_eq!(driver.wallet.features(driver.now), ["pro"]);
    driver.dispute(1, 1000);
    assert!(driver.wallet.features(driver.now).is_empty());
    driver.dispute(1, 0);
    assert_eq!(driver.wallet.features(driver.now), ["pro"]);
    driver.refund(1, 300);
    assert_eq!(driver.wallet.features(driver.now), ["pro"], "in part");
}

#[test]
fn a_dispute_won_after_its_cycle_gives_nothing_back_for_good() {
    for ended_by_cancellation in [false, true] {
        let mut driver = Driver::new();
        driver.subscribe(1, 1, basic());
        driver.dispute(1, 1000);
        driver.pass_seconds(10);
        if ended_by_cancellation {
            driver.set_status(1, SubscriptionStatus::Canceled);
        } else {
            driver.renew(2, 1, basic());
        }
        driver.pass_seconds(10);
        driver.dispute(1, 0);
        assert_eq!(driver.left_of(1), 0, "its cycle is over");
        driver.dispute(2, 1000);
        driver.dispute(2, 0);
        let current = if ended_by_cancellation { 0 } else { 100 };
        assert_eq!(driver.gold(), current, "the current one's come back");
        if !ended_by_cancellation {
            driver.renew(3, 1, basic());
            assert_eq!((driver.left_of(2), driver.gold()), (0, 100));
        }
    }
}

#[test]
fn subscriptions_that_are_over_leave_nothing_behind() {
    let mut driver = Driver::new();
    driver.keeps_states = false;
    let mut after_first = 0;
    for number in 0..200 {
        driver.subscribe(number, number, tier("basic", 10));
        driver.set_status(number, SubscriptionStatus::Canceled);
        assert!(driver.wallet.subscription(&sub(number)).is_none());
        if number == 0 {
            after_first = size(&driver.wallet);
        }
    }
    assert!(size(&driver.wallet) <= after_first + 16);
    let over = |fact: &RecordContent| matches!(fact, RecordContent::SubscriptionOver(_));
    let over = driver.records.iter().filter(|record| over(&record.fact));
    assert_eq!(over.count(), 200);
    let before = driver.events.len();
    assert!(!driver.update(driver.report(7)), "old news");
    assert_eq!(driver.events.len(), before);
    let late = driver.renewal(500, 7, tier("basic", 10));
    assert!(driver.purchase(Purchase::Bill(Box::new(late))).unwrap());
    assert_eq!(driver.wallet.subscriptions().count(), 0, "it stays over");
    assert_eq!(driver.wallet.available(GOLD), 0);
}
