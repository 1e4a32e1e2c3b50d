//! What the clock takes: at the right instant, in the right order, never from an open hold.

use super::{
    GOLD, TIN, at, credit, deduct, hold, hold_id,
    teller::{Done, Teller},
};
use crate::{
    Rejection, Timestamp,
    history::{HoldStatus, Reason},
    wallet::credit::Credit,
};

const HOUR: i64 = 3600;

fn available(teller: &Teller) -> i64 {
    teller.wallet.available(GOLD)
}

/// 100 credits that expire in an hour; that hour's end.
fn perishable() -> (Teller, Timestamp) {
    let mut teller = Teller::new();
    let end = teller.after_seconds(HOUR);
    teller.credit(credit("start", 100, Some(end))).unwrap();
    (teller, end)
}

#[test]
fn credits_last_to_the_millisecond() {
    let (mut teller, end) = perishable();
    teller.now = Timestamp(end.0 - 1);
    assert_eq!(teller.deduct(deduct("last moment", 1)), Ok(Done::Applied));
    teller.now = end;
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 0,
        requested: 1,
        shortfall: 1,
    };
    assert_eq!(teller.deduct(deduct("too late", 1)), Err(refusal));
    assert_eq!(teller.expiries(), [(end, -99)], "what was left of them");
}

#[test]
fn a_sleeping_wallet_finds_each_expiry_at_its_own_instant() {
    let mut teller = Teller::new();
    let ends = [3, 1, 2].map(|hours| teller.after_seconds(hours * HOUR));
    for (end, name) in ends.into_iter().zip(["c", "a", "b"]) {
        teller.credit(credit(name, 10, Some(end))).unwrap();
    }
    let tin = Credit {
        product: TIN,
        ..credit("t", 5, Some(ends[2]))
    };
    teller.credit(tin).unwrap();
    teller.pass_seconds(365 * 24 * HOUR);
    let [third, first, second] = ends;
    assert_eq!(
        teller.expiries(),
        [(first, -10), (second, -10), (second, -5), (third, -10)]
    );
    assert_eq!(teller.wallet.due_at(), Timestamp::NEVER);
}

#[test]
fn spent_credits_do_not_expire_again() {
    let (mut teller, _) = perishable();
    teller.deduct(deduct("all", 100)).unwrap();
    let before = teller.wallet.clone();
    teller.pass_seconds(2 * HOUR);
    assert_eq!(
        teller.wallet, before,
        "nothing happened, and it cost nothing"
    );
}

#[test]
fn the_end_of_credits_spent_before_it_is_forgotten_at_the_next_event_after_it() {
    let (mut teller, _) = perishable();
    teller.deduct(deduct("all", 100)).unwrap();
    teller.now = teller.after_seconds(2 * HOUR);
    teller.credit(credit("fresh", 1, None)).unwrap();
    assert_eq!(teller.wallet.due_at(), Timestamp::NEVER);
}

#[test]
fn while_a_hold_is_open_its_credits_do_not_expire() {
    let (mut teller, end) = perishable();
    teller.place(hold(1, 60, end.plus_seconds(HOUR))).unwrap();
    teller.now = end;
    teller.touch();
    assert_eq!(teller.expiries(), [(end, -40)], "what nobody held");
    assert_eq!(teller.settle(hold_id(1), 60), Ok(Done::Applied));
    assert_eq!(teller.expiries().len(), 1);
    assert_eq!(teller.wallet.account(GOLD).unwrap().balance, 0);
}

#[test]
fn credits_released_past_their_end_expire_at_once() {
    let (mut teller, end) = perishable();
    teller.place(hold(1, 100, end.plus_seconds(HOUR))).unwrap();
    teller.pass_seconds(HOUR + 60);
    assert_eq!(teller.expiries(), []);
    teller.release(hold_id(1)).unwrap();
    assert_eq!(available(&teller), 0, "they are never seen again");
    assert_eq!(
        teller.expiries(),
        [(end.plus_seconds(60), -100)],
        "dated when they came back"
    );
}

#[test]
fn what_a_late_settlement_returns_expires_at_once() {
    let (mut teller, end) = perishable();
    teller.place(hold(1, 100, end.plus_seconds(HOUR))).unwrap();
    teller.pass_seconds(HOUR + 60);
    teller.settle(hold_id(1), 30).unwrap();
    let told = [
        (Reason::Manual, 100),
        (Reason::Deduction, -30),
        (Reason::Expiry, -70),
    ];
    assert_eq!(teller.ledger(GOLD), told);
    assert_eq!(available(&teller), 0);
}

#[test]
fn a_surplus_is_not_paid_with_expired_credits() {
    let (mut teller, end) = perishable();
    teller.place(hold(1, 60, end.plus_seconds(HOUR))).unwrap();
    teller.pass_seconds(HOUR);
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 0,
        requested: 61,
        shortfall: 1,
    };
    assert_eq!(teller.settle(hold_id(1), 61), Err(refusal));
}

#[test]
fn an_expired_hold_returns_what_expires_right_then_between_the_others() {
    let mut teller = Teller::new();
    let [first, second, third, fourth] = [1, 2, 3, 4].map(|h| teller.after_seconds(h * HOUR));
    teller.credit(credit("pinned", 10, Some(first))).unwrap();
    teller.place(hold(1, 10, third)).unwrap();
    teller.credit(credit("sooner", 20, Some(second))).unwrap();
    teller.credit(credit("later", 30, Some(fourth))).unwrap();
    teller.pass_seconds(9 * HOUR);
    assert_eq!(
        teller.expiries(),
        [(second, -20), (third, -10), (fourth, -30)]
    );
    let closed = teller
        .records
        .iter()
        .rfind(|record| record.entry().is_none())
        .unwrap();
    assert_eq!(closed.at, third);
    assert_eq!(
        teller.find_hold(hold_id(1)).unwrap().status,
        HoldStatus::Expired
    );
}

#[test]
fn a_hold_that_ends_with_its_lot_expires_with_it_in_one_entry() {
    let (mut teller, end) = perishable();
    teller.place(hold(1, 60, end)).unwrap();
    teller.pass_seconds(HOUR);
    assert_eq!(teller.expiries(), [(end, -100)]);
}

#[test]
fn a_hold_that_ends_before_its_lot_gives_the_credits_back_for_that_time() {
    let (mut teller, end) = perishable();
    teller.place(hold(1, 60, teller.after_seconds(60))).unwrap();
    teller.pass_seconds(60);
    assert_eq!(available(&teller), 100);
    teller.pass_seconds(HOUR - 60);
    assert_eq!(teller.expiries(), [(end, -100)]);
}

#[test]
fn extending_a_hold_protects_its_credits_for_longer() {
    let (mut teller, end) = perishable();
    teller.place(hold(1, 100, end)).unwrap();
    let later = end.plus_seconds(HOUR);
    teller.extend(hold_id(1), later).unwrap();
    teller.now = end;
    teller.touch();
    assert_eq!(teller.wallet.account(GOLD).unwrap().balance, 100);
    teller.now = later;
    teller.touch();
    assert_eq!(teller.expiries(), [(later, -100)]);
}

#[test]
fn a_clock_that_steps_back_neither_revives_credits_nor_dates_anything_earlier() {
    let (mut teller, end) = perishable();
    teller.credit(credit("kept", 5, None)).unwrap();
    teller.pass_seconds(HOUR);
    assert_eq!(available(&teller), 5);
    teller.pass_seconds(-2 * HOUR);
    assert_eq!(available(&teller), 5);
    teller.deduct(deduct("d", 5)).unwrap();
    assert_eq!(
        teller.records.last().unwrap().at,
        end,
        "not before the entry above it"
    );
}

#[test]
fn after_a_step_back_credits_last_until_the_clock_says_so_again() {
    let (mut teller, end) = perishable();
    teller.go_to("2026-03-02T09:30:00Z");
    teller.set_feature("late", crate::wallet::feature::FeatureAction::Grant);
    teller.go_to("2026-03-02T08:00:00Z");
    let short = at("2026-03-02T08:10:00Z");
    teller.credit(credit("short", 7, Some(short))).unwrap();
    teller.go_to("2026-03-02T08:09:59Z");
    assert_eq!(available(&teller), 107);
    teller.go_to("2026-03-02T08:10:00Z");
    assert_eq!(available(&teller), 100);
    let half_past = at("2026-03-02T09:30:00Z");
    assert_eq!(
        teller.expiries(),
        [(half_past, -7)],
        "dated no earlier than what came before"
    );
    teller.now = end;
    teller.touch();
    assert_eq!(available(&teller), 0);
}

#[test]
fn the_balance_of_a_product_no_longer_offered_expires_as_promised() {
    let mut teller = Teller::new();
    teller.rules = vec![super::free_grant::daily(10)];
    teller.touch();
    teller.rules.clear();
    teller.go_to("2026-03-05T12:00:00Z");
    assert_eq!(teller.expiries(), [(at("2026-03-03T00:00:00Z"), -10)]);
    assert_eq!(available(&teller), 0);
}
