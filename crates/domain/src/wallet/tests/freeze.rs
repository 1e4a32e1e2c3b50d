//! Frozen wallets: what they refuse, and what goes on.

use super::{
    GOLD, credit, credits, deduct,
    driver::{Done, Driver},
    hold, hold_id, key,
    shop::pack,
};
use crate::{
    Rejection,
    history::{HoldStatus, Reason},
    text::FreezeReason,
    wallet::{Coverage, deduct::Deduct, draw::Draw, freeze::SetFrozen, shortfall::OnShortfall},
};

fn frozen<R>() -> Result<R, Rejection> {
    Err(Rejection::Frozen {
        reason: FreezeReason::new("why").ok(),
    })
}

/// A frozen wallet with 100 credits, 40 of which a hold has for an hour.
fn holding() -> Driver {
    let mut driver = Driver::new();
    driver.credit(credit("start", 100, None)).unwrap();
    driver.deduct(deduct("before", 10)).unwrap();
    driver
        .place(hold(1, 40, driver.after_seconds(3600)))
        .unwrap();
    assert!(driver.set_frozen(true));
    driver
}

#[test]
fn nothing_is_taken_from_a_frozen_wallet_until_it_is_thawed() {
    let mut driver = holding();
    let before = driver.wallet.clone();
    assert_eq!(driver.deduct(deduct("one", 1)), frozen());
    for short in [OnShortfall::Drain, OnShortfall::Owe] {
        let any = Deduct {
            on_shortfall: short,
            ..deduct("one", 1)
        };
        assert_eq!(driver.charge(any).map(drop), frozen());
    }
    let end = driver.after_seconds(60);
    assert_eq!(driver.place(hold(2, 1, end)), frozen());
    let draw = Draw {
        hold: hold_id(1),
        cost: credits(1).into(),
        key: key("draw"),
        meta: None,
    };
    assert_eq!(driver.draw(draw.clone()), frozen());
    assert_eq!(driver.wallet, before);
    // What was done before is replayed.
    assert!(matches!(
        driver.deduct(deduct("before", 10)),
        Ok(Done::Replayed(_))
    ));
    assert!(driver.set_frozen(false));
    assert_eq!(driver.deduct(deduct("one", 1)), Ok(Done::Applied));
    assert_eq!(driver.draw(draw), Ok(Done::Applied));
}

#[test]
fn what_a_hold_set_aside_is_charged_and_nothing_beyond() {
    let mut driver = holding();
    assert_eq!(driver.settle(hold_id(1), 41), frozen());
    assert_eq!(driver.settle(hold_id(1), 40), Ok(Done::Applied));
    assert_eq!(driver.wallet.available(GOLD), 50);
    let mut driver = holding();
    let met = driver.settle_for(hold_id(1), 41, OnShortfall::Drain);
    let expected = Coverage {
        charged: 40,
        owed: 0,
        uncovered: 1,
    };
    assert_eq!(met.unwrap().coverage, expected);
    assert_eq!(driver.wallet.available(GOLD), 50);
    let mut driver = holding();
    assert_eq!(driver.release(hold_id(1)), Ok(Done::Applied));
    assert_eq!(driver.wallet.available(GOLD), 90);
}

#[test]
fn a_hold_that_expired_while_the_wallet_was_frozen_is_settled_once_it_is_thawed() {
    let mut driver = holding();
    driver.pass_seconds(3600);
    let status = driver.find_hold(hold_id(1)).unwrap().status;
    assert_eq!(status, HoldStatus::Expired);
    let late = driver.settle_for(hold_id(1), 40, OnShortfall::Drain);
    assert_eq!(late.map(drop), frozen());
    driver.set_frozen(false);
    let late = driver.settle_for(hold_id(1), 40, OnShortfall::Drain);
    assert_eq!(late.unwrap().coverage.charged, 40);
}

#[test]
fn grants_and_expiries_go_on() {
    let mut driver = holding();
    let end = driver.after_seconds(60);
    driver.credit(credit("more", 5, Some(end))).unwrap();
    assert_eq!(driver.wallet.available(GOLD), 55);
    driver.pass_seconds(60);
    assert_eq!(driver.wallet.available(GOLD), 50);
    assert_eq!(driver.last_entry().reason, Reason::Expiry);
}

#[test]
fn it_sells_nothing_and_what_was_begun_is_paid_and_refunded() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.set_frozen(true);
    assert_eq!(driver.order(2, pack()), frozen());
    driver.pay(1, 1000).unwrap();
    assert_eq!(driver.wallet.available(GOLD), 100);
    driver.set_frozen(false);
    assert_eq!(driver.order(2, pack()), Ok(true));
}

#[test]
fn a_repeat_changes_nothing_and_another_reason_keeps_the_instant() {
    let mut driver = holding();
    let since = driver.now;
    assert!(!driver.set_frozen(true));
    driver.pass_seconds(60);
    let other = FreezeReason::new("another").ok();
    let change = driver.wallet.set_frozen(SetFrozen::Freeze(other.clone()));
    driver.commit(change.unwrap());
    let freeze = driver.wallet.frozen().unwrap();
    assert_eq!((freeze.since, &freeze.reason), (since, &other));
    assert!(driver.set_frozen(false));
    assert!(!driver.set_frozen(false));
    assert_eq!(driver.wallet.frozen(), None);
}
