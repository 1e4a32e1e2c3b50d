//! The end of what is open with a provider that the project does not use any more.

use super::{
    credit,
    driver::Driver,
    shop::{MONTH, basic, pack, subscribed, unlocked},
};
use crate::wallet::{
    OrderStatus,
    SubscriptionStatus::{self, Canceled},
};

/// Ends all that is open; returns how much that was.
fn end_all(driver: &mut Driver) -> usize {
    let mut ended = 0;
    while let Some(events) = driver.wallet.end_with_provider(driver.now).unwrap() {
        driver.carry_all(events);
        ended += 1;
    }
    ended
}

#[test]
fn what_is_open_ends_and_what_was_paid_for_stays() {
    let mut driver = subscribed();
    driver.credit(credit("bonus", 5, None)).unwrap();
    driver.buy(2, pack());
    let kept = driver.gold() - 100;
    driver.order(3, pack()).unwrap();
    assert_eq!(end_all(&mut driver), 2, "an order and a subscription");
    assert_eq!(driver.subscription(1).status, Canceled);
    assert_eq!(driver.placed_order(3).status(), OrderStatus::Expired);
    assert_eq!(driver.placed_order(2).status(), OrderStatus::Paid);
    // The cycle's own credits are gone, as when it ends; bought and granted ones are there.
    assert_eq!(driver.gold(), kept);
    assert!(!unlocked(&driver).contains(&"basic"));
    let before = driver.wallet.clone();
    assert_eq!(end_all(&mut driver), 0);
    assert_eq!(driver.wallet, before);
}

#[test]
fn what_the_former_clock_dated_ahead_ends_too() {
    let mut driver = subscribed();
    driver.pass_seconds(MONTH / 2);
    assert!(driver.set_status(1, SubscriptionStatus::Paused));
    // The sandbox's clock was ahead of the one that counts now.
    driver.now = driver.after_seconds(-MONTH / 2);
    assert_eq!(end_all(&mut driver), 1);
    assert_eq!(driver.subscription(1).status, Canceled);
    assert_eq!(driver.gold(), 0);
    // The product can be subscribed to again.
    assert_eq!(driver.order(2, basic()), Ok(true));
}
