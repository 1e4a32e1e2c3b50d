//! Setting credits aside for work whose cost is known only afterwards.

use super::{
    GOLD, credit, deduct,
    driver::{Done, Driver},
    hold, hold_id, key,
};
use crate::{
    Rejection,
    history::{HoldSnapshot, HoldStatus, Reason},
    text::Meta,
    wallet::{ProductRef, hold::PlaceHold},
};

const QUARTER_HOUR: i64 = 900;

/// 100 credits, 40 of them held for a quarter of an hour.
fn holding() -> Driver {
    let mut driver = Driver::new();
    driver.credit(credit("start", 100, None)).unwrap();
    let end = driver.after_seconds(QUARTER_HOUR);
    assert_eq!(driver.place(hold(1, 40, end)), Ok(Done::Applied));
    driver
}

fn facts(driver: &Driver) -> HoldSnapshot {
    driver.find_hold(hold_id(1)).unwrap()
}

fn available(driver: &Driver) -> i64 {
    driver.wallet.available(GOLD)
}

/// Balance with held credits, held credits.
fn totals(driver: &Driver) -> (i64, i64) {
    let account = driver.wallet.account(GOLD).unwrap();
    (account.balance, account.held)
}

#[test]
fn held_credits_leave_what_can_be_spent_without_a_ledger_entry() {
    let driver = holding();
    assert_eq!((available(&driver), totals(&driver)), (60, (100, 40)));
    assert_eq!(driver.ledger(GOLD), [(Reason::Manual, 100)]);
    let expected = HoldSnapshot {
        id: hold_id(1),
        product: GOLD,
        amount: 40,
        status: HoldStatus::Open,
        settled: 0,
        expires_at: driver.after_seconds(QUARTER_HOUR),
        drawn: 0,
        max_overrun: 0,
        publishable: false,
        rotations: 0,
        owed: 0,
        uncovered: 0,
        rate: None,
        counted: None,
    };
    assert_eq!(facts(&driver), expected);
}

#[test]
fn only_what_can_be_spent_can_be_held() {
    let mut driver = holding();
    let end = driver.after_seconds(60);
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 60,
        requested: 61,
        shortfall: 1,
    };
    assert_eq!(driver.place(hold(2, 61, end)), Err(refusal));
    assert_eq!(driver.find_hold(hold_id(2)), Err(Rejection::HoldNotFound));
    assert_eq!(
        driver.place(hold(2, 60, end)),
        Ok(Done::Applied),
        "the key was not used up"
    );
    assert_eq!(available(&driver), 0);
}

#[test]
fn settling_takes_the_cost_and_returns_the_rest_in_one_entry() {
    let mut driver = holding();
    assert_eq!(driver.settle(hold_id(1), 25), Ok(Done::Applied));
    assert_eq!((available(&driver), totals(&driver)), (75, (75, 0)));
    assert_eq!(
        driver.ledger(GOLD),
        [(Reason::Manual, 100), (Reason::Deduction, -25)]
    );
    assert_eq!(
        (facts(&driver).status, facts(&driver).settled),
        (HoldStatus::Settled, 25)
    );
}

#[test]
fn the_entry_carries_the_key_and_the_note_of_the_hold() {
    let mut driver = Driver::new();
    driver.credit(credit("start", 100, None)).unwrap();
    let meta = Some(Meta::new(r#"{"job":1}"#).unwrap());
    let end = driver.after_seconds(60);
    driver
        .place(PlaceHold {
            meta: meta.clone(),
            ..hold(1, 40, end)
        })
        .unwrap();
    driver.settle(hold_id(1), 40).unwrap();
    let entry = driver.records.last().unwrap().entry().unwrap();
    assert_eq!(
        (entry.key.clone(), entry.meta.clone()),
        (Some(key("1")), meta)
    );
    assert_eq!(entry.balance_after, 60);
}

#[test]
fn settling_nothing_gives_all_back_without_an_entry() {
    let mut driver = holding();
    assert_eq!(driver.settle(hold_id(1), 0), Ok(Done::Applied));
    assert_eq!((available(&driver), driver.ledger(GOLD).len()), (100, 1));
    assert_eq!(
        (facts(&driver).status, facts(&driver).settled),
        (HoldStatus::Settled, 0)
    );
    assert!(matches!(
        driver.settle(hold_id(1), 0),
        Ok(Done::Replayed(_))
    ));
    assert_eq!(
        driver.release(hold_id(1)),
        Err(Rejection::HoldClosed),
        "settled is not released"
    );
}

#[test]
fn settling_for_more_takes_the_surplus_from_the_balance() {
    let mut driver = holding();
    assert_eq!(driver.settle(hold_id(1), 100), Ok(Done::Applied));
    assert_eq!((available(&driver), totals(&driver)), (0, (0, 0)));
    assert_eq!(facts(&driver).settled, 100);
}

#[test]
fn a_surplus_that_is_not_there_leaves_the_hold_open() {
    let mut driver = holding();
    let before = driver.wallet.clone();
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 60,
        requested: 101,
        shortfall: 1,
    };
    assert_eq!(driver.settle(hold_id(1), 101), Err(refusal));
    assert_eq!(driver.wallet, before);
    assert_eq!(driver.settle(hold_id(1), 40), Ok(Done::Applied));
}

#[test]
fn other_holds_do_not_pay_a_surplus() {
    let mut driver = holding();
    driver.place(hold(2, 60, driver.after_seconds(60))).unwrap();
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 0,
        requested: 41,
        shortfall: 1,
    };
    assert_eq!(driver.settle(hold_id(1), 41), Err(refusal));
}

#[test]
fn repeating_the_same_settlement_is_a_replay_and_another_one_a_conflict() {
    let mut driver = holding();
    driver.settle(hold_id(1), 25).unwrap();
    let former = facts(&driver);
    assert_eq!(driver.settle(hold_id(1), 25), Ok(Done::Replayed(former)));
    assert_eq!(driver.settle(hold_id(1), 26), Err(Rejection::HoldClosed));
    assert_eq!(driver.settle(hold_id(1), 0), Err(Rejection::HoldClosed));
    assert_eq!(driver.release(hold_id(1)), Err(Rejection::HoldClosed));
    assert_eq!(available(&driver), 75);
}

#[test]
fn releasing_gives_all_back_without_an_entry() {
    let mut driver = holding();
    assert_eq!(driver.release(hold_id(1)), Ok(Done::Applied));
    assert_eq!((available(&driver), driver.ledger(GOLD).len()), (100, 1));
    assert_eq!(facts(&driver).status, HoldStatus::Released);
    assert!(matches!(driver.release(hold_id(1)), Ok(Done::Replayed(_))));
    assert_eq!(driver.settle(hold_id(1), 0), Err(Rejection::HoldClosed));
    assert_eq!(available(&driver), 100);
}

#[test]
fn a_forgotten_hold_returns_its_credits_at_its_end_by_itself() {
    let mut driver = holding();
    let end = facts(&driver).expires_at;
    driver.pass_seconds(QUARTER_HOUR - 1);
    assert_eq!(available(&driver), 60);
    driver.pass_seconds(1);
    assert_eq!((available(&driver), driver.ledger(GOLD).len()), (100, 1));
    assert_eq!(facts(&driver).status, HoldStatus::Expired);
    assert_eq!(driver.records.last().unwrap().at, end);
}

#[test]
fn an_expired_hold_can_be_neither_settled_nor_released_nor_extended() {
    let mut driver = holding();
    driver.pass_seconds(QUARTER_HOUR);
    for cost in [0, 25, 40] {
        assert_eq!(driver.settle(hold_id(1), cost), Err(Rejection::HoldClosed));
    }
    assert_eq!(driver.release(hold_id(1)), Err(Rejection::HoldClosed));
    let end = driver.after_seconds(60);
    assert_eq!(driver.extend(hold_id(1), end), Err(Rejection::HoldClosed));
}

#[test]
fn an_expiry_is_dated_when_it_fell_due_however_late_it_is_noticed() {
    let mut driver = holding();
    let end = facts(&driver).expires_at;
    driver.pass_seconds(30 * 86_400);
    assert_eq!(driver.records.last().unwrap().at, end);
}

#[test]
fn an_extended_hold_lasts_longer_and_is_never_shortened() {
    let mut driver = holding();
    let end = facts(&driver).expires_at;
    let later = end.plus_seconds(60);
    assert_eq!(driver.extend(hold_id(1), later), Ok(Done::Applied));
    assert_eq!(facts(&driver).expires_at, later);
    for same_or_sooner in [later, end, driver.now] {
        let kept = facts(&driver);
        assert_eq!(
            driver.extend(hold_id(1), same_or_sooner),
            Ok(Done::Replayed(kept))
        );
    }
    driver.pass_seconds(QUARTER_HOUR);
    assert_eq!(facts(&driver).status, HoldStatus::Open);
    driver.pass_seconds(60);
    assert_eq!(
        (facts(&driver).status, facts(&driver).expires_at),
        (HoldStatus::Expired, later)
    );
    assert_eq!(driver.ledger(GOLD).len(), 1, "extending writes no entry");
}

#[test]
fn repeating_a_hold_answers_the_first_one_open_or_closed() {
    let mut driver = holding();
    let retry = PlaceHold {
        id: hold_id(99),
        key: key("1"),
        ..hold(1, 40, driver.now)
    };
    let open = facts(&driver);
    assert_eq!(driver.place(retry.clone()), Ok(Done::Replayed(open)));
    driver.settle(hold_id(1), 10).unwrap();
    let Ok(Done::Replayed(former)) = driver.place(retry) else {
        panic!("not a replay")
    };
    assert_eq!((former.id, former.amount), (hold_id(1), 40));
    assert_eq!(available(&driver), 90, "nothing is held again");
    assert_eq!(driver.find_hold(hold_id(99)), Err(Rejection::HoldNotFound));
}

#[test]
fn repeating_an_extended_hold_shows_its_new_end() {
    let mut driver = holding();
    let later = facts(&driver).expires_at.plus_seconds(60);
    driver.extend(hold_id(1), later).unwrap();
    let Ok(Done::Replayed(shown)) = driver.place(hold(1, 40, driver.now)) else {
        panic!("not a replay")
    };
    assert_eq!(shown.expires_at, later);
}

#[test]
fn a_hold_of_another_amount_under_the_key_is_refused() {
    let mut driver = holding();
    let end = driver.after_seconds(60);
    let other = PlaceHold {
        key: key("1"),
        ..hold(2, 41, end)
    };
    assert_eq!(driver.place(other), Err(Rejection::KeyReused));
    let elsewhere = PlaceHold {
        key: key("1"),
        product: ProductRef::Named(super::TIN),
        ..hold(2, 40, end)
    };
    assert_eq!(driver.place(elsewhere), Err(Rejection::KeyReused));
}

#[test]
fn spending_around_a_hold_leaves_it_whole() {
    let mut driver = holding();
    driver.deduct(deduct("d", 60)).unwrap();
    assert_eq!((available(&driver), totals(&driver)), (0, (40, 40)));
    assert_eq!(driver.settle(hold_id(1), 40), Ok(Done::Applied));
    assert_eq!(totals(&driver), (0, 0));
}

#[test]
fn holds_of_a_publishable_key_are_listed_until_they_are_closed() {
    let mut driver = holding();
    let end = driver.after_seconds(60);
    for serial in [2, 3] {
        let placed = driver.place(PlaceHold {
            publishable: true,
            ..hold(serial, 5, end)
        });
        assert_eq!(placed, Ok(Done::Applied));
    }
    let found = |driver: &Driver| driver.wallet.publishable_holds().collect::<Vec<_>>();
    assert_eq!(found(&driver), [hold_id(2), hold_id(3)]);
    driver.extend(hold_id(3), driver.after_seconds(90)).unwrap();
    // A repeat by a secret key leaves it as it was placed.
    assert!(matches!(
        driver.place(hold(2, 5, end)),
        Ok(Done::Replayed(_))
    ));
    driver.settle(hold_id(2), 5).unwrap();
    assert_eq!(found(&driver), [hold_id(3)]);
    driver.pass_seconds(90);
    assert_eq!(found(&driver), []);
}
