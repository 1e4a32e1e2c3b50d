//! At the edge of what JSON carries exactly: 2^53 - 1.

use super::{
    GOLD, TIN, credit, deduct,
    driver::{Done, Driver},
    free_grant, hold, hold_id,
};
use crate::{Amount, MAX_CREDITS, Rejection, history::Reason, wallet::credit::Credit};

fn full() -> Driver {
    let mut driver = Driver::new();
    assert_eq!(
        driver.credit(credit("all", MAX_CREDITS, None)),
        Ok(Done::Applied)
    );
    driver
}

#[test]
fn amounts_are_one_up_to_the_limit() {
    assert_eq!(MAX_CREDITS, 9_007_199_254_740_991);
    for outside in [0, -1, i64::MIN, MAX_CREDITS + 1, i64::MAX] {
        assert_eq!(Amount::new(outside), None, "{outside}");
    }
    assert_eq!(Amount::new(MAX_CREDITS).map(Amount::get), Some(MAX_CREDITS));
}

#[test]
fn a_balance_fills_to_the_limit_and_not_past_it() {
    let mut driver = Driver::new();
    driver
        .credit(credit("most", MAX_CREDITS - 1, None))
        .unwrap();
    assert_eq!(
        driver.credit(credit("two", 2, None)),
        Err(Rejection::BalanceLimit)
    );
    assert_eq!(
        driver.credit(credit("two", 1, None)),
        Ok(Done::Applied),
        "the key was not used up"
    );
    assert_eq!(
        driver.credit(credit("more", 1, None)),
        Err(Rejection::BalanceLimit)
    );
    assert_eq!(
        driver.credit(credit("more", MAX_CREDITS, None)),
        Err(Rejection::BalanceLimit)
    );
    assert_eq!(driver.wallet.available(GOLD), MAX_CREDITS);
}

#[test]
fn each_product_has_the_limit_for_itself() {
    let mut driver = full();
    let other_product = Credit {
        product: TIN,
        ..credit("tin", MAX_CREDITS, None)
    };
    assert_eq!(driver.credit(other_product), Ok(Done::Applied));
}

#[test]
fn the_whole_limit_can_be_spent_at_once() {
    let mut driver = full();
    assert_eq!(driver.deduct(deduct("all", MAX_CREDITS)), Ok(Done::Applied));
    assert_eq!(driver.wallet.available(GOLD), 0);
    assert_eq!(
        driver.deduct(deduct("again", MAX_CREDITS)),
        Err(Rejection::Insufficient {
            product: GOLD,
            balance: 0,
            requested: MAX_CREDITS,
            shortfall: MAX_CREDITS
        })
    );
    assert_eq!(
        driver.credit(credit("again", MAX_CREDITS, None)),
        Ok(Done::Applied)
    );
}

#[test]
fn held_credits_count_towards_the_limit_for_they_may_come_back() {
    let mut driver = full();
    driver
        .place(hold(1, MAX_CREDITS, driver.after_seconds(60)))
        .unwrap();
    assert_eq!(driver.wallet.available(GOLD), 0);
    assert_eq!(
        driver.credit(credit("more", 1, None)),
        Err(Rejection::BalanceLimit)
    );
    driver.settle(hold_id(1), MAX_CREDITS - 1).unwrap();
    assert_eq!(driver.wallet.available(GOLD), 1);
    let room = MAX_CREDITS - 1;
    assert_eq!(driver.credit(credit("more", room, None)), Ok(Done::Applied));
}

#[test]
fn settling_for_absurdly_much_is_refused_for_lack_of_funds() {
    let mut driver = full();
    driver.place(hold(1, 1, driver.after_seconds(60))).unwrap();
    for cost in [MAX_CREDITS + 1, i64::MAX] {
        let refusal = driver.settle(hold_id(1), cost).unwrap_err();
        assert!(matches!(refusal, Rejection::Insufficient { requested, .. } if requested == cost));
    }
    assert_eq!(driver.settle(hold_id(1), MAX_CREDITS), Ok(Done::Applied));
    assert_eq!(driver.wallet.available(GOLD), 0);
}

#[test]
fn a_free_grant_fills_what_room_there_is() {
    let mut driver = Driver::new();
    driver
        .credit(credit("most", MAX_CREDITS - 3, None))
        .unwrap();
    driver.rules = vec![free_grant::daily(10)];
    driver.touch();
    assert_eq!(driver.ledger(GOLD).last(), Some(&(Reason::FreeGrant, 3)));
    driver.deduct(deduct("d", 5)).unwrap();
    driver.touch();
    assert_eq!(
        driver.wallet.available(GOLD),
        MAX_CREDITS - 5,
        "the rest is not made up for"
    );
}

#[test]
fn a_free_grant_without_any_room_waits_for_some_within_its_period() {
    let mut driver = full();
    driver.rules = vec![free_grant::daily(10)];
    driver.touch();
    assert_eq!(driver.ledger(GOLD).len(), 1);
    driver.deduct(deduct("d", 20)).unwrap();
    driver.touch();
    assert_eq!(driver.wallet.available(GOLD), MAX_CREDITS - 10);
}
