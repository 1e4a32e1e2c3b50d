//! What ends a wallet's sessions, and when a wallet that nobody touches shows something else.

use super::{GOLD, at, credit, deduct, free_grant::daily, teller::Teller};
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
    let mut teller = Teller::born(at("2026-03-02T09:00:00Z"), Owner::Order);
    // A payment mints the first code: nobody can have a session yet.
    teller.commit(rotated(None, 1));
    assert_eq!(teller.wallet.session_epoch, 0);
    teller.commit(Change::SessionsRevoked);
    assert_eq!(teller.wallet.session_epoch, 1);
    teller.commit(rotated(Some(CodeHash([1; 16])), 2));
    assert_eq!(teller.wallet.session_epoch, 2);
}

#[test]
fn a_wallet_says_when_it_will_show_something_else_by_itself() {
    let mut teller = Teller::new();
    let next = |teller: &Teller| {
        teller
            .wallet
            .changes_by_itself_at(&teller.rules, teller.now)
    };
    assert_eq!(next(&teller), Timestamp::NEVER);
    let end = teller.after_seconds(3600);
    teller.credit(credit("start", 100, Some(end))).unwrap();
    assert_eq!(next(&teller), end);
    teller.rules = vec![daily(5)];
    teller.pass_seconds(1);
    assert_eq!(next(&teller), end, "the day is longer");
    // With its lot spent there is nothing left to expire but today's free credits.
    teller.deduct(deduct("all", 105)).unwrap();
    assert_eq!(teller.wallet.available(GOLD), 0);
    assert_eq!(next(&teller), at("2026-03-03T00:00:00Z"));
    teller.pass_seconds(24 * 3600);
    assert_eq!(next(&teller), at("2026-03-04T00:00:00Z"));
}
