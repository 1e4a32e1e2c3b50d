//! Unusual invoices: for several seats, for a tier outside the catalog, for a switch that is settled in the next
//! cycle, paid after the provider had ended it.

use super::{
    GOLD,
    driver::Driver,
    property::check,
    shop::{CLUB, DAY, MONTH, basic, paying, payment, placed, sub, subscribed, tier, unlocked},
};
use crate::{
    Quantity, Rejection, Timestamp,
    history::Reason::{Expiry, Purchase, Refund},
    id::OrderSerial,
    terms::Terms,
    wallet::{
        OrderKind, OrderStatus,
        SubscriptionStatus::{self, Active, Canceled, PastDue},
        bill::{Bill, Pays},
        pay::{PaidCycle, Pay},
        switch::Proration,
        update_subscription::UpdateSubscription,
    },
};

fn plus() -> Terms {
    Terms {
        amount_cents: 2500,
        ..tier("plus", 250)
    }
}

#[test]
fn seats_are_paid_and_granted_one_by_one() {
    let mut driver = subscribed();
    let bill = Bill {
        quantity: Quantity::new(3).unwrap(),
        payment: payment(2, 3000),
        ..driver.renewal(2, 1, basic())
    };
    assert!(driver.renew_with(bill));
    let order = driver.placed_order(2);
    assert_eq!((order.granted_credits, order.quantity.get()), (300, 3));
    // Two more seats for the second half.
    driver.pass_seconds(MONTH / 2);
    let mut more = driver.switching(3, 1, (basic(), basic()));
    more.quantity = Quantity::new(5).unwrap();
    let seats = |seats, given_back| Proration {
        quantity: Quantity::new(seats).unwrap(),
        ..proration(basic(), given_back, driver.now, &driver)
    };
    more.pays = Pays::Switches(vec![seats(5, false), seats(3, true)]);
    assert!(driver.switch_with(more));
    assert_eq!(driver.gold(), 400);
    assert_eq!(unlocked(&driver), ["basic"]);
    check::sound(&driver);
}

#[test]
fn a_bill_of_no_tier_of_ours_pays_the_tier_in_force() {
    let mut driver = subscribed();
    driver.switch(2, 1, plus());
    let bill = Bill {
        terms: None,
        ..driver.renewal(3, 1, basic())
    };
    assert!(driver.renew_with(bill));
    assert_eq!((driver.gold(), unlocked(&driver)), (250, vec!["plus"]));
    let unknown = Bill {
        terms: None,
        billing: driver.billing(9),
        ..driver.renewal(4, 1, basic())
    };
    let command = crate::wallet::purchase::Purchase::Bill(Box::new(unknown));
    assert_eq!(
        driver.purchase(command),
        Err(Rejection::SubscriptionNotFound),
        "it is not lost in silence"
    );
}

/// An invoice that is paid after the provider has ended its subscription.
fn late(driver: &Driver, serial: u128) -> Bill {
    let renewal = driver.renewal(serial, 1, basic());
    Bill {
        billing: PaidCycle {
            after_end: true,
            ..renewal.billing.clone()
        },
        ..renewal
    }
}

#[test]
fn a_bill_that_is_paid_after_the_end_lasts_for_its_own_period() {
    for command in [[true, false], [false, true], [true, true]] {
        let mut driver = subscribed();
        driver.pass_seconds(MONTH);
        let bill = late(&driver, 2);
        driver.pass_seconds(DAY);
        let [end_first, end_last] = command;
        if end_first {
            driver.set_status(1, Canceled);
        }
        assert!(driver.renew_with(bill.clone()));
        if end_last {
            driver.set_status(1, Canceled);
        }
        assert!(!driver.renew_with(bill));
        assert!(!driver.wallet.is_subscribed(CLUB));
        assert_eq!((driver.gold(), unlocked(&driver).len()), (100, 0));
        driver.pass_seconds(MONTH - DAY - 1);
        assert_eq!(driver.gold(), 100);
        driver.pass_seconds(1);
        assert_eq!(driver.gold(), 0);
        check::replays(&driver);
    }
}

fn proration(terms: Terms, given_back: bool, at: Timestamp, driver: &Driver) -> Proration {
    let existing = driver.subscription(1);
    Proration {
        terms,
        quantity: Quantity::ONE,
        given_back,
        at,
        cycle_start: existing.cycle_start,
        cycle_end: existing.cycle_end,
    }
}

#[test]
fn a_switch_that_the_next_bill_settles_brings_its_share_then() {
    for prior_switches_first in [false, true] {
        let mut driver = subscribed();
        driver.pass_seconds(10 * DAY);
        let at = driver.now;
        driver.name_tier(1, plus());
        assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["plus"]));
        // Up, down again after five days, and up again for the last third.
        let there = at.plus_seconds(5 * DAY);
        let again = at.plus_seconds(10 * DAY);
        let lines = vec![
            proration(plus(), false, again, &driver),
            proration(basic(), true, again, &driver),
            proration(basic(), false, there, &driver),
            proration(plus(), true, there, &driver),
            proration(plus(), false, at, &driver),
            proration(basic(), true, at, &driver),
        ];
        driver.pass_seconds(20 * DAY);
        let renewal = driver.renewal(2, 1, plus());
        let prior_switches = Bill {
            order: OrderSerial(3),
            pays: Pays::PriorSwitches(lines),
            payment: payment(3, 750),
            ..renewal.clone()
        };
        let mut bills = [renewal, prior_switches.clone()];
        if prior_switches_first {
            bills.reverse();
        }
        for bill in bills {
            assert!(driver.renew_with(bill.clone()));
            assert!(!driver.renew_with(bill));
        }
        // 150 more credits a cycle, for 5 and for 10 of 30 days.
        assert_eq!([1, 2, 3].map(|order| driver.left_of(order)), [0, 250, 75]);
        assert_eq!(unlocked(&driver), ["plus"]);
        let order = driver.placed_order(3);
        assert_eq!((order.kind, order.granted_credits), (OrderKind::Switch, 75));
        driver.refund(3, 750);
        assert_eq!((driver.gold(), unlocked(&driver)), (250, vec!["plus"]));
        assert_eq!(driver.ledger(GOLD).last(), Some(&(Refund, -75)));
        driver.pass_seconds(MONTH);
        driver.renew(4, 1, plus());
        assert_eq!(driver.gold(), 250);
        check::replays(&driver);
    }
}

#[test]
fn what_waits_for_the_next_bill_never_brings_less_than_nothing() {
    let mut driver = subscribed();
    let at = driver.after_seconds(15 * DAY);
    let lines = vec![
        proration(plus(), true, at, &driver),
        proration(basic(), false, at, &driver),
    ];
    driver.pass_seconds(MONTH);
    let renewal = driver.renewal(2, 1, basic());
    let prior_switches = Bill {
        order: OrderSerial(3),
        pays: Pays::PriorSwitches(lines),
        ..renewal.clone()
    };
    assert!(driver.renew_with(renewal) && driver.renew_with(prior_switches));
    assert_eq!(
        (driver.gold(), driver.placed_order(3).granted_credits),
        (100, 0)
    );
}

#[test]
fn an_item_beside_the_tier_brings_credits_and_changes_no_tier() {
    for add_on_first in [false, true] {
        let mut driver = subscribed();
        driver.pass_seconds(MONTH);
        let renewal = driver.renewal(2, 1, basic());
        let add_on = Bill {
            order: OrderSerial(3),
            is_add_on: true,
            terms: Some(plus()),
            payment: payment(3, 2500),
            ..renewal.clone()
        };
        let mut bills = [renewal, add_on.clone()];
        if add_on_first {
            bills.reverse();
        }
        for bill in bills {
            assert!(driver.renew_with(bill.clone()));
            assert!(!driver.renew_with(bill));
        }
        assert_eq!([1, 2, 3].map(|order| driver.left_of(order)), [0, 100, 250]);
        assert_eq!(unlocked(&driver), ["basic"]);
        driver.refund(3, 2500);
        assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["basic"]));
        // Its credits end with the cycle, as those of the tier do.
        let again = Bill {
            order: OrderSerial(4),
            ..add_on
        };
        assert!(driver.renew_with(again));
        driver.pass_seconds(MONTH);
        assert!(driver.renew(5, 1, basic()));
        assert_eq!(driver.gold(), 100);
        check::replays(&driver);
    }
}

#[test]
fn an_item_of_a_price_that_is_gone_is_not_paid_as_the_tier() {
    let mut driver = subscribed();
    let bill = Bill {
        is_add_on: true,
        terms: None,
        ..driver.renewal(2, 1, basic())
    };
    let command = crate::wallet::purchase::Purchase::Bill(Box::new(bill));
    assert_eq!(
        driver.purchase(command),
        Err(Rejection::SubscriptionNotFound)
    );
}

/// The provider's report of a subscription whose first payment is missing.
fn unpaid(driver: &Driver, status: SubscriptionStatus) -> UpdateSubscription {
    UpdateSubscription {
        subscription: sub(1),
        first: Some(OrderSerial(1)),
        terms: Some(basic()),
        status,
        open_invoice: None,
        collection_paused: false,
        current_period_end: driver.after_seconds(MONTH),
        cancel_at_period_end: false,
        grace_days: 7,
        reported_at: driver.now,
    }
}

#[test]
fn a_first_payment_that_failed_leaves_a_subscription_that_unlocks_nothing() {
    let mut driver = Driver::new();
    driver.order(1, basic()).unwrap();
    driver.process(1).unwrap();
    assert!(!driver.update(unpaid(&driver, Active)), "nothing is paid");
    driver.pass_seconds(3600);
    driver.fail(1).unwrap();
    assert!(driver.update(unpaid(&driver, PastDue)));
    assert!(!driver.update(unpaid(&driver, PastDue)), "reported twice");
    assert_eq!(driver.placed_order(1).status(), OrderStatus::Failed);
    assert_eq!((driver.gold(), unlocked(&driver).len()), (0, 0));
    assert_eq!(
        driver.order(2, basic()),
        Err(Rejection::AlreadySubscribed { open_invoice: None }),
        "it runs on at the provider"
    );
    check::sound(&driver);
    // Its invoice is paid after all; the report that it is active may come first.
    for said_first in [true, false] {
        let mut driver = Driver::new();
        driver.order(1, basic()).unwrap();
        driver.update(unpaid(&driver, PastDue));
        driver.pass_seconds(DAY);
        if said_first {
            assert!(driver.update(unpaid(&driver, Active)));
            assert_eq!(unlocked(&driver).len(), 0);
        }
        let billing = PaidCycle {
            cycle_start: Timestamp(0),
            ..driver.billing(1)
        };
        let pay = Pay {
            billing: Some(billing),
            ..paying(1, 1000)
        };
        driver.pay_with(pay).unwrap();
        driver.update(unpaid(&driver, Active));
        assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["basic"]));
        driver.pass_seconds(MONTH);
        assert!(driver.renew(2, 1, basic()));
        assert_eq!(driver.ledger(GOLD)[1..], [(Expiry, -100), (Purchase, 100)]);
        check::replays(&driver);
    }
    // Or the provider gives it up.
    assert!(driver.update(unpaid(&driver, Canceled)));
    assert_eq!(driver.order(2, basic()), Ok(true));
}

#[test]
fn a_first_bill_that_is_paid_after_the_end_lasts_for_its_own_period() {
    let mut driver = Driver::new();
    driver.order(1, basic()).unwrap();
    driver.update(unpaid(&driver, PastDue));
    let billing = PaidCycle {
        after_end: true,
        ..driver.billing(1)
    };
    driver.pass_seconds(DAY);
    let pay = Pay {
        missing_order: Some(placed(1, basic())),
        billing: Some(billing),
        ..paying(1, 1000)
    };
    driver.pay_with(pay).unwrap();
    assert!(!driver.wallet.is_subscribed(CLUB));
    assert_eq!((driver.gold(), unlocked(&driver).len()), (100, 0));
    driver.pass_seconds(MONTH - DAY);
    assert_eq!(driver.gold(), 0);
    check::replays(&driver);
}

#[test]
fn a_dispute_about_nearly_all_that_is_left_is_whole() {
    for (refunded, disputed, status) in [
        (0, 900, OrderStatus::Refunded),
        (0, 899, OrderStatus::Paid),
        (0, 1100, OrderStatus::Refunded),
        (500, 450, OrderStatus::Refunded),
        (500, 449, OrderStatus::Paid),
        // A refund is exact: nine tenths are not enough.
        (999, 0, OrderStatus::Paid),
    ] {
        let mut driver = Driver::new();
        driver.buy(1, super::shop::unlock("pro"));
        driver.reverse(1, refunded, disputed);
        assert_eq!(
            driver.placed_order(1).status(),
            status,
            "{refunded} refunded, {disputed} disputed"
        );
        let unlocks = status == OrderStatus::Paid;
        assert_eq!(unlocked(&driver) == ["pro"], unlocks);
    }
}
