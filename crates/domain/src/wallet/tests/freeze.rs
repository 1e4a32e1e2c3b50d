//! Frozen wallets: what they refuse, and what goes on.

use super::{
    GOLD, credit, credits, deduct, hold, hold_id, key,
    shop::pack,
    teller::{Done, Teller},
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
fn holding() -> Teller {
    let mut teller = Teller::new();
    teller.credit(credit("start", 100, None)).unwrap();
    teller.deduct(deduct("before", 10)).unwrap();
    teller
        .place(hold(1, 40, teller.after_seconds(3600)))
        .unwrap();
    assert!(teller.set_frozen(true));
    teller
}

#[test]
fn nothing_is_taken_from_a_frozen_wallet_until_it_is_thawed() {
    let mut teller = holding();
    let before = teller.wallet.clone();
    assert_eq!(teller.deduct(deduct("one", 1)), frozen());
    for short in [OnShortfall::Drain, OnShortfall::Owe] {
        let any = Deduct {
            on_shortfall: short,
            ..deduct("one", 1)
        };
        assert_eq!(teller.charge(any).map(drop), frozen());
    }
    let end = teller.after_seconds(60);
    assert_eq!(teller.place(hold(2, 1, end)), frozen());
    let draw = Draw {
        hold: hold_id(1),
        amount: credits(1),
        key: key("draw"),
        meta: None,
    };
    assert_eq!(teller.draw(draw.clone()), frozen());
    assert_eq!(teller.wallet, before);
    // What was done before is told again.
    assert!(matches!(
        teller.deduct(deduct("before", 10)),
        Ok(Done::Replayed(_))
    ));
    assert!(teller.set_frozen(false));
    assert_eq!(teller.deduct(deduct("one", 1)), Ok(Done::Applied));
    assert_eq!(teller.draw(draw), Ok(Done::Applied));
}

#[test]
fn what_a_hold_set_aside_is_charged_and_nothing_beyond() {
    let mut teller = holding();
    assert_eq!(teller.settle(hold_id(1), 41), frozen());
    assert_eq!(teller.settle(hold_id(1), 40), Ok(Done::Applied));
    assert_eq!(teller.wallet.available(GOLD), 50);
    let mut teller = holding();
    let met = teller.settle_for(hold_id(1), 41, OnShortfall::Drain);
    let expected = Coverage {
        charged: 40,
        owed: 0,
        uncovered: 1,
    };
    assert_eq!(met.unwrap().coverage, expected);
    assert_eq!(teller.wallet.available(GOLD), 50);
    let mut teller = holding();
    assert_eq!(teller.release(hold_id(1)), Ok(Done::Applied));
    assert_eq!(teller.wallet.available(GOLD), 90);
}

#[test]
fn a_hold_that_expired_while_the_wallet_was_frozen_is_settled_once_it_is_thawed() {
    let mut teller = holding();
    teller.pass_seconds(3600);
    let status = teller.find_hold(hold_id(1)).unwrap().status;
    assert_eq!(status, HoldStatus::Expired);
    let late = teller.settle_for(hold_id(1), 40, OnShortfall::Drain);
    assert_eq!(late.map(drop), frozen());
    teller.set_frozen(false);
    let late = teller.settle_for(hold_id(1), 40, OnShortfall::Drain);
    assert_eq!(late.unwrap().coverage.charged, 40);
}

#[test]
fn grants_and_expiries_go_on() {
    let mut teller = holding();
    let end = teller.after_seconds(60);
    teller.credit(credit("more", 5, Some(end))).unwrap();
    assert_eq!(teller.wallet.available(GOLD), 55);
    teller.pass_seconds(60);
    assert_eq!(teller.wallet.available(GOLD), 50);
    assert_eq!(teller.last_entry().reason, Reason::Expiry);
}

#[test]
fn it_sells_nothing_and_what_was_begun_is_paid_and_refunded() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.set_frozen(true);
    assert_eq!(teller.order(2, pack()), frozen());
    teller.pay(1, 1000).unwrap();
    assert_eq!(teller.wallet.available(GOLD), 100);
    teller.set_frozen(false);
    assert_eq!(teller.order(2, pack()), Ok(true));
}

#[test]
fn a_repeat_changes_nothing_and_another_reason_keeps_the_instant() {
    let mut teller = holding();
    let since = teller.now;
    assert!(!teller.set_frozen(true));
    teller.pass_seconds(60);
    let other = FreezeReason::new("another").ok();
    let change = teller.wallet.set_frozen(SetFrozen::Freeze(other.clone()));
    teller.commit(change.unwrap());
    let freeze = teller.wallet.frozen().unwrap();
    assert_eq!((freeze.since, &freeze.reason), (since, &other));
    assert!(teller.set_frozen(false));
    assert!(!teller.set_frozen(false));
    assert_eq!(teller.wallet.frozen(), None);
}
