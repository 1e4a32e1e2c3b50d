//! A wallet that has bought for years is no larger and decides no slower than one that is new.

use super::{
    GOLD, deduct, hold,
    shop::{DAY, basic, features, pack, paying, placed, sub, tier, unlock},
    teller::{Done, Teller},
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
fn purchase(teller: &mut Teller, serial: u128) -> (Vec<String>, u64, usize) {
    let before = teller.events.len();
    visits_taken();
    teller.buy(serial, pack());
    let kinds = teller.events[before..].iter().map(|event| {
        let name = format!("{:?}", event.change);
        name.split(['(', ' ', '{']).next().unwrap().to_owned()
    });
    let kinds = kinds.collect();
    (kinds, visits_taken(), size(&teller.wallet))
}

/// Terms that one wallet may buy again and again.
fn again() -> Terms {
    Terms {
        repeatable: true,
        ..unlock("pro")
    }
}

#[test]
fn a_hundred_thousand_orders_leave_nothing_behind() {
    let mut fresh = Teller::new();
    let mut old = Teller::new();
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
    for teller in [&mut fresh, &mut old] {
        teller.buy(200_000, again());
    }
    assert_eq!(old.wallet.orders().count(), 0);
    let (events, steps, bytes) = purchase(&mut fresh, 200_001);
    let (old_events, old_steps, old_bytes) = purchase(&mut old, 200_001);
    assert_eq!(
        events,
        ["OrderPlaced", "OrderPaid", "OrderArchived"],
        "and nothing that grows"
    );
    assert_eq!((old_events, old_steps), (events, steps));
    // Larger numbers take a few bytes more, and so does the lot that the last deduction took from.
    assert!(old_bytes <= bytes + 96, "{old_bytes} bytes beside {bytes}");
    for (teller, name) in [(&mut fresh, "a"), (&mut old, "a")] {
        visits_taken();
        teller.deduct(deduct(name, 1)).unwrap();
        assert!(visits_taken() < 12);
        assert_eq!(teller.wallet.features(teller.now), ["pro"]);
    }
}

#[test]
fn a_purchase_costs_no_more_beside_a_thousand_lots_and_holds() {
    let mut teller = Teller::new();
    teller.keeps_states = false;
    let (_, steps, _) = purchase(&mut teller, 100_000);
    for serial in 0..1000 {
        teller.buy(serial, pack());
        let end = teller.after_seconds(DAY);
        teller.place(hold(serial, 50, end)).unwrap();
    }
    let (events, more, _) = purchase(&mut teller, 100_001);
    assert_eq!(events.len(), 3);
    assert!(more <= steps + 2, "{more} steps beside {steps}");
    visits_taken();
    assert!(teller.refund(999, 1000));
    assert!(visits_taken() < 24);
    assert_eq!(teller.left_of(999), 0);
}

#[test]
fn a_settled_order_is_a_fact_of_the_history() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.order(2, pack()).unwrap();
    teller.order(3, pack()).unwrap();
    teller.pay(1, 900).unwrap();
    teller.fail(2).unwrap();
    assert_eq!(teller.wallet.orders().count(), 1, "one can still change");
    teller.pass_seconds(DAY);
    assert_eq!(teller.wallet.orders().count(), 0, "the clock took it");
    let archived = teller.records.iter().filter_map(|record| record.order());
    let archived: Vec<_> = archived.map(|a| (a.serial.0, a.order.status())).collect();
    assert_eq!(
        archived,
        [
            (1, OrderStatus::Paid),
            (2, OrderStatus::Failed),
            (3, OrderStatus::Expired)
        ]
    );
    let entries = teller.records.iter().filter(|r| r.entry().is_some());
    assert_eq!(entries.count(), 1, "it is no ledger entry");
}

#[test]
fn the_last_record_of_an_order_counts() {
    let mut teller = Teller::new();
    teller.buy(1, pack());
    assert!(teller.refund(1, 300));
    assert!(teller.refund(1, 500));
    let refunded = teller.records.iter().filter_map(|record| record.order());
    let refunded: Vec<_> = refunded.map(|a| a.order.reversal.refunded_cents).collect();
    assert_eq!(refunded, [0, 300, 500]);
    assert_eq!(
        (teller.placed_order(1).reclaimed_credits, teller.gold()),
        (50, 50)
    );
}

#[test]
fn a_report_that_changes_nothing_recalls_nothing() {
    let mut teller = Teller::new();
    teller.buy(1, pack());
    teller.refund(1, 300);
    teller.order(2, pack()).unwrap();
    teller.fail(2).unwrap();
    let before = (teller.wallet.clone(), teller.events.len());
    assert_eq!(teller.pay(1, 1000), Ok(false), "paid twice");
    let placed_along = Pay {
        missing_order: Some(placed(1, pack())),
        ..paying(1, 1000)
    };
    assert_eq!(teller.pay_with(placed_along), Ok(false));
    assert_eq!(teller.order(1, pack()), Ok(false), "placed late");
    assert!(!teller.refund(1, 300) && !teller.reverse(1, 300, 0));
    assert_eq!((teller.fail(1), teller.expire(1)), (Ok(false), Ok(false)));
    assert_eq!((teller.fail(2), teller.expire(2)), (Ok(false), Ok(false)));
    assert_eq!(teller.fail(3), Err(Rejection::OrderNotFound));
    assert_eq!((teller.wallet.clone(), teller.events.len()), before);
}

#[test]
fn a_late_payment_recalls_its_order_first_and_archives_it_last() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.pass_seconds(2 * DAY);
    let before = teller.events.len();
    assert_eq!(teller.pay(1, 1000), Ok(true));
    let changes: Vec<_> = teller.events[before..].iter().map(|e| &e.change).collect();
    let order = OrderSerial(1);
    assert!(matches!(changes[0], Change::OrderRecalled(a) if a.serial == order));
    assert!(matches!(changes[1], Change::OrderPaid(paid) if paid.order == order));
    assert_eq!(*changes[2], Change::OrderArchived { order });
    assert_eq!((changes.len(), teller.gold()), (3, 100));
    assert_eq!(teller.placed_order(1).status(), OrderStatus::Paid);
}

#[test]
fn features_bought_twice_go_when_both_are_refunded() {
    let mut teller = Teller::new();
    let both = Terms {
        features: features(&["pro", "beta"]),
        ..unlock("pro")
    };
    teller.buy(1, unlock("pro"));
    teller.buy(2, both);
    assert_eq!(teller.wallet.features(teller.now), ["beta", "pro"]);
    teller.refund(2, 1000);
    assert_eq!(teller.wallet.features(teller.now), ["pro"]);
    teller.dispute(1, 1000);
    assert!(teller.wallet.features(teller.now).is_empty());
    teller.dispute(1, 0);
    assert_eq!(teller.wallet.features(teller.now), ["pro"]);
    teller.refund(1, 300);
    assert_eq!(teller.wallet.features(teller.now), ["pro"], "in part");
}

#[test]
fn a_dispute_won_after_its_cycle_gives_nothing_back_for_good() {
    for ended_by_cancellation in [false, true] {
        let mut teller = Teller::new();
        teller.subscribe(1, 1, basic());
        teller.dispute(1, 1000);
        teller.pass_seconds(10);
        if ended_by_cancellation {
            teller.set_status(1, SubscriptionStatus::Canceled);
        } else {
            teller.renew(2, 1, basic());
        }
        teller.pass_seconds(10);
        teller.dispute(1, 0);
        assert_eq!(teller.left_of(1), 0, "its cycle is over");
        teller.dispute(2, 1000);
        teller.dispute(2, 0);
        let current = if ended_by_cancellation { 0 } else { 100 };
        assert_eq!(teller.gold(), current, "the current one's come back");
        if !ended_by_cancellation {
            teller.renew(3, 1, basic());
            assert_eq!((teller.left_of(2), teller.gold()), (0, 100));
        }
    }
}

#[test]
fn subscriptions_that_are_over_leave_nothing_behind() {
    let mut teller = Teller::new();
    teller.keeps_states = false;
    let mut after_first = 0;
    for number in 0..200 {
        teller.subscribe(number, number, tier("basic", 10));
        teller.set_status(number, SubscriptionStatus::Canceled);
        assert!(teller.wallet.subscription(&sub(number)).is_none());
        if number == 0 {
            after_first = size(&teller.wallet);
        }
    }
    assert!(size(&teller.wallet) <= after_first + 16);
    let over = |fact: &RecordContent| matches!(fact, RecordContent::SubscriptionOver(_));
    let over = teller.records.iter().filter(|record| over(&record.fact));
    assert_eq!(over.count(), 200);
    let before = teller.events.len();
    assert!(!teller.update(teller.report(7)), "old news");
    assert_eq!(teller.events.len(), before);
    let late = teller.renewal(500, 7, tier("basic", 10));
    assert!(teller.purchase(Purchase::Bill(Box::new(late))).unwrap());
    assert_eq!(teller.wallet.subscriptions().count(), 0, "it stays over");
    assert_eq!(teller.wallet.available(GOLD), 0);
}
