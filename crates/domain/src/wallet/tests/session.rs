//! What ends a wallet's sessions, and when a wallet that nobody touches shows something else.

use super::{GOLD, at, credit, deduct, driver::Driver, free_grant::daily};
use crate::{
    Timestamp,
    id::CodeHash,
    wallet::{Change, Owner},
};

fn rotated(former: Option<CodeHash>, to: u8) -> Change {
    Change::CodeRotated {
        hash: CodeHash([to; 16]),
        sealed: Box::default(),
        former,
    }
}

#[test]
fn sessions_end_when_they_are_revoked_and_when_the_code_is_replaced() {
    let mut driver = Driver::born(at("2026-03-02T09:00:00Z"), Owner::Order);
    // A payment mints the first code: nobody can have a session yet.
    driver.commit(rotated(None, 1));
    assert_eq!(driver.wallet.session_epoch, 0);
    driver.commit(Change::SessionsRevoked);
    assert_eq!(driver.wallet.session_epoch, 1);
    driver.commit(rotated(Some(CodeHash([1; 16])), 2));
    assert_eq!(driver.wallet.session_epoch, 2);
}

#[test]
fn a_wallet_says_when_it_will_show_something_else_by_itself() {
    let mut driver = Driver::new();
    let next = |driver: &Driver| {
        driver
            .wallet
            .changes_by_itself_at(&driver.rules, driver.now)
    };
    assert_eq!(next(&driver), Timestamp::NEVER);
    let end = driver.after_seconds(3600);
    driver.credit(credit("start", 100, Some(end))).unwrap();
    assert_eq!(next(&driver), end);
    driver.rules = vec![daily(5)];
    driver.pass_seconds(1);
    assert_eq!(next(&driver), end, "the day is longer");
    // With its lot spent there is nothing left to expire but today's free credits.
    driver.deduct(deduct("all", 105)).unwrap();
    assert_eq!(driver.wallet.available(GOLD), 0);
    assert_eq!(next(&driver), at("2026-03-03T00:00:00Z"));
    driver.pass_seconds(24 * 3600);
    assert_eq!(next(&driver), at("2026-03-04T00:00:00Z"));
}
