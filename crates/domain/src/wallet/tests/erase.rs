//! What an order says about a person goes, and nothing else.

use std::collections::BTreeMap;

use super::{
    shop::{DAY, pack, paying, placed},
    teller::Teller,
};
use crate::{
    Rejection,
    id::OrderSerial,
    metadata::Metadata,
    text::Email,
    wallet::{OrderStatus, place_order::PlaceOrder, purchase::Purchase},
};

fn about_ada(serial: u128) -> PlaceOrder {
    let pairs = BTreeMap::from([("name".into(), "Ada".into())]);
    PlaceOrder {
        email: Some(Email::new("ada@shop.example").unwrap()),
        metadata: Metadata::new(pairs).unwrap(),
        ..placed(serial, pack())
    }
}

fn erase(teller: &mut Teller, serial: u128) -> Result<bool, Rejection> {
    teller.purchase(Purchase::Erase(OrderSerial(serial)))
}

#[test]
fn a_settled_order_and_a_pending_one_forget_their_buyer_and_keep_their_money() {
    let mut teller = Teller::new();
    for serial in [1, 2] {
        teller.purchase(Purchase::Place(about_ada(serial))).unwrap();
    }
    teller.pay_with(paying(1, 1000)).unwrap();
    teller.pass_seconds(60);
    let (before, credits) = (teller.placed_order(1).clone(), teller.gold());
    assert!(before.email.is_some() && !before.metadata.is_empty());
    for serial in [1, 2] {
        assert_eq!(erase(&mut teller, serial), Ok(true));
        let order = teller.placed_order(serial);
        assert_eq!((&order.email, order.metadata.is_empty()), (&None, true));
    }
    let order = teller.placed_order(1);
    assert_eq!(order.customer, before.customer);
    assert_eq!(order.amount_cents, before.amount_cents);
    assert_eq!(order.status(), OrderStatus::Paid);
    assert_eq!(teller.gold(), credits);

    // It is refunded as any other, and expires as any other.
    assert!(teller.refund(1, 1000));
    assert_eq!(teller.gold(), 0);
    teller.pass_seconds(2 * DAY);
    assert_eq!(teller.placed_order(2).status(), OrderStatus::Expired);
    assert_eq!(teller.placed_order(1).email, None);
}

#[test]
fn erasing_again_changes_nothing() {
    let mut teller = Teller::new();
    teller.purchase(Purchase::Place(about_ada(1))).unwrap();
    teller.pay_with(paying(1, 1000)).unwrap();
    erase(&mut teller, 1).unwrap();
    let before = teller.wallet.clone();
    assert_eq!(erase(&mut teller, 1), Ok(false));
    assert_eq!(teller.wallet, before);
    assert_eq!(erase(&mut teller, 9), Err(Rejection::OrderNotFound));
}
