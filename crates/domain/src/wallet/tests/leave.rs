//! The end of what is open with a provider that the project does not use any more.

use super::{
    credit,
    driver::Driver,
    shop::{MONTH, basic, pack, sub, subscribed, unlocked},
};
use crate::{
    id::OrderSerial,
    wallet::{
        Archive, OrderStatus,
        SubscriptionStatus::{self, Canceled},
    },
};

fn end_all(driver: &mut Driver) {
    let open = driver.wallet.open_with_provider();
    for order in open.orders {
        let events = driver
            .wallet
            .expire_order(order, Archive::default(), driver.now);
        driver.carry_all(events.unwrap());
    }
    for subscription in open.subscriptions {
        let events = driver.wallet.end_subscription(&subscription, driver.now);
        assert!(!events.is_empty(), "it was open");
        driver.carry_all(events);
    }
}

#[test]
fn what_is_open_ends_and_what_was_paid_for_stays() {
    let mut driver = subscribed();
    driver.credit(credit("bonus", 5, None)).unwrap();
    driver.buy(2, pack());
    let kept = driver.gold() - 100;
    driver.order(3, pack()).unwrap();
    let open = driver.wallet.open_with_provider();
    assert_eq!(
        (open.orders, open.subscriptions),
        (vec![OrderSerial(3)], vec![sub(1)])
    );
    end_all(&mut driver);
    assert_eq!(driver.subscription(1).status, Canceled);
    assert_eq!(driver.placed_order(3).status(), OrderStatus::Expired);
    assert_eq!(driver.placed_order(2).status(), OrderStatus::Paid);
    // The cycle's own credits are gone, as when it ends; bought and granted ones are there.
    assert_eq!(driver.gold(), kept);
    assert!(!unlocked(&driver).contains(&"basic"));
    assert_eq!(driver.wallet.open_with_provider(), Default::default());
    let before = driver.wallet.clone();
    assert!(
        driver
            .wallet
            .end_subscription(&sub(1), driver.now)
            .is_empty()
    );
    end_all(&mut driver);
    assert_eq!(driver.wallet, before);
}

#[test]
fn what_the_former_clock_dated_ahead_ends_too() {
    let mut driver = subscribed();
    driver.pass_seconds(MONTH / 2);
    assert!(driver.set_status(1, SubscriptionStatus::Paused));
    // The sandbox's clock was ahead of the one that counts now.
    driver.now = driver.after_seconds(-MONTH / 2);
    end_all(&mut driver);
    assert_eq!(driver.subscription(1).status, Canceled);
    assert_eq!(driver.gold(), 0);
    // The product can be subscribed to again.
    assert_eq!(driver.order(2, basic()), Ok(true));
}
