//! What is owed: how a cost becomes a debt, how far, and what ends it.

use super::{
    GOLD, TIN, credit, deduct, hold, hold_id, key,
    shop::{DAY, MONTH, pack, tier},
    teller::{Done, Teller},
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
fn trusted() -> Teller {
    let mut teller = Teller::new();
    teller.limits = vec![DebtLimit {
        product: GOLD,
        credits: 50,
    }];
    teller.credit(credit("start", 100, None)).unwrap();
    teller
}

/// What can be spent, what is held, and what is owed.
fn stands(teller: &Teller) -> (i64, i64, i64) {
    let account = teller.wallet.account(GOLD).unwrap();
    let (spendable, held) = (account.available(), account.set_aside());
    let owed = account.debt().owed;
    assert_eq!(account.sum(), spendable + held - owed);
    assert_eq!(
        account.sum(),
        teller.ledger(GOLD).iter().map(|it| it.1).sum::<i64>()
    );
    (spendable, held, owed)
}

fn charge(teller: &mut Teller, name: &str, amount: i64, short: OnShortfall) -> Coverage {
    let command = Deduct {
        on_shortfall: short,
        ..deduct(name, amount)
    };
    teller.charge(command).unwrap().coverage
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

fn overrun(serial: u128, amount: i64, max_overrun: i64, teller: &Teller) -> PlaceHold {
    PlaceHold {
        max_overrun,
        ..hold(serial, amount, teller.after_seconds(3600))
    }
}

#[test]
fn a_cost_past_the_balance_is_refused_taken_in_part_or_owed_as_the_caller_says() {
    for (short, met, after) in [
        (Drain, parts(100, 0, 30), (0, 0, 0)),
        (Owe, parts(100, 30, 0), (0, 0, 30)),
    ] {
        let mut teller = trusted();
        let refused = teller.deduct(deduct("d", 130));
        assert!(matches!(refused, Err(Rejection::Insufficient { .. })));
        assert_eq!(charge(&mut teller, "d", 130, short), met);
        assert_eq!(stands(&teller), after);
        let entry = teller.last_entry();
        assert_eq!(entry.delta, -met.charged - met.owed, "one entry of both");
        assert_eq!(entry.balance_after, -met.owed);
    }
}

#[test]
fn past_the_limit_nothing_is_owed() {
    let mut teller = trusted();
    assert_eq!(charge(&mut teller, "a", 160, Owe), parts(100, 50, 10));
    assert_eq!(charge(&mut teller, "b", 5, Owe), parts(0, 0, 5));
    assert_eq!(stands(&teller), (0, 0, 50));
    assert_eq!(
        teller.entries().len(),
        2,
        "nothing was taken the second time"
    );
}

#[test]
fn a_repeat_is_met_as_it_was_whatever_came_since() {
    let mut teller = trusted();
    charge(&mut teller, "owed", 160, Owe);
    charge(&mut teller, "nothing", 5, Drain);
    teller.credit(credit("more", 500, None)).unwrap();
    let before = teller.wallet.clone();
    for short in [Refuse, Drain, Owe] {
        assert_eq!(charge(&mut teller, "owed", 160, short), parts(100, 50, 10));
        assert_eq!(charge(&mut teller, "nothing", 5, short), parts(0, 0, 5));
    }
    assert_eq!(
        teller.deduct(deduct("owed", 150)),
        Err(Rejection::KeyReused)
    );
    assert_eq!(
        teller.deduct(deduct("nothing", 6)),
        Err(Rejection::KeyReused)
    );
    assert_eq!(teller.wallet, before);
}

#[test]
fn a_code_wallet_never_owes() {
    let hash = CodeHash([3; 16]);
    let owner = Owner::Code {
        hash,
        sealed: Box::new([1]),
    };
    let mut teller = Teller::born(super::at("2026-03-02T09:00:00Z"), owner);
    teller.limits = trusted().limits;
    teller.credit(credit("start", 100, None)).unwrap();
    assert_eq!(charge(&mut teller, "d", 130, Owe), parts(100, 0, 30));
    teller.credit(credit("more", 10, None)).unwrap();
    let refused = teller.place(overrun(1, 10, 1, &teller));
    assert!(matches!(
        refused,
        Err(Rejection::NoCredit { available: 0, .. })
    ));
    assert_eq!(stands(&teller), (10, 0, 0));
}

#[test]
fn whatever_is_credited_pays_the_debt_first() {
    let mut teller = trusted();
    charge(&mut teller, "d", 150, Owe);
    teller.credit(credit("ten", 10, None)).unwrap();
    assert_eq!(stands(&teller), (0, 0, 40));
    assert_eq!(teller.wallet.account(GOLD).unwrap().lot_count(), 0);
    teller.rules = vec![FreeGrantRule {
        product: GOLD,
        credits: Amount::new(15).unwrap(),
        period: Period::Daily,
    }];
    teller.touch();
    assert_eq!(stands(&teller), (0, 0, 25), "free credits too");
    teller.buy(1, pack());
    assert_eq!(stands(&teller), (75, 0, 0), "and bought ones");
    let last = teller.last_entry();
    assert_eq!(
        (last.reason, last.delta, last.balance_after),
        (Reason::Purchase, 100, 75)
    );
}

#[test]
fn credits_that_paid_a_debt_are_not_there_for_a_refund() {
    let mut teller = trusted();
    charge(&mut teller, "d", 130, Owe);
    teller.buy(1, pack());
    assert_eq!(stands(&teller), (70, 0, 0));
    teller.refund(1, 1000);
    assert_eq!(teller.placed_order(1).reclaimed_credits, 70);
    assert_eq!(stands(&teller), (0, 0, 0));
    teller.refund(1, 0);
    assert_eq!(stands(&teller), (70, 0, 0), "the refund failed");
}

#[test]
fn what_a_lost_refund_gives_back_pays_a_debt_too() {
    let mut teller = trusted();
    teller.buy(1, pack());
    teller.refund(1, 1000);
    charge(&mut teller, "d", 140, Owe);
    assert_eq!(stands(&teller), (0, 0, 40));
    teller.refund(1, 0);
    assert_eq!(stands(&teller), (60, 0, 0));
    assert_eq!(teller.left_of(1), 60);
}

#[test]
fn a_hold_that_gives_credits_back_pays_no_debt_for_it_is_no_credit() {
    let mut teller = trusted();
    teller
        .place(hold(1, 100, teller.after_seconds(60)))
        .unwrap();
    charge(&mut teller, "d", 20, Owe);
    teller.release(hold_id(1)).unwrap();
    assert_eq!(stands(&teller), (100, 0, 20));
    teller.credit(credit("more", 30, None)).unwrap();
    assert_eq!(stands(&teller), (110, 0, 0));
}

#[test]
fn what_was_drawn_too_much_is_credited_and_pays() {
    let mut teller = trusted();
    teller
        .place(hold(1, 100, teller.after_seconds(60)))
        .unwrap();
    let draw = Draw {
        hold: hold_id(1),
        amount: Amount::new(80).unwrap(),
        key: key("draw"),
        meta: None,
    };
    teller.draw(draw).unwrap();
    charge(&mut teller, "d", 20, Owe);
    teller.settle(hold_id(1), 10).unwrap();
    assert_eq!(stands(&teller), (70, 0, 0));
}

#[test]
fn the_work_may_cost_four_times_what_was_held() {
    let mut teller = trusted();
    teller.place(overrun(1, 100, 50, &teller)).unwrap();
    assert!(matches!(
        teller.settle(hold_id(1), 439),
        Err(Rejection::Insufficient { .. })
    ));
    assert_eq!(
        teller.find_hold(hold_id(1)).unwrap().status,
        HoldStatus::Open
    );
    let met = teller.settle_for(hold_id(1), 439, Owe).unwrap();
    assert_eq!(met.coverage, parts(100, 50, 289));
    assert_eq!(stands(&teller), (0, 0, 50));
    let settled = teller.find_hold(hold_id(1)).unwrap();
    assert_eq!(
        (settled.settled, settled.owed, settled.uncovered),
        (150, 50, 289)
    );
    let again = teller.settle_for(hold_id(1), 439, Owe).unwrap();
    assert_eq!((again.coverage, again.change), (met.coverage, None));
}

#[test]
fn holds_reserve_what_they_may_overrun_and_no_more_than_the_limit_together() {
    let mut teller = trusted();
    for serial in 1..=10 {
        teller.place(overrun(serial, 5, 5, &teller)).unwrap();
    }
    let refused = teller.place(overrun(11, 5, 1, &teller));
    let no_credit = Rejection::NoCredit {
        product: GOLD,
        balance: 50,
        requested: 1,
        available: 0,
    };
    assert_eq!(refused, Err(no_credit));
    assert_eq!(
        charge(&mut teller, "d", 51, Owe),
        parts(50, 0, 1),
        "reserved for holds"
    );
    for serial in 1..=10 {
        let met = teller.settle_for(hold_id(serial), 11, Owe).unwrap();
        assert_eq!(met.coverage, parts(5, 5, 1));
    }
    assert_eq!(stands(&teller), (0, 0, 50));
}

#[test]
fn what_a_hold_reserved_is_free_again_once_it_is_closed() {
    let mut teller = trusted();
    teller.place(overrun(1, 5, 50, &teller)).unwrap();
    assert!(teller.place(overrun(2, 5, 1, &teller)).is_err());
    teller.release(hold_id(1)).unwrap();
    teller.place(overrun(2, 5, 50, &teller)).unwrap();
    teller.pass_seconds(3600);
    teller.place(overrun(3, 5, 50, &teller)).unwrap();
    teller.settle(hold_id(3), 5).unwrap();
    assert_eq!(
        teller.wallet.account(GOLD).unwrap().debt(),
        crate::wallet::Debt::default()
    );
}

#[test]
fn what_was_reserved_may_be_owed_also_under_a_lower_limit() {
    let mut teller = trusted();
    teller.place(overrun(1, 100, 50, &teller)).unwrap();
    teller.limits.clear();
    assert_eq!(charge(&mut teller, "d", 5, Owe), parts(0, 0, 5));
    let met = teller.settle_for(hold_id(1), 200, Owe).unwrap();
    assert_eq!(met.coverage, parts(100, 50, 50));
}

#[test]
fn a_wallets_own_limit_goes_before_its_products() {
    let mut teller = trusted();
    assert!(teller.limit_debt(GOLD, Some(5)));
    assert!(!teller.limit_debt(GOLD, Some(5)), "it is so already");
    let state = teller.wallet.debt_state(GOLD, &teller.limits);
    assert_eq!((state.balance, state.limit, state.available), (100, 5, 5));
    assert_eq!(charge(&mut teller, "a", 110, Owe), parts(100, 5, 5));
    assert!(teller.limit_debt(GOLD, None));
    assert_eq!(charge(&mut teller, "b", 110, Owe), parts(0, 45, 65));
    assert!(teller.limit_debt(GOLD, Some(0)));
    assert_eq!(charge(&mut teller, "c", 1, Owe), parts(0, 0, 1));
    assert_eq!(
        stands(&teller),
        (0, 0, 50),
        "a debt stays under a lower limit"
    );
    let state = teller.wallet.debt_state(GOLD, &teller.limits);
    assert_eq!((state.limit, state.available), (0, 0));
}

#[test]
fn a_debt_is_forgiven_once_and_no_more_than_there_is() {
    let mut teller = trusted();
    charge(&mut teller, "d", 150, Owe);
    assert_eq!(teller.forgive(forgive("f", Some(20))), Ok(Done::Applied));
    assert_eq!(stands(&teller), (0, 0, 30));
    let entry = teller.last_entry();
    assert_eq!(
        (entry.reason, entry.delta, entry.balance_after),
        (Reason::Forgiveness, 20, -30)
    );
    assert_eq!(
        teller.forgive(forgive("f", Some(20))),
        Ok(Done::Replayed(20))
    );
    assert_eq!(
        teller.forgive(forgive("f", Some(21))),
        Err(Rejection::KeyReused)
    );
    assert_eq!(
        teller.forgive(forgive("f", None)),
        Err(Rejection::KeyReused)
    );
    let tin = Forgive {
        product: TIN,
        ..forgive("f", Some(20))
    };
    assert_eq!(teller.forgive(tin), Err(Rejection::KeyReused));
    assert_eq!(
        teller.forgive(forgive("g", Some(MAX_CREDITS))),
        Ok(Done::Applied)
    );
    assert_eq!(stands(&teller), (0, 0, 0), "nothing becomes a credit");
    assert_eq!(
        teller.forgive(forgive("g", Some(MAX_CREDITS))),
        Ok(Done::Replayed(30))
    );
    assert_eq!(teller.forgive(forgive("h", None)), Ok(Done::Replayed(0)));
    charge(&mut teller, "e", 10, Owe);
    assert_eq!(
        teller.forgive(forgive("h", None)),
        Ok(Done::Applied),
        "the key was not used"
    );
    assert_eq!(stands(&teller), (0, 0, 0));
}

#[test]
fn no_cycle_ends_a_debt_but_a_new_cycles_credits_pay_it() {
    let mut teller = trusted();
    teller.subscribe(1, 1, tier("pro", 30));
    charge(&mut teller, "d", 170, Owe);
    assert_eq!(stands(&teller), (0, 0, 40));
    teller.pass_seconds(MONTH);
    assert_eq!(stands(&teller), (0, 0, 40), "the cycle is over");
    assert!(teller.renew(2, 1, tier("pro", 30)));
    assert_eq!(stands(&teller), (0, 0, 10));
    teller.pass_seconds(MONTH);
    assert!(teller.renew(3, 1, tier("pro", 30)));
    assert_eq!(stands(&teller), (20, 0, 0));
    let expired = teller.expiries().iter().map(|it| it.1).sum::<i64>();
    assert_eq!(expired, 0, "there was nothing left to expire");
}

#[test]
fn a_full_wallet_that_owes_takes_what_pays_the_debt_and_nothing_more() {
    let mut teller = trusted();
    teller
        .place(hold(1, 100, teller.after_seconds(DAY)))
        .unwrap();
    charge(&mut teller, "d", 50, Owe);
    teller
        .credit(credit("all", MAX_CREDITS - 100 + 50, None))
        .unwrap();
    assert_eq!(stands(&teller), (MAX_CREDITS - 100, 100, 0));
    let more = teller.credit(credit("more", 1, None));
    assert_eq!(more, Err(Rejection::BalanceLimit));
}
