//! The end of what is open with a provider that the project does not use any more.

use super::{
    credit,
    shop::{MONTH, basic, pack, sub, subscribed, unlocked},
    teller::Teller,
};
use crate::{
    id::OrderSerial,
    wallet::{
        Archive, OrderStatus,
        SubscriptionStatus::{self, Canceled},
    },
};

fn end_all(teller: &mut Teller) {
    let open = teller.wallet.open_with_provider();
    for order in open.orders {
        let events = teller
            .wallet
            .expire_order(order, Archive::default(), teller.now);
        teller.carry_all(events.unwrap());
    }
    for subscription in open.subscriptions {
        let events = teller.wallet.end_subscription(&subscription, teller.now);
        assert!(!events.is_empty(), "it was open");
        teller.carry_all(events);
    }
}

#[test]
fn what_is_open_ends_and_what_was_paid_for_stays() {
    let mut teller = subscribed();
    teller.credit(credit("gift", 5, None)).unwrap();
    teller.buy(2, pack());
    let kept = teller.gold() - 100;
    teller.order(3, pack()).unwrap();
    let open = teller.wallet.open_with_provider();
    assert_eq!(
        (open.orders, open.subscriptions),
        (vec![OrderSerial(3)], vec![sub(1)])
    );
    end_all(&mut teller);
    assert_eq!(teller.subscription(1).status, Canceled);
    assert_eq!(teller.placed_order(3).status(), OrderStatus::Expired);
    assert_eq!(teller.placed_order(2).status(), OrderStatus::Paid);
    // The cycle's own credits are gone, as when it ends; bought and granted ones are there.
    assert_eq!(teller.gold(), kept);
    assert!(!unlocked(&teller).contains(&"basic"));
    assert_eq!(teller.wallet.open_with_provider(), Default::default());
    let before = teller.wallet.clone();
    assert!(
        teller
            .wallet
            .end_subscription(&sub(1), teller.now)
            .is_empty()
    );
    end_all(&mut teller);
    assert_eq!(teller.wallet, before);
}

#[test]
fn what_the_former_clock_dated_ahead_ends_too() {
    let mut teller = subscribed();
    teller.pass_seconds(MONTH / 2);
    assert!(teller.set_status(1, SubscriptionStatus::Paused));
    // The sandbox's clock was ahead of the one that counts now.
    teller.now = teller.after_seconds(-MONTH / 2);
    end_all(&mut teller);
    assert_eq!(teller.subscription(1).status, Canceled);
    assert_eq!(teller.gold(), 0);
    // The product can be subscribed to again.
    assert_eq!(teller.order(2, basic()), Ok(true));
}
