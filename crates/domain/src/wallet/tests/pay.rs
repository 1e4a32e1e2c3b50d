//! What a payment brings: all of it at once, and once.

use super::{
    GOLD, TIN, at, credit, deduct,
    driver::Driver,
    free_grant,
    shop::{DAY, features, pack, paid_at, paying, payment, placed, unlock},
};
use crate::{
    MAX_CREDITS, Rejection,
    history::Reason,
    id::OrderSerial,
    terms::Terms,
    text::Email,
    wallet::{
        Change, OrderKind, OrderStatus, Owner,
        feature::FeatureAction,
        pay::{MintedCode, Pay},
        place_order::PlaceOrder,
        purchase::Purchase,
    },
};

fn status(driver: &Driver, serial: u128) -> OrderStatus {
    driver.placed_order(serial).status()
}

#[test]
fn a_payment_brings_everything_at_once() {
    let mut driver = Driver::new();
    let terms = Terms {
        expire_after_days: Some(10),
        features: features(&["pro"]),
        ..pack()
    };
    driver.order(1, terms).unwrap();
    driver.pass_seconds(60);
    assert_eq!(driver.pay(1, 800), Ok(true));
    let order = driver.placed_order(1);
    assert_eq!(paid_at(order), (OrderStatus::Paid, Some(driver.now)));
    assert_eq!(order.amount_cents, 800, "what was charged");
    assert_eq!(order.payment, payment(1, 800).payment);
    assert_eq!(order.email, payment(1, 800).email);
    assert_eq!(
        driver.wallet.portal_customer(None).unwrap().as_str(),
        "cus_ann"
    );
    assert_eq!(driver.wallet.features(driver.now), ["pro"]);
    let end = driver.after_seconds(10 * DAY);
    let entry = driver.records[0].entry().unwrap();
    assert_eq!(
        (entry.reason, entry.delta, entry.balance_after),
        (Reason::Purchase, 100, 100)
    );
    assert_eq!(
        (entry.order, entry.expires_at),
        (Some(OrderSerial(1)), Some(end))
    );
    assert_eq!((entry.key.as_ref(), driver.entries().len()), (None, 1));
    let lot = driver.wallet.account(GOLD).unwrap().lots()[0];
    assert_eq!((lot.source, lot.expires_at), (Reason::Purchase, end));
    assert_eq!(lot.order, Some(OrderSerial(1)));
}

#[test]
fn a_payment_is_fulfilled_once_however_often_it_is_reported() {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    driver.deduct(deduct("d", 30)).unwrap();
    let before = driver.wallet.clone();
    assert_eq!(driver.pay(1, 1000), Ok(false));
    assert_eq!(driver.pay(1, 1), Ok(false));
    assert_eq!(driver.fail(1), Ok(false));
    assert_eq!(driver.expire(1), Ok(false));
    assert_eq!(driver.wallet, before);
    driver.pass_seconds(2 * DAY);
    assert_eq!(
        status(&driver, 1),
        OrderStatus::Paid,
        "the clock leaves it alone too"
    );
}

#[test]
fn bought_credits_expire_with_their_order_named() {
    let mut driver = Driver::new();
    driver.buy(
        1,
        Terms {
            expire_after_days: Some(1),
            ..pack()
        },
    );
    driver.deduct(deduct("d", 30)).unwrap();
    driver.pass_seconds(5 * DAY);
    let last = driver.records.last().unwrap();
    let entry = last.entry().unwrap();
    assert_eq!((entry.reason, entry.delta), (Reason::Expiry, -70));
    assert_eq!(entry.order, Some(OrderSerial(1)));
    assert_eq!(last.at, at("2026-03-03T09:00:00Z"));
    assert_eq!(status(&driver, 1), OrderStatus::Paid);
}

#[test]
fn a_payment_that_completes_after_all_is_never_discarded() {
    let mut driver = Driver::new();
    for serial in [1, 2, 3] {
        driver.order(serial, pack()).unwrap();
    }
    driver.fail(1).unwrap();
    driver.expire(2).unwrap();
    driver.pass_seconds(3 * DAY);
    for serial in [1, 2, 3] {
        assert_eq!(driver.pay(serial, 1000), Ok(true));
        assert_eq!(
            paid_at(driver.placed_order(serial)),
            (OrderStatus::Paid, Some(driver.now))
        );
    }
    assert_eq!(driver.gold(), 300);
}

#[test]
fn an_order_that_never_became_visible_is_fulfilled_all_the_same() {
    let mut driver = Driver::new();
    let stranger = Pay {
        missing_order: Some(placed(2, pack())),
        ..paying(1, 500)
    };
    assert_eq!(driver.pay_with(stranger), Err(Rejection::OrderNotFound));
    let unseen = Pay {
        missing_order: Some(placed(1, pack())),
        ..paying(1, 500)
    };
    assert_eq!(driver.pay_with(unseen.clone()), Ok(true));
    let order = driver.placed_order(1);
    assert_eq!(
        (order.status(), order.kind),
        (OrderStatus::Paid, OrderKind::Checkout)
    );
    assert_eq!(order.checkout, placed(1, pack()).checkout);
    assert_eq!((order.amount_cents, driver.gold()), (500, 100));
    assert_eq!(driver.pay_with(unseen), Ok(false));
    assert_eq!(driver.gold(), 100);
}

#[test]
fn a_payment_of_an_order_that_names_no_wallet_mints_a_code() {
    let mut driver = Driver::born(at("2026-03-02T09:00:00Z"), Owner::Order);
    driver.rules = vec![free_grant::daily(10)];
    driver.order(1, pack()).unwrap();
    driver.pass_seconds(3 * DAY);
    assert_eq!((driver.gold(), &driver.wallet.owner), (0, &Owner::Order));
    assert_eq!(status(&driver, 1), OrderStatus::Expired);
    driver.pay(1, 1000).unwrap();
    let MintedCode { hash, sealed } = paying(1, 1000).code;
    assert_eq!(driver.wallet.owner, Owner::Code { hash, sealed });
    let after_payment = driver.ledger(GOLD);
    assert_eq!(
        after_payment,
        [(Reason::Purchase, 100), (Reason::FreeGrant, 10)],
        "and from now on it is a wallet like any other"
    );
}

#[test]
fn the_credits_fill_the_product_that_the_price_names() {
    let mut driver = Driver::new();
    driver.buy(
        1,
        Terms {
            fills: TIN,
            ..pack()
        },
    );
    assert_eq!((driver.wallet.available(TIN), driver.gold()), (100, 0));
}

#[test]
fn a_purchase_without_credits_writes_no_entry() {
    let mut driver = Driver::new();
    driver.buy(1, unlock("pro"));
    assert_eq!(status(&driver, 1), OrderStatus::Paid);
    assert_eq!(
        (driver.entries().len(), driver.wallet.accounts().len()),
        (0, 0)
    );
}

#[test]
fn bought_features_are_kept_apart_from_manual_ones() {
    let mut driver = Driver::new();
    driver.buy(1, unlock("pro"));
    driver.set_feature("beta", FeatureAction::Grant);
    driver.set_feature("pro", FeatureAction::Grant);
    assert_eq!(
        driver.wallet.features(driver.now),
        ["beta", "pro"],
        "named once"
    );
    assert!(driver.set_feature("pro", FeatureAction::Revoke));
    assert_eq!(
        driver.wallet.features(driver.now),
        ["beta", "pro"],
        "bought is bought"
    );
    assert!(!driver.set_feature("pro", FeatureAction::Revoke));
}

#[test]
fn features_of_an_unpaid_order_stay_locked() {
    let mut driver = Driver::new();
    driver.order(1, unlock("pro")).unwrap();
    assert!(driver.wallet.features(driver.now).is_empty());
    driver.fail(1).unwrap();
    assert!(driver.wallet.features(driver.now).is_empty());
}

#[test]
fn a_payment_into_a_full_balance_brings_what_fits() {
    let mut driver = Driver::new();
    driver
        .credit(credit("much", MAX_CREDITS - 40, None))
        .unwrap();
    driver.buy(1, pack());
    assert_eq!(
        (driver.gold(), driver.placed_order(1).granted_credits),
        (MAX_CREDITS, 40)
    );
    driver.buy(2, pack());
    assert_eq!(
        (status(&driver, 2), driver.placed_order(2).granted_credits),
        (OrderStatus::Paid, 0)
    );
    assert_eq!(driver.entries().len(), 2);
}

#[test]
fn addresses_of_paid_orders_are_kept_from_payment_or_checkout() {
    let mut driver = Driver::new();
    let email = Email::new("typed@example.org").unwrap();
    for serial in [1, 2, 3] {
        let command = PlaceOrder {
            email: Some(email.clone()),
            ..placed(serial, pack())
        };
        assert_eq!(driver.purchase(Purchase::Place(command)), Ok(true));
    }
    driver.pay(1, 1000).unwrap();
    let mut silent = paying(2, 1000);
    silent.payment.email = None;
    driver.pay_with(silent).unwrap();
    driver.refund(2, 1000);
    let changes = driver
        .events
        .iter()
        .filter_map(|event| match &event.change {
            Change::OrderPaid(paid) => paid.email.as_ref().map(Email::as_str),
            _ => None,
        });
    let changes: Vec<&str> = changes.collect();
    assert_eq!(changes, ["ann@example.org", "typed@example.org"]);
    let kept = [1, 2, 3].map(|serial| driver.placed_order(serial).email.clone());
    let kept = kept.map(|email| email.unwrap().as_str().to_owned());
    assert_eq!(
        kept,
        ["ann@example.org", "typed@example.org", "typed@example.org"]
    );
}

#[test]
fn a_payment_that_names_no_customer_forgets_none() {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    driver.order(2, pack()).unwrap();
    let mut silent = paying(2, 0);
    silent.payment.customer = None;
    driver.pay_with(silent).unwrap();
    assert_eq!(driver.wallet.customer().unwrap().as_str(), "cus_ann");
}
