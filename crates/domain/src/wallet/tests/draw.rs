//! Draws: parts of a hold that are charged while the work goes on.

use super::{
    GOLD, credit, deduct,
    driver::{Done, Driver},
    hold, hold_id, key,
    shop::{DAY, pack},
};
use crate::{
    Amount, MAX_CREDITS, Rejection,
    history::{HoldSnapshot, HoldStatus, Reason},
    id::CodeHash,
    text::Meta,
    wallet::{
        Account, Change,
        draw::Draw,
        hold::PlaceHold,
        settle::Settle,
        shortfall::{Coverage, OnShortfall},
    },
};

fn draw(name: &str, amount: i64) -> Draw {
    Draw {
        hold: hold_id(1),
        cost: Amount::new(amount).unwrap().into(),
        key: key(name),
        meta: None,
    }
}

/// 100 credits, 40 of which a hold has for an hour.
fn holding() -> Driver {
    let mut driver = Driver::new();
    driver.credit(credit("start", 100, None)).unwrap();
    driver
        .place(hold(1, 40, driver.after_seconds(3600)))
        .unwrap();
    driver
}

fn facts(driver: &Driver) -> HoldSnapshot {
    driver.find_hold(hold_id(1)).unwrap()
}

/// What can be spent, what is held, and the sum of both.
fn balances(driver: &Driver) -> (i64, i64, i64) {
    let account = driver.wallet.account(GOLD).unwrap();
    (account.available(), account.set_aside(), account.sum())
}

#[test]
fn a_draw_is_charged_at_once_and_leaves_the_hold_open() {
    let mut driver = holding();
    assert_eq!(driver.draw(draw("one", 15)), Ok(Done::Applied));
    assert_eq!(balances(&driver), (60, 25, 85));
    assert_eq!((facts(&driver).drawn, facts(&driver).left()), (15, 25));
    let entry = driver.last_entry();
    assert_eq!(
        (entry.reason, entry.delta, entry.balance_after),
        (Reason::Deduction, -15, 85)
    );
    assert_eq!(entry.key, Some(key("one")));
}

#[test]
fn a_draw_past_what_is_held_takes_from_the_balance_and_is_refused_past_that() {
    let mut driver = holding();
    assert_eq!(driver.draw(draw("one", 70)), Ok(Done::Applied));
    assert_eq!(balances(&driver), (30, 0, 30));
    let before = driver.wallet.clone();
    let refusal = Rejection::Insufficient {
        product: GOLD,
        balance: 30,
        requested: 31,
        shortfall: 1,
    };
    assert_eq!(driver.draw(draw("two", 31)), Err(refusal));
    assert_eq!(driver.wallet, before);
    assert_eq!(driver.draw(draw("two", 30)), Ok(Done::Applied));
    assert_eq!(balances(&driver), (0, 0, 0));
}

#[test]
fn a_repeated_draw_charges_nothing_also_after_the_hold_is_closed() {
    let mut driver = holding();
    driver.draw(draw("one", 15)).unwrap();
    assert!(matches!(
        driver.draw(draw("one", 15)),
        Ok(Done::Replayed(_))
    ));
    assert_eq!(driver.draw(draw("one", 16)), Err(Rejection::KeyReused));
    driver.place(hold(2, 20, driver.after_seconds(60))).unwrap();
    let elsewhere = Draw {
        hold: hold_id(2),
        ..draw("one", 15)
    };
    assert_eq!(driver.draw(elsewhere), Err(Rejection::KeyReused));
    driver.release(hold_id(1)).unwrap();
    let Ok(Done::Replayed(now)) = driver.draw(draw("one", 15)) else {
        panic!("a repeat is answered");
    };
    assert_eq!(
        (now.status, now.drawn, now.left()),
        (HoldStatus::Released, 15, 0)
    );
    assert_eq!(driver.draw(draw("two", 1)), Err(Rejection::HoldClosed));
    assert_eq!(balances(&driver), (65, 20, 85));
}

#[test]
fn the_whole_cost_includes_what_was_drawn() {
    for (cost, spendable, entry) in [
        (60, 40, Some((Reason::Deduction, -30))),
        (40, 60, Some((Reason::Deduction, -10))),
        (30, 70, None),
        (10, 90, Some((Reason::Reversal, 20))),
        (0, 100, Some((Reason::Reversal, 30))),
    ] {
        let mut driver = holding();
        driver.draw(draw("one", 10)).unwrap();
        driver.draw(draw("two", 20)).unwrap();
        assert_eq!(driver.settle(hold_id(1), cost), Ok(Done::Applied));
        assert_eq!(balances(&driver), (spendable, 0, spendable), "{cost}");
        let written = driver.ledger(GOLD).get(3).copied();
        assert_eq!(written, entry, "{cost}");
        assert!(matches!(
            driver.settle(hold_id(1), cost),
            Ok(Done::Replayed(_))
        ));
        let other = driver.settle(hold_id(1), cost + 1);
        assert_eq!(other, Err(Rejection::HoldClosed));
    }
}

#[test]
fn what_was_drawn_too_much_is_back_in_the_order_that_brought_it() {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    driver.place(hold(1, 60, driver.after_seconds(60))).unwrap();
    driver.draw(draw("one", 60)).unwrap();
    driver.refund(1, 1000);
    assert_eq!(
        driver.placed_order(1).reclaimed_credits,
        40,
        "drawn credits are used"
    );
    driver.settle(hold_id(1), 0).unwrap();
    assert_eq!((driver.gold(), driver.left_of(1)), (60, 60));
}

#[test]
fn released_or_expired_a_hold_keeps_what_was_drawn_and_gives_back_the_rest() {
    for expires in [false, true] {
        let mut driver = holding();
        driver.draw(draw("one", 30)).unwrap();
        if expires {
            driver.pass_seconds(3600);
        } else {
            driver.release(hold_id(1)).unwrap();
        }
        assert_eq!(balances(&driver), (70, 0, 70));
        assert_eq!((facts(&driver).drawn, facts(&driver).settled), (30, 0));
        assert_eq!(driver.entries().len(), 2, "a closed hold writes no entry");
    }
}

/// However often is drawn, the wallet in memory stays as it is.
#[test]
fn a_thousand_draws_make_no_wallet_larger() {
    let mut driver = Driver::new();
    let end = driver.after_seconds(DAY);
    for (name, lifetime) in [("a", 2), ("b", 3), ("c", 4)] {
        let until = driver.after_seconds(lifetime * DAY);
        driver.credit(credit(name, 500, Some(until))).unwrap();
    }
    driver.place(hold(1, 300, end)).unwrap();
    for number in 0..1000 {
        driver.draw(draw(&number.to_string(), 1)).unwrap();
    }
    let open = driver.wallet.hold(&hold_id(1)).unwrap();
    assert_eq!(
        (open.drawn, open.pins.len()),
        (1000, 2),
        "a pin for each lot"
    );
    assert!(matches!(driver.draw(draw("7", 1)), Ok(Done::Replayed(_))));
    driver.settle(hold_id(1), 1000).unwrap();
    assert_eq!(balances(&driver), (500, 0, 500));
    assert_eq!(
        driver.entries().len(),
        3 + 1000,
        "the draws were the whole cost"
    );
}

#[test]
fn a_hold_that_expired_is_settled_as_a_deduction_under_its_key() {
    let mut driver = holding();
    driver.draw(draw("one", 30)).unwrap();
    driver.pass_seconds(DAY);
    assert_eq!(
        driver.settle(hold_id(1), 80),
        Err(Rejection::HoldClosed),
        "as ever"
    );
    for now in [true, false] {
        let met = driver
            .settle_for(hold_id(1), 80, OnShortfall::Drain)
            .unwrap();
        assert!(met.late);
        assert_eq!((met.coverage.charged, met.change.is_some()), (80, now));
        assert_eq!(balances(&driver), (20, 0, 20));
    }
    let entry = driver.last_entry();
    assert_eq!((entry.delta, entry.key.clone()), (-50, Some(key("1"))));
    let other = driver.settle_for(hold_id(1), 81, OnShortfall::Owe);
    assert_eq!(other, Err(Rejection::KeyReused));
    assert_eq!(driver.deduct(deduct("1", 50)), Ok(Done::Replayed(GOLD)));
    assert_eq!(facts(&driver).status, HoldStatus::Expired);
}

#[test]
fn what_was_deducted_by_hand_under_the_holds_key_is_not_taken_again() {
    let mut driver = holding();
    driver.pass_seconds(DAY);
    driver.deduct(deduct("1", 80)).unwrap();
    let met = driver
        .settle_for(hold_id(1), 80, OnShortfall::Drain)
        .unwrap();
    assert_eq!((met.late, met.change), (true, None));
    assert_eq!(balances(&driver), (20, 0, 20));
}

#[test]
fn settled_late_for_exactly_what_was_drawn_nothing_is_taken_and_nothing_else_can_be() {
    let mut driver = holding();
    driver.draw(draw("one", 30)).unwrap();
    driver.pass_seconds(DAY);
    let met = driver.settle_for(hold_id(1), 30, OnShortfall::Owe).unwrap();
    assert_eq!((met.coverage.charged, met.change.is_some()), (30, true));
    assert_eq!(driver.entries().len(), 2, "an entry of nothing is none");
    let other = driver.settle_for(hold_id(1), 31, OnShortfall::Owe);
    assert_eq!(other, Err(Rejection::KeyReused));
}

#[test]
fn settled_late_for_less_than_was_drawn_the_rest_goes_back_to_its_lot() {
    let mut driver = holding();
    driver.draw(draw("one", 30)).unwrap();
    driver.pass_seconds(DAY);
    let met = driver
        .settle_for(hold_id(1), 10, OnShortfall::Drain)
        .unwrap();
    assert_eq!(met.coverage.charged, 10);
    assert_eq!(balances(&driver), (90, 0, 90));
    assert_eq!(driver.wallet.account(GOLD).map(Account::lot_count), Some(1));
    assert_eq!(driver.last_entry().reason, Reason::Reversal);
    let again = driver
        .settle_for(hold_id(1), 10, OnShortfall::Drain)
        .unwrap();
    assert_eq!((again.change, again.coverage.charged), (None, 10));
}

#[test]
fn a_lot_that_is_gone_comes_back_with_its_end_or_for_a_day() {
    for (lifetime, lasts) in [(None, None), (Some(2), Some(2)), (Some(1), Some(2))] {
        let mut driver = Driver::new();
        let end = lifetime.map(|days| driver.after_seconds(days * DAY));
        let back_until = lasts.map(|days| driver.after_seconds(days * DAY));
        driver.credit(credit("start", 40, end)).unwrap();
        driver.place(hold(1, 40, driver.after_seconds(60))).unwrap();
        driver.draw(draw("one", 40)).unwrap();
        driver.pass_seconds(DAY);
        driver
            .settle_for(hold_id(1), 10, OnShortfall::Drain)
            .unwrap();
        assert_eq!(balances(&driver), (30, 0, 30));
        let next = driver.wallet.account(GOLD).unwrap().next_expiry();
        assert_eq!(next.map(|next| next.at), back_until, "{lifetime:?}");
    }
}

#[test]
fn a_full_wallet_takes_nothing_back_late() {
    let mut driver = holding();
    driver.draw(draw("one", 30)).unwrap();
    driver.pass_seconds(DAY);
    driver
        .credit(credit("all", MAX_CREDITS - 70 - 19, None))
        .unwrap();
    let before = driver.wallet.clone();
    let refused = driver.settle_for(hold_id(1), 10, OnShortfall::Drain);
    assert_eq!(refused, Err(Rejection::BalanceLimit));
    assert_eq!(driver.wallet, before);
    driver.deduct(deduct("room", 1)).unwrap();
    let met = driver.settle_for(hold_id(1), 10, OnShortfall::Drain);
    assert_eq!(met.unwrap().coverage.charged, 10);
    assert_eq!(balances(&driver).0, MAX_CREDITS);
}

#[test]
fn a_replaced_code_releases_the_hold_and_what_was_drawn_stays_charged() {
    let mut driver = holding();
    driver
        .place(PlaceHold {
            publishable: true,
            ..hold(2, 20, driver.after_seconds(60))
        })
        .unwrap();
    let drawn = Draw {
        hold: hold_id(2),
        ..draw("one", 15)
    };
    driver.draw(drawn).unwrap();
    let released: Vec<_> = driver.wallet.publishable_holds().collect();
    for id in released {
        driver.release(id).unwrap();
    }
    assert_eq!(balances(&driver), (45, 40, 85));
}

#[test]
fn a_hold_that_was_released_is_settled_late_as_an_expired_one_is() {
    let mut driver = holding();
    driver.draw(draw("one", 30)).unwrap();
    driver.release(hold_id(1)).unwrap();
    let refused = driver.settle(hold_id(1), 80);
    assert_eq!(refused, Err(Rejection::HoldClosed));
    for now in [true, false] {
        let met = driver
            .settle_for(hold_id(1), 80, OnShortfall::Drain)
            .unwrap();
        assert_eq!((met.late, met.change.is_some()), (true, now));
        assert_eq!(met.coverage, Coverage::full(80));
        assert_eq!(balances(&driver), (20, 0, 20));
    }
    let done = facts(&driver);
    assert_eq!(done.status, HoldStatus::Released);
    assert_eq!(driver.release(hold_id(1)), Ok(Done::Replayed(done)));
}

/// A wallet with 100 credits and a hold of 40 that a publishable key placed under the first code.
fn held_by_code() -> Driver {
    let mut driver = Driver::new();
    driver.credit(credit("one", 100, None)).unwrap();
    let placed = PlaceHold {
        publishable: true,
        ..hold(1, 40, driver.after_seconds(60))
    };
    driver.place(placed).unwrap();
    driver
}

fn settled(amount: i64, publishable: bool) -> Settle {
    Settle {
        hold: hold_id(1),
        cost: amount.into(),
        on_shortfall: OnShortfall::Drain,
        publishable,
        meta: None,
    }
}

#[test]
fn a_publishable_key_settles_late_for_a_day_and_takes_what_was_held_at_most() {
    let mut driver = held_by_code();
    driver.pass_seconds(60 + DAY);
    for now in [true, false] {
        let met = driver.settle_by(settled(90, true)).unwrap();
        assert_eq!((met.late, met.change.is_some()), (true, now));
        let Coverage {
            charged, uncovered, ..
        } = met.coverage;
        assert_eq!((charged, uncovered), (40, 50));
        assert_eq!(balances(&driver), (60, 0, 60));
    }
    let mut driver = held_by_code();
    driver.pass_seconds(61 + DAY);
    let late = driver.settle_by(settled(90, true));
    assert_eq!(late, Err(Rejection::HoldClosed));
    let met = driver.settle_by(settled(90, false)).unwrap();
    assert_eq!(met.coverage, Coverage::full(90), "a server may");
}

#[test]
fn what_a_publishable_key_held_before_the_code_was_replaced_is_never_settled_late() {
    for releases in [true, false] {
        let mut driver = held_by_code();
        if releases {
            driver.release(hold_id(1)).unwrap();
        } else {
            driver.pass_seconds(60);
        }
        let rotated = |number: u8| Change::CodeRotated {
            hash: CodeHash([number; 16]),
            sealed: Box::new([number]),
            former: (number > 1).then_some(CodeHash([1; 16])),
        };
        driver.commit(rotated(1));
        assert!(!driver.wallet.is_of_former_code(&facts(&driver)), "minted");
        driver.commit(rotated(2));
        assert!(driver.wallet.is_of_former_code(&facts(&driver)));
        let restored = driver.wallet.clone().recovered().unwrap();
        assert_eq!(restored, driver.wallet);
        for publishable in [true, false] {
            let late = driver.settle_by(settled(1, publishable));
            assert_eq!(late, Err(Rejection::HoldClosed));
        }
        let again = PlaceHold {
            publishable: true,
            ..hold(2, 40, driver.after_seconds(60))
        };
        driver.place(again).unwrap();
        let present = driver.find_hold(hold_id(2)).unwrap();
        assert!(!driver.wallet.is_of_former_code(&present));
    }
}

#[test]
fn what_a_hold_is_charged_bears_its_note_and_the_one_that_is_laid_over_it() {
    let meta = |text: &str| Some(Meta::new(text).unwrap());
    let noted = |of_hold: Option<Meta>| {
        let mut driver = Driver::new();
        driver.credit(credit("start", 100, None)).unwrap();
        let placed = PlaceHold {
            meta: of_hold,
            ..hold(1, 40, driver.after_seconds(60))
        };
        driver.place(placed).unwrap();
        driver
    };
    let settle = |amount, note: &str| Settle {
        meta: meta(note),
        ..settled(amount, false)
    };
    let draw = |note: &str| Draw {
        meta: meta(note),
        ..draw("one", 15)
    };
    let feature = r#"{"feature":"chat","run":1}"#;
    let both = meta(r#"{"estimated":true,"feature":"chat","run":2}"#);
    let over = r#"{"run":2,"estimated":true}"#;
    let mut driver = noted(meta(feature));
    driver.draw(draw(over)).unwrap();
    assert_eq!(driver.last_entry().meta, both);
    driver.settle(hold_id(1), 20).unwrap();
    assert_eq!(driver.last_entry().meta, meta(feature), "one draw's note");
    // As of a deduction, a repeat may have another note.
    assert!(matches!(driver.draw(draw("{}")), Ok(Done::Replayed(_))));
    for late in [false, true] {
        let mut driver = noted(meta(feature));
        if late {
            driver.pass_seconds(60);
        }
        assert_eq!(driver.settle_by(settle(20, over)).unwrap().late, late);
        assert_eq!(driver.last_entry().meta, both);
        let again = driver.settle_by(settle(20, "{}")).unwrap();
        assert_eq!(again.change, None);
        let mut plain = noted(None);
        plain.settle_by(settle(20, over)).unwrap();
        assert_eq!(plain.last_entry().meta, meta(over));
    }
    let half = |name: &str| format!(r#"{{"{name}":"{}"}}"#, "x".repeat(2048));
    for late in [false, true] {
        let mut driver = noted(meta(&half("a")));
        if late {
            driver.pass_seconds(60);
        }
        let before = driver.wallet.clone();
        let refused = driver.settle_by(settle(20, &half("b")));
        assert_eq!(refused, Err(Rejection::MetaTooLarge));
        if !late {
            assert_eq!(driver.draw(draw(&half("b"))), Err(Rejection::MetaTooLarge));
            assert_eq!(driver.wallet, before);
        }
    }
}

#[test]
fn a_repeated_hold_answers_what_became_of_it() {
    let mut driver = holding();
    let again = hold(1, 40, driver.after_seconds(60));
    let status = |driver: &mut Driver| match driver.place(again.clone()) {
        Ok(Done::Replayed(hold)) => hold.status,
        other => panic!("{other:?}"),
    };
    assert_eq!(status(&mut driver), HoldStatus::Open);
    driver.release(hold_id(1)).unwrap();
    assert_eq!(status(&mut driver), HoldStatus::Released);
    let mut settled = holding();
    settled.settle(hold_id(1), 5).unwrap();
    assert_eq!(status(&mut settled), HoldStatus::Settled);
    let mut expired = holding();
    expired.pass_seconds(DAY);
    assert_eq!(status(&mut expired), HoldStatus::Expired);
}
