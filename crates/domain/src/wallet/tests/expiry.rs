//! What the clock takes: at the right instant, in the right order, never from an open hold.

use super::{
    GOLD, TIN, at, credit, deduct,
    driver::{Done, Driver},
    hold, hold_id,
};
use crate::{
    Rejection, Timestamp,
    history::{HoldStatus, Reason},
    wallet::credit::Credit,
};

const HOUR: i64 = 3600;

fn available(driver: &Driver) -> i64 {
    driver.wallet.available(GOLD)
}

/// 100 credits that expire in an hour; that hour's end.
fn perishable() -> (Driver, Timestamp) {
    let mut driver = Driver::new();
    let end = driver.after_seconds(HOUR);
    driver.credit(credit("start", 100, Some(end))).unwrap();
    (driver, end)
}

#[test]
fn credits_last_to_the_millisecond() {
    let (mut driver, end) = perishable();
    driver.now = Timestamp(end.0 - 1);
    assert_eq!(driver.deduct(deduct("last moment", 1)), Ok(Done::Applied));
    driver.now = end;
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 0,
        requested: 1,
        shortfall: 1,
    };
    assert_eq!(driver.deduct(deduct("too late", 1)), Err(refusal));
    assert_eq!(driver.expiries(), [(end, -99)], "what was left of them");
}

#[test]
fn a_sleeping_wallet_finds_each_expiry_at_its_own_instant() {
    let mut driver = Driver::new();
    let ends = [3, 1, 2].map(|hours| driver.after_seconds(hours * HOUR));
    for (end, name) in ends.into_iter().zip(["c", "a", "b"]) {
        driver.credit(credit(name, 10, Some(end))).unwrap();
    }
    let other_product = Credit {
        product: TIN,
        ..credit("t", 5, Some(ends[2]))
    };
    driver.credit(other_product).unwrap();
    driver.pass_seconds(365 * 24 * HOUR);
    let [third, first, second] = ends;
    assert_eq!(
        driver.expiries(),
        [(first, -10), (second, -10), (second, -5), (third, -10)]
    );
    assert_eq!(driver.wallet.due_at(), Timestamp::NEVER);
}

#[test]
fn spent_credits_do_not_expire_again() {
    let (mut driver, _) = perishable();
    driver.deduct(deduct("all", 100)).unwrap();
    let before = driver.wallet.clone();
    driver.pass_seconds(2 * HOUR);
    assert_eq!(
        driver.wallet, before,
        "nothing happened, and it cost nothing"
    );
}

#[test]
fn the_end_of_credits_spent_before_it_is_forgotten_at_the_next_event_after_it() {
    let (mut driver, _) = perishable();
    driver.deduct(deduct("all", 100)).unwrap();
    driver.now = driver.after_seconds(2 * HOUR);
    driver.credit(credit("new", 1, None)).unwrap();
    assert_eq!(driver.wallet.due_at(), Timestamp::NEVER);
}

#[test]
fn while_a_hold_is_open_its_credits_do_not_expire() {
    let (mut driver, end) = perishable();
    driver.place(hold(1, 60, end.plus_seconds(HOUR))).unwrap();
    driver.now = end;
    driver.touch();
    assert_eq!(driver.expiries(), [(end, -40)], "what nobody held");
    assert_eq!(driver.settle(hold_id(1), 60), Ok(Done::Applied));
    assert_eq!(driver.expiries().len(), 1);
    assert_eq!(driver.wallet.account(GOLD).unwrap().balance, 0);
}

#[test]
fn credits_released_past_their_end_expire_at_once() {
    let (mut driver, end) = perishable();
    driver.place(hold(1, 100, end.plus_seconds(HOUR))).unwrap();
    driver.pass_seconds(HOUR + 60);
    assert_eq!(driver.expiries(), []);
    driver.release(hold_id(1)).unwrap();
    assert_eq!(available(&driver), 0, "they are never seen again");
    assert_eq!(
        driver.expiries(),
        [(end.plus_seconds(60), -100)],
        "dated when they came back"
    );
}

#[test]
fn what_a_late_settlement_returns_expires_at_once() {
    let (mut driver, end) = perishable();
    driver.place(hold(1, 100, end.plus_seconds(HOUR))).unwrap();
    driver.pass_seconds(HOUR + 60);
    driver.settle(hold_id(1), 30).unwrap();
    let expected = [
        (Reason::Manual, 100),
        (Reason::Deduction, -30),
        (Reason::Expiry, -70),
    ];
    assert_eq!(driver.ledger(GOLD), expected);
    assert_eq!(available(&driver), 0);
}

#[test]
fn a_surplus_is_not_paid_with_expired_credits() {
    let (mut driver, end) = perishable();
    driver.place(hold(1, 60, end.plus_seconds(HOUR))).unwrap();
    driver.pass_seconds(HOUR);
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 0,
        requested: 61,
        shortfall: 1,
    };
    assert_eq!(driver.settle(hold_id(1), 61), Err(refusal));
}

#[test]
fn an_expired_hold_returns_what_expires_right_then_between_the_others() {
    let mut driver = Driver::new();
    let [first, second, third, fourth] = [1, 2, 3, 4].map(|h| driver.after_seconds(h * HOUR));
    driver.credit(credit("pinned", 10, Some(first))).unwrap();
    driver.place(hold(1, 10, third)).unwrap();
    driver.credit(credit("sooner", 20, Some(second))).unwrap();
    driver.credit(credit("later", 30, Some(fourth))).unwrap();
    driver.pass_seconds(9 * HOUR);
    assert_eq!(
        driver.expiries(),
        [(second, -20), (third, -10), (fourth, -30)]
    );
    let closed = driver
        .records
        .iter()
        .rfind(|record| record.entry().is_none())
        .unwrap();
    assert_eq!(closed.at, third);
    assert_eq!(
        driver.find_hold(hold_id(1)).unwrap().status,
        HoldStatus::Expired
    );
}

#[test]
fn a_hold_that_ends_with_its_lot_expires_with_it_in_one_entry() {
    let (mut driver, end) = perishable();
    driver.place(hold(1, 60, end)).unwrap();
    driver.pass_seconds(HOUR);
    assert_eq!(driver.expiries(), [(end, -100)]);
}

#[test]
fn a_hold_that_ends_before_its_lot_gives_the_credits_back_for_that_time() {
    let (mut driver, end) = perishable();
    driver.place(hold(1, 60, driver.after_seconds(60))).unwrap();
    driver.pass_seconds(60);
    assert_eq!(available(&driver), 100);
    driver.pass_seconds(HOUR - 60);
    assert_eq!(driver.expiries(), [(end, -100)]);
}

#[test]
fn extending_a_hold_protects_its_credits_for_longer() {
    let (mut driver, end) = perishable();
    driver.place(hold(1, 100, end)).unwrap();
    let later = end.plus_seconds(HOUR);
    driver.extend(hold_id(1), later).unwrap();
    driver.now = end;
    driver.touch();
    assert_eq!(driver.wallet.account(GOLD).unwrap().balance, 100);
    driver.now = later;
    driver.touch();
    assert_eq!(driver.expiries(), [(later, -100)]);
}

#[test]
fn a_clock_that_steps_back_neither_revives_credits_nor_dates_anything_earlier() {
    let (mut driver, end) = perishable();
    driver.credit(credit("kept", 5, None)).unwrap();
    driver.pass_seconds(HOUR);
    assert_eq!(available(&driver), 5);
    driver.pass_seconds(-2 * HOUR);
    assert_eq!(available(&driver), 5);
    driver.deduct(deduct("d", 5)).unwrap();
    assert_eq!(
        driver.records.last().unwrap().at,
        end,
        "not before the entry above it"
    );
}

#[test]
fn after_a_step_back_credits_last_until_the_clock_says_so_again() {
    let (mut driver, end) = perishable();
    driver.go_to("2026-03-02T09:30:00Z");
    driver.set_feature("late", crate::wallet::feature::FeatureAction::Grant);
    driver.go_to("2026-03-02T08:00:00Z");
    let short = at("2026-03-02T08:10:00Z");
    driver.credit(credit("short", 7, Some(short))).unwrap();
    driver.go_to("2026-03-02T08:09:59Z");
    assert_eq!(available(&driver), 107);
    driver.go_to("2026-03-02T08:10:00Z");
    assert_eq!(available(&driver), 100);
    let half_past = at("2026-03-02T09:30:00Z");
    assert_eq!(
        driver.expiries(),
        [(half_past, -7)],
        "dated no earlier than what came before"
    );
    driver.now = end;
    driver.touch();
    assert_eq!(available(&driver), 0);
}

#[test]
fn the_balance_of_a_product_no_longer_offered_expires_as_promised() {
    let mut driver = Driver::new();
    driver.rules = vec![super::free_grant::daily(10)];
    driver.touch();
    driver.rules.clear();
    driver.go_to("2026-03-05T12:00:00Z");
    assert_eq!(driver.expiries(), [(at("2026-03-03T00:00:00Z"), -10)]);
    assert_eq!(available(&driver), 0);
}
