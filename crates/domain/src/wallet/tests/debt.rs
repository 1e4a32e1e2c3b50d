//! What is owed: how a cost becomes a debt, how far, and what ends it.

use super::{
    GOLD, TIN, credit, deduct,
    driver::{Done, Driver},
    hold, hold_id, key,
    shop::{DAY, MONTH, pack, tier},
};
use crate::{
    Amount, MAX_CREDITS, Rejection,
    history::{HoldStatus, Reason},
    id::CodeHash,
    time::Period,
    wallet::{
        Coverage, FreeGrantRule, Owner,
        debt_limit::DebtLimit,
        deduct::Deduct,
        draw::Draw,
        forgive::Forgive,
        hold::PlaceHold,
        shortfall::OnShortfall::{self, Drain, Owe, Refuse},
    },
};

/// 100 credits, and 50 that may be owed.
fn trusted() -> Driver {
    let mut driver = Driver::new();
    driver.limits = vec![DebtLimit {
        product: GOLD,
        credits: 50,
    }];
    driver.credit(credit("start", 100, None)).unwrap();
    driver
}

/// What can be spent, what is held, and what is owed.
fn balances(driver: &Driver) -> (i64, i64, i64) {
    let account = driver.wallet.account(GOLD).unwrap();
    let (spendable, held) = (account.available(), account.set_aside());
    let owed = account.debt().owed;
    assert_eq!(account.sum(), spendable + held - owed);
    assert_eq!(
        account.sum(),
        driver.ledger(GOLD).iter().map(|it| it.1).sum::<i64>()
    );
    (spendable, held, owed)
}

fn charge(driver: &mut Driver, name: &str, amount: i64, short: OnShortfall) -> Coverage {
    let command = Deduct {
        on_shortfall: short,
        ..deduct(name, amount)
    };
    driver.charge(command).unwrap().coverage
}

const fn parts(charged: i64, owed: i64, uncovered: i64) -> Coverage {
    Coverage {
        charged,
        owed,
        uncovered,
    }
}

fn forgive(name: &str, amount: Option<i64>) -> Forgive {
    Forgive {
        product: GOLD,
        amount: amount.map(|amount| Amount::new(amount).unwrap()),
        key: key(name),
        meta: None,
    }
}

fn overrun(serial: u128, amount: i64, max_overrun: i64, driver: &Driver) -> PlaceHold {
    PlaceHold {
        max_overrun,
        ..hold(serial, amount, driver.after_seconds(3600))
    }
}

#[test]
fn a_cost_past_the_balance_is_refused_taken_in_part_or_owed_as_the_caller_says() {
    for (short, met, after) in [
        (Drain, parts(100, 0, 30), (0, 0, 0)),
        (Owe, parts(100, 30, 0), (0, 0, 30)),
    ] {
        let mut driver = trusted();
        let refused = driver.deduct(deduct("d", 130));
        assert!(matches!(refused, Err(Rejection::Insufficient { .. })));
        assert_eq!(charge(&mut driver, "d", 130, short), met);
        assert_eq!(balances(&driver), after);
        let entry = driver.last_entry();
        assert_eq!(entry.delta, -met.charged - met.owed, "one entry of both");
        assert_eq!(entry.balance_after, -met.owed);
    }
}

#[test]
fn past_the_limit_nothing_is_owed() {
    let mut driver = trusted();
    assert_eq!(charge(&mut driver, "a", 160, Owe), parts(100, 50, 10));
    assert_eq!(charge(&mut driver, "b", 5, Owe), parts(0, 0, 5));
    assert_eq!(balances(&driver), (0, 0, 50));
    assert_eq!(
        driver.entries().len(),
        2,
        "nothing was taken the second time"
    );
}

#[test]
fn a_repeat_is_covered_as_it_was() {
    let mut driver = trusted();
    charge(&mut driver, "owed", 160, Owe);
    charge(&mut driver, "nothing", 5, Drain);
    driver.credit(credit("more", 500, None)).unwrap();
    let before = driver.wallet.clone();
    for short in [Refuse, Drain, Owe] {
        assert_eq!(charge(&mut driver, "owed", 160, short), parts(100, 50, 10));
        assert_eq!(charge(&mut driver, "nothing", 5, short), parts(0, 0, 5));
    }
    assert_eq!(
        driver.deduct(deduct("owed", 150)),
        Err(Rejection::KeyReused)
    );
    assert_eq!(
        driver.deduct(deduct("nothing", 6)),
        Err(Rejection::KeyReused)
    );
    assert_eq!(driver.wallet, before);
}

#[test]
fn a_code_wallet_never_owes() {
    let hash = CodeHash([3; 16]);
    let owner = Owner::Code {
        hash,
        sealed: Box::new([1]),
    };
    let mut driver = Driver::born(super::at("2026-03-02T09:00:00Z"), owner);
    driver.limits = trusted().limits;
    driver.credit(credit("start", 100, None)).unwrap();
    assert_eq!(charge(&mut driver, "d", 130, Owe), parts(100, 0, 30));
    driver.credit(credit("more", 10, None)).unwrap();
    let refused = driver.place(overrun(1, 10, 1, &driver));
    assert!(matches!(
        refused,
        Err(Rejection::NoCredit { available: 0, .. })
    ));
    assert_eq!(balances(&driver), (10, 0, 0));
}

#[test]
fn all_credits_pay_the_debt_first() {
    let mut driver = trusted();
    charge(&mut driver, "d", 150, Owe);
    driver.credit(credit("ten", 10, None)).unwrap();
    assert_eq!(balances(&driver), (0, 0, 40));
    assert_eq!(driver.wallet.account(GOLD).unwrap().lot_count(), 0);
    driver.rules = vec![FreeGrantRule {
        product: GOLD,
        credits: Amount::new(15).unwrap(),
        period: Period::Daily,
    }];
    driver.touch();
    assert_eq!(balances(&driver), (0, 0, 25), "free credits too");
    driver.buy(1, pack());
    assert_eq!(balances(&driver), (75, 0, 0), "and bought ones");
    let last = driver.last_entry();
    assert_eq!(
        (last.reason, last.delta, last.balance_after),
        (Reason::Purchase, 100, 75)
    );
}

#[test]
fn credits_that_paid_a_debt_are_not_there_for_a_refund() {
    let mut driver = trusted();
    charge(&mut driver, "d", 130, Owe);
    driver.buy(1, pack());
    assert_eq!(balances(&driver), (70, 0, 0));
    driver.refund(1, 1000);
    assert_eq!(driver.placed_order(1).reclaimed_credits, 70);
    assert_eq!(balances(&driver), (0, 0, 0));
    driver.refund(1, 0);
    assert_eq!(balances(&driver), (70, 0, 0), "the refund failed");
}

#[test]
fn what_a_lost_refund_gives_back_pays_a_debt_too() {
    let mut driver = trusted();
    driver.buy(1, pack());
    driver.refund(1, 1000);
    charge(&mut driver, "d", 140, Owe);
    assert_eq!(balances(&driver), (0, 0, 40));
    driver.refund(1, 0);
    assert_eq!(balances(&driver), (60, 0, 0));
    assert_eq!(driver.left_of(1), 60);
}

#[test]
fn a_hold_that_gives_credits_back_pays_no_debt_for_it_is_no_credit() {
    let mut driver = trusted();
    driver
        .place(hold(1, 100, driver.after_seconds(60)))
        .unwrap();
    charge(&mut driver, "d", 20, Owe);
    driver.release(hold_id(1)).unwrap();
    assert_eq!(balances(&driver), (100, 0, 20));
    driver.credit(credit("more", 30, None)).unwrap();
    assert_eq!(balances(&driver), (110, 0, 0));
}

#[test]
fn what_was_drawn_too_much_is_credited_and_pays() {
    let mut driver = trusted();
    driver
        .place(hold(1, 100, driver.after_seconds(60)))
        .unwrap();
    let draw = Draw {
        hold: hold_id(1),
        cost: Amount::new(80).unwrap().into(),
        key: key("draw"),
        meta: None,
    };
    driver.draw(draw).unwrap();
    charge(&mut driver, "d", 20, Owe);
    driver.settle(hold_id(1), 10).unwrap();
    assert_eq!(balances(&driver), (70, 0, 0));
}

#[test]
fn the_work_may_cost_four_times_what_was_held() {
    let mut driver = trusted();
    driver.place(overrun(1, 100, 50, &driver)).unwrap();
    assert!(matches!(
        driver.settle(hold_id(1), 439),
        Err(Rejection::Insufficient { .. })
    ));
    assert_eq!(
        driver.find_hold(hold_id(1)).unwrap().status,
        HoldStatus::Open
    );
    let met = driver.settle_for(hold_id(1), 439, Owe).unwrap();
    assert_eq!(met.coverage, parts(100, 50, 289));
    assert_eq!(balances(&driver), (0, 0, 50));
    let settled = driver.find_hold(hold_id(1)).unwrap();
    assert_eq!(
        (settled.settled, settled.owed, settled.uncovered),
        (150, 50, 289)
    );
    let again = driver.settle_for(hold_id(1), 439, Owe).unwrap();
    assert_eq!((again.coverage, again.change), (met.coverage, None));
}

#[test]
fn holds_reserve_what_they_may_overrun_and_no_more_than_the_limit_together() {
    let mut driver = trusted();
    for serial in 1..=10 {
        driver.place(overrun(serial, 5, 5, &driver)).unwrap();
    }
    let refused = driver.place(overrun(11, 5, 1, &driver));
    let no_credit = Rejection::NoCredit {
        product: GOLD,
        balance: 50,
        requested: 1,
        available: 0,
    };
    assert_eq!(refused, Err(no_credit));
    assert_eq!(
        charge(&mut driver, "d", 51, Owe),
        parts(50, 0, 1),
        "reserved for holds"
    );
    for serial in 1..=10 {
        let met = driver.settle_for(hold_id(serial), 11, Owe).unwrap();
        assert_eq!(met.coverage, parts(5, 5, 1));
    }
    assert_eq!(balances(&driver), (0, 0, 50));
}

#[test]
fn what_a_hold_reserved_is_free_again_once_it_is_closed() {
    let mut driver = trusted();
    driver.place(overrun(1, 5, 50, &driver)).unwrap();
    assert!(driver.place(overrun(2, 5, 1, &driver)).is_err());
    driver.release(hold_id(1)).unwrap();
    driver.place(overrun(2, 5, 50, &driver)).unwrap();
    driver.pass_seconds(3600);
    driver.place(overrun(3, 5, 50, &driver)).unwrap();
    driver.settle(hold_id(3), 5).unwrap();
    assert_eq!(
        driver.wallet.account(GOLD).unwrap().debt(),
        crate::wallet::Debt::default()
    );
}

#[test]
fn what_was_reserved_may_be_owed_also_under_a_lower_limit() {
    let mut driver = trusted();
    driver.place(overrun(1, 100, 50, &driver)).unwrap();
    driver.limits.clear();
    assert_eq!(charge(&mut driver, "d", 5, Owe), parts(0, 0, 5));
    let met = driver.settle_for(hold_id(1), 200, Owe).unwrap();
    assert_eq!(met.coverage, parts(100, 50, 50));
}

#[test]
fn a_wallets_own_limit_goes_before_its_products() {
    let mut driver = trusted();
    assert!(driver.limit_debt(GOLD, Some(5)));
    assert!(!driver.limit_debt(GOLD, Some(5)), "it is so already");
    let state = driver.wallet.debt_state(GOLD, &driver.limits);
    assert_eq!((state.balance, state.limit, state.available), (100, 5, 5));
    assert_eq!(charge(&mut driver, "a", 110, Owe), parts(100, 5, 5));
    assert!(driver.limit_debt(GOLD, None));
    assert_eq!(charge(&mut driver, "b", 110, Owe), parts(0, 45, 65));
    assert!(driver.limit_debt(GOLD, Some(0)));
    assert_eq!(charge(&mut driver, "c", 1, Owe), parts(0, 0, 1));
    assert_eq!(
        balances(&driver),
        (0, 0, 50),
        "a debt stays under a lower limit"
    );
    let state = driver.wallet.debt_state(GOLD, &driver.limits);
    assert_eq!((state.limit, state.available), (0, 0));
}

#[test]
fn a_debt_is_forgiven_once_and_no_more_than_there_is() {
    let mut driver = trusted();
    charge(&mut driver, "d", 150, Owe);
    assert_eq!(driver.forgive(forgive("f", Some(20))), Ok(Done::Applied));
    assert_eq!(balances(&driver), (0, 0, 30));
    let entry = driver.last_entry();
    assert_eq!(
        (entry.reason, entry.delta, entry.balance_after),
        (Reason::Forgiveness, 20, -30)
    );
    assert_eq!(
        driver.forgive(forgive("f", Some(20))),
        Ok(Done::Replayed(20))
    );
    assert_eq!(
        driver.forgive(forgive("f", Some(21))),
        Err(Rejection::KeyReused)
    );
    assert_eq!(
        driver.forgive(forgive("f", None)),
        Err(Rejection::KeyReused)
    );
    let other_product = Forgive {
        product: TIN,
        ..forgive("f", Some(20))
    };
    assert_eq!(driver.forgive(other_product), Err(Rejection::KeyReused));
    assert_eq!(
        driver.forgive(forgive("g", Some(MAX_CREDITS))),
        Ok(Done::Applied)
    );
    assert_eq!(balances(&driver), (0, 0, 0), "nothing becomes a credit");
    assert_eq!(
        driver.forgive(forgive("g", Some(MAX_CREDITS))),
        Ok(Done::Replayed(30))
    );
    assert_eq!(driver.forgive(forgive("h", None)), Ok(Done::Replayed(0)));
    charge(&mut driver, "e", 10, Owe);
    assert_eq!(
        driver.forgive(forgive("h", None)),
        Ok(Done::Applied),
        "the key was not used"
    );
    assert_eq!(balances(&driver), (0, 0, 0));
}

#[test]
fn no_cycle_ends_a_debt_but_a_new_cycles_credits_pay_it() {
    let mut driver = trusted();
    driver.subscribe(1, 1, tier("pro", 30));
    charge(&mut driver, "d", 170, Owe);
    assert_eq!(balances(&driver), (0, 0, 40));
    driver.pass_seconds(MONTH);
    assert_eq!(balances(&driver), (0, 0, 40), "the cycle is over");
    assert!(driver.renew(2, 1, tier("pro", 30)));
    assert_eq!(balances(&driver), (0, 0, 10));
    driver.pass_seconds(MONTH);
    assert!(driver.renew(3, 1, tier("pro", 30)));
    assert_eq!(balances(&driver), (20, 0, 0));
    let expired = driver.expiries().iter().map(|it| it.1).sum::<i64>();
    assert_eq!(expired, 0, "there was nothing left to expire");
}

#[test]
fn a_full_wallet_that_owes_takes_what_pays_the_debt_and_nothing_more() {
    let mut driver = trusted();
    driver
        .place(hold(1, 100, driver.after_seconds(DAY)))
        .unwrap();
    charge(&mut driver, "d", 50, Owe);
    driver
        .credit(credit("all", MAX_CREDITS - 100 + 50, None))
        .unwrap();
    assert_eq!(balances(&driver), (MAX_CREDITS - 100, 100, 0));
    let more = driver.credit(credit("more", 1, None));
    assert_eq!(more, Err(Rejection::BalanceLimit));
}
