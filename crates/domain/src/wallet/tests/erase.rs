//! What an order says about a person goes, and nothing else.

use std::collections::BTreeMap;

use super::{
    driver::Driver,
    shop::{DAY, pack, paying, placed},
};
use crate::{
    Rejection,
    id::OrderSerial,
    metadata::Metadata,
    text::Email,
    wallet::{
        OrderStatus,
        place_order::PlaceOrder,
        purchase::{OrderReport, Purchase},
    },
};

fn about_ada(serial: u128) -> PlaceOrder {
    let pairs = BTreeMap::from([("name".into(), "Ada".into())]);
    PlaceOrder {
        email: Some(Email::new("ada@shop.example").unwrap()),
        metadata: Metadata::new(pairs).unwrap(),
        ..placed(serial, pack())
    }
}

fn erase(driver: &mut Driver, serial: u128) -> Result<bool, Rejection> {
    driver.purchase(Purchase::Report(OrderSerial(serial), OrderReport::Erased))
}

#[test]
fn a_settled_order_and_a_pending_one_forget_their_buyer_and_keep_their_money() {
    let mut driver = Driver::new();
    for serial in [1, 2] {
        driver.purchase(Purchase::Place(about_ada(serial))).unwrap();
    }
    driver.pay_with(paying(1, 1000)).unwrap();
    driver.pass_seconds(60);
    let (before, credits) = (driver.placed_order(1).clone(), driver.gold());
    assert!(before.email.is_some() && !before.metadata.is_empty());
    for serial in [1, 2] {
        assert_eq!(erase(&mut driver, serial), Ok(true));
        let order = driver.placed_order(serial);
        assert_eq!((&order.email, order.metadata.is_empty()), (&None, true));
    }
    let order = driver.placed_order(1);
    assert_eq!(order.customer, before.customer);
    assert_eq!(order.amount_cents, before.amount_cents);
    assert_eq!(order.status(), OrderStatus::Paid);
    assert_eq!(driver.gold(), credits);

    // It is refunded as any other, and expires as any other.
    assert!(driver.refund(1, 1000));
    assert_eq!(driver.gold(), 0);
    driver.pass_seconds(2 * DAY);
    assert_eq!(driver.placed_order(2).status(), OrderStatus::Expired);
    assert_eq!(driver.placed_order(1).email, None);
}

#[test]
fn erasing_again_changes_nothing() {
    let mut driver = Driver::new();
    driver.purchase(Purchase::Place(about_ada(1))).unwrap();
    driver.pay_with(paying(1, 1000)).unwrap();
    erase(&mut driver, 1).unwrap();
    let before = driver.wallet.clone();
    assert_eq!(erase(&mut driver, 1), Ok(false));
    assert_eq!(driver.wallet, before);
    assert_eq!(erase(&mut driver, 9), Err(Rejection::OrderNotFound));
}
