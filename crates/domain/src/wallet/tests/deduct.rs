//! Using credits up, once per key.

use super::{GOLD, TIN, credit, credits, deduct, driver::Done, driver::Driver, key};
use crate::{
    Rejection,
    history::{Reason, RecordContent},
    text::Meta,
    wallet::{ProductRef, deduct::Deduct},
};

fn rich() -> Driver {
    let mut driver = Driver::new();
    driver.credit(credit("start", 100, None)).unwrap();
    driver
}

#[test]
fn a_deduction_lowers_the_balance_and_is_in_the_ledger() {
    let mut driver = rich();
    let meta = Meta::new(r#"{"job":7}"#).unwrap();
    let command = Deduct {
        meta: Some(meta.clone()),
        ..deduct("d", 30)
    };
    assert_eq!(driver.deduct(command), Ok(Done::Applied));
    assert_eq!(driver.wallet.available(GOLD), 70);
    let record = driver.records.last().unwrap();
    let entry = record.entry().unwrap();
    assert_eq!((record.seq, record.at), (3, driver.now));
    assert_eq!(
        (entry.delta, entry.balance_after, entry.reason),
        (-30, 70, Reason::Deduction)
    );
    assert_eq!(
        (entry.key.as_ref(), entry.meta.as_ref()),
        (Some(&key("d")), Some(&meta))
    );
    assert_eq!((entry.order, entry.expires_at), (None, None));
}

#[test]
fn a_retry_takes_nothing_and_names_what_it_was_about() {
    let mut driver = rich();
    driver.deduct(deduct("d", 30)).unwrap();
    assert_eq!(driver.deduct(deduct("d", 30)), Ok(Done::Replayed(GOLD)));
    assert_eq!(driver.wallet.available(GOLD), 70);
    assert_eq!(driver.ledger(GOLD).len(), 2);
}

#[test]
fn a_retry_is_honoured_years_later_and_with_nothing_left() {
    let mut driver = rich();
    driver.deduct(deduct("d", 100)).unwrap();
    driver.pass_seconds(10 * 366 * 86_400);
    assert_eq!(driver.deduct(deduct("d", 100)), Ok(Done::Replayed(GOLD)));
}

#[test]
fn the_last_credit_can_be_spent_and_not_one_more() {
    let mut driver = rich();
    assert_eq!(driver.deduct(deduct("all", 100)), Ok(Done::Applied));
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 0,
        requested: 1,
        shortfall: 1,
    };
    assert_eq!(driver.deduct(deduct("more", 1)), Err(refusal));
    assert_eq!(driver.wallet.available(GOLD), 0);
}

#[test]
fn a_refused_deduction_uses_up_no_key_and_leaves_no_trace() {
    let mut driver = rich();
    let before = driver.wallet.clone();
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 100,
        requested: 150,
        shortfall: 50,
    };
    assert_eq!(driver.deduct(deduct("d", 150)), Err(refusal));
    assert_eq!(driver.wallet, before);
    driver.credit(credit("topped up", 50, None)).unwrap();
    assert_eq!(driver.deduct(deduct("d", 150)), Ok(Done::Applied));
}

#[test]
fn products_have_separate_balances() {
    let mut driver = rich();
    let other_product = Deduct {
        product: ProductRef::Named(TIN),
        ..deduct("d", 1)
    };
    let refusal = Rejection::Insufficient {
        product: TIN,
        balance: 0,
        requested: 1,
        shortfall: 1,
    };
    assert_eq!(driver.deduct(other_product), Err(refusal));
    assert_eq!(driver.wallet.available(GOLD), 100);
    assert_eq!(
        driver.wallet.accounts().len(),
        1,
        "a refusal shows no empty balance"
    );
}

#[test]
fn an_omitted_product_is_the_only_one() {
    let mut driver = rich();
    let command = Deduct {
        product: ProductRef::Only(Some(GOLD)),
        ..deduct("d", 5)
    };
    assert_eq!(driver.deduct(command), Ok(Done::Applied));
    assert_eq!(driver.wallet.available(GOLD), 95);
}

#[test]
fn adding_a_product_breaks_no_retry() {
    let mut driver = rich();
    let omitted = |only| Deduct {
        product: ProductRef::Only(only),
        ..deduct("d", 5)
    };
    driver.deduct(omitted(Some(GOLD))).unwrap();
    assert_eq!(driver.deduct(omitted(None)), Ok(Done::Replayed(GOLD)));
    assert_eq!(driver.deduct(omitted(Some(TIN))), Ok(Done::Replayed(GOLD)));
    assert_eq!(
        driver.deduct(deduct("d", 5)),
        Ok(Done::Replayed(GOLD)),
        "named now, omitted then"
    );
}

#[test]
fn one_key_serves_a_grant_a_deduction_and_a_hold_apart() {
    let mut driver = Driver::new();
    assert_eq!(driver.credit(credit("1", 10, None)), Ok(Done::Applied));
    assert_eq!(driver.deduct(deduct("1", 4)), Ok(Done::Applied));
    let hold = super::hold(1, 3, driver.after_seconds(60));
    assert_eq!(hold.key, key("1"));
    assert_eq!(driver.place(hold), Ok(Done::Applied));
    assert_eq!(driver.wallet.available(GOLD), 3);
}

#[test]
fn a_settled_hold_does_not_use_up_its_key_for_deductions() {
    let mut driver = rich();
    driver
        .place(super::hold(1, 10, driver.after_seconds(60)))
        .unwrap();
    driver.settle(super::hold_id(1), 10).unwrap();
    assert!(matches!(
        driver.records.last().unwrap().fact,
        RecordContent::HoldSettled(_, Some(_), _)
    ));
    assert_eq!(driver.deduct(deduct("1", 10)), Ok(Done::Applied));
    assert_eq!(driver.wallet.available(GOLD), 80);
}

#[test]
fn held_credits_cannot_be_deducted() {
    let mut driver = rich();
    driver
        .place(super::hold(1, 60, driver.after_seconds(60)))
        .unwrap();
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 40,
        requested: 41,
        shortfall: 1,
    };
    assert_eq!(driver.deduct(deduct("d", 41)), Err(refusal));
    assert_eq!(driver.deduct(deduct("d", 40)), Ok(Done::Applied));
}

#[test]
fn the_balance_of_a_product_no_longer_offered_stays_spendable() {
    let mut driver = Driver::new();
    driver.rules = vec![super::free_grant::daily(10)];
    driver.touch();
    driver.rules.clear();
    driver.touch();
    assert_eq!(driver.deduct(deduct("d", 10)), Ok(Done::Applied));
    assert_eq!(credits(10).get(), -driver.ledger(GOLD).last().unwrap().1);
}

#[test]
fn a_deduction_from_very_many_lots_is_recorded_briefly_and_can_be_reversed_in_full() {
    let mut driver = Driver::new();
    let ends: Vec<_> = (1..=400)
        .map(|day| driver.after_seconds(day * 86_400))
        .collect();
    for (number, end) in ends.iter().enumerate() {
        let lot = credit(&number.to_string(), 10, Some(*end));
        driver.credit(lot).unwrap();
    }
    driver.deduct(deduct("d", 4000)).unwrap();
    let record = driver.records.last().unwrap();
    let RecordContent::Deducted(_, lots) = &record.fact else {
        panic!("{record:?}")
    };
    assert_eq!(lots.len(), 128);
    assert_eq!(lots.iter().map(|lot| lot.credits).sum::<i64>(), 4000);
    driver
        .reverse_deduction(1, Some(crate::Amount::new(20).unwrap()), "a part")
        .unwrap()
        .unwrap();
    let left = |driver: &Driver| -> Vec<_> {
        let lots = driver.wallet.accounts()[0].lots().into_iter();
        lots.map(|lot| (lot.expires_at, lot.left)).collect()
    };
    assert_eq!(left(&driver), [(ends[398], 10), (ends[399], 10)]);
    driver
        .reverse_deduction(1, None, "the rest")
        .unwrap()
        .unwrap();
    assert_eq!(driver.wallet.available(GOLD), 4000);
    // Those whose lot was not named last as long as the last of them.
    assert_eq!(left(&driver)[0], (ends[272], 2730));
}
