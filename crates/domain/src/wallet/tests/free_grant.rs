//! Free credits: once in each period in which the wallet is touched, gone at the period's end.

use super::{GOLD, TIN, at, credits, deduct, driver::Driver, hold, hold_id};
use crate::{
    history::Reason,
    time::Period,
    wallet::{FreeGrantRule, NextExpiry},
};

pub(super) fn daily(amount: i64) -> FreeGrantRule {
    rule(amount, Period::Daily)
}

fn rule(amount: i64, period: Period) -> FreeGrantRule {
    FreeGrantRule {
        product: GOLD,
        credits: credits(amount),
        period,
    }
}

fn offering(amount: i64, period: Period) -> Driver {
    let mut driver = Driver::new();
    driver.rules = vec![rule(amount, period)];
    driver
}

fn grants(driver: &Driver) -> usize {
    driver
        .ledger(GOLD)
        .iter()
        .filter(|(reason, _)| *reason == Reason::FreeGrant)
        .count()
}

#[test]
fn each_period_grants_once_and_takes_back_what_is_left_at_its_end() {
    // Period, first use, the period's last instant, the first of the next one. 2 March is a Monday.
    let cases = [
        (
            Period::Daily,
            "2026-03-02T09:00:00Z",
            "2026-03-02T23:59:59.999Z",
            "2026-03-03T00:00:00Z",
        ),
        (
            Period::Weekly,
            "2026-03-05T09:00:00Z",
            "2026-03-08T23:59:59.999Z",
            "2026-03-09T00:00:00Z",
        ),
        (
            Period::Monthly,
            "2026-03-31T09:00:00Z",
            "2026-03-31T23:59:59.999Z",
            "2026-04-01T00:00:00Z",
        ),
        (
            Period::Yearly,
            "2026-12-30T09:00:00Z",
            "2026-12-31T23:59:59.999Z",
            "2027-01-01T00:00:00Z",
        ),
    ];
    for (period, first, last, next) in cases {
        let mut driver = offering(10, period);
        driver.go_to(first);
        let account = driver.wallet.account(GOLD).unwrap();
        assert_eq!(
            account.next_expiry(),
            Some(NextExpiry {
                amount: 10,
                at: at(next)
            })
        );
        assert_eq!(
            driver.records[0].at,
            at(first),
            "{period:?}: at the first touch"
        );
        driver.deduct(deduct("d", 4)).unwrap();
        driver.go_to(last);
        assert_eq!(driver.wallet.available(GOLD), 6, "{period:?}: not twice");
        driver.go_to(next);
        assert_eq!(driver.expiries(), [(at(next), -6)], "{period:?}");
        assert_eq!(
            driver.wallet.available(GOLD),
            10,
            "{period:?}: the next one's"
        );
    }
}

#[test]
fn a_leap_day_is_a_day_of_its_month_and_year() {
    let mut driver = offering(10, Period::Monthly);
    driver.go_to("2028-02-29T23:59:59Z");
    assert_eq!(driver.wallet.available(GOLD), 10);
    driver.go_to("2028-03-01T00:00:00Z");
    assert_eq!(driver.expiries(), [(at("2028-03-01T00:00:00Z"), -10)]);
}

#[test]
fn a_grant_made_once_stays_and_never_comes_again() {
    let mut driver = offering(10, Period::Once);
    driver.touch();
    let entry = driver.records[0].entry().unwrap();
    assert_eq!((entry.reason, entry.expires_at), (Reason::FreeGrant, None));
    driver.go_to("2066-03-02T00:00:00Z");
    assert_eq!((grants(&driver), driver.wallet.available(GOLD)), (1, 10));
    driver.deduct(deduct("d", 10)).unwrap();
    driver.go_to("2067-03-02T00:00:00Z");
    assert_eq!((grants(&driver), driver.wallet.available(GOLD)), (1, 0));
}

#[test]
fn missed_periods_are_not_accumulated() {
    let mut driver = offering(10, Period::Daily);
    driver.touch();
    driver.go_to("2026-03-20T12:00:00Z");
    assert_eq!(driver.wallet.available(GOLD), 10);
    let expected = [
        (Reason::FreeGrant, 10),
        (Reason::Expiry, -10),
        (Reason::FreeGrant, 10),
    ];
    assert_eq!(driver.ledger(GOLD), expected);
    assert_eq!(driver.expiries(), [(at("2026-03-03T00:00:00Z"), -10)]);
    assert_eq!(
        driver.records.last().unwrap().at,
        at("2026-03-20T12:00:00Z")
    );
}

#[test]
fn a_new_wallet_has_nothing_until_it_is_touched() {
    let driver = offering(10, Period::Daily);
    assert_eq!(driver.wallet.accounts(), []);
}

#[test]
fn every_product_grants_its_own() {
    let mut driver = offering(10, Period::Daily);
    let other_product = FreeGrantRule {
        product: TIN,
        credits: credits(3),
        period: Period::Monthly,
    };
    driver.rules.push(other_product);
    driver.touch();
    assert_eq!(
        (driver.wallet.available(GOLD), driver.wallet.available(TIN)),
        (10, 3)
    );
    driver.go_to("2026-03-03T00:00:00Z");
    assert_eq!(driver.ledger(TIN), [(Reason::FreeGrant, 3)]);
    assert_eq!(grants(&driver), 2);
}

#[test]
fn a_clock_that_steps_back_into_an_earlier_period_grants_nothing() {
    for period in [
        Period::Daily,
        Period::Weekly,
        Period::Monthly,
        Period::Yearly,
    ] {
        let mut driver = offering(10, period);
        driver.go_to("2027-01-04T00:00:00Z");
        driver.go_to("2026-12-20T00:00:00Z");
        driver.go_to("2027-01-04T00:00:01Z");
        assert_eq!(grants(&driver), 1, "{period:?}");
    }
}

#[test]
fn a_raised_amount_counts_from_the_next_period() {
    let mut driver = offering(10, Period::Daily);
    driver.touch();
    driver.rules = vec![daily(50)];
    driver.touch();
    assert_eq!(driver.wallet.available(GOLD), 10);
    driver.go_to("2026-03-03T00:00:00Z");
    assert_eq!(driver.wallet.available(GOLD), 50);
}

#[test]
fn another_kind_of_period_grants_when_one_of_its_own_begins() {
    // Old period, new period, the instant of the change, whether it grants at once, when the next grant is due.
    let cases = [
        (
            Period::Daily,
            Period::Weekly,
            "2026-03-04T09:00:00Z",
            false,
            "2026-03-09T00:00:00Z",
        ),
        (
            Period::Daily,
            Period::Monthly,
            "2026-03-04T09:00:00Z",
            false,
            "2026-04-01T00:00:00Z",
        ),
        (
            Period::Monthly,
            Period::Yearly,
            "2026-03-04T09:00:00Z",
            false,
            "2027-01-01T00:00:00Z",
        ),
        (
            Period::Weekly,
            Period::Daily,
            "2026-03-04T09:00:00Z",
            true,
            "2026-03-05T00:00:00Z",
        ),
        (
            Period::Weekly,
            Period::Daily,
            "2026-03-02T10:00:00Z",
            false,
            "2026-03-03T00:00:00Z",
        ),
        (
            Period::Monthly,
            Period::Daily,
            "2026-03-04T09:00:00Z",
            true,
            "2026-03-05T00:00:00Z",
        ),
        (
            Period::Yearly,
            Period::Monthly,
            "2026-03-04T09:00:00Z",
            true,
            "2026-04-01T00:00:00Z",
        ),
        (
            Period::Once,
            Period::Daily,
            "2026-03-04T09:00:00Z",
            true,
            "2026-03-05T00:00:00Z",
        ),
    ];
    for (from, to, change, at_once, next) in cases {
        let name = format!("{from:?} to {to:?}");
        let mut driver = offering(10, from);
        driver.go_to(change);
        assert_eq!(grants(&driver), 1, "{name}");
        driver.rules = vec![rule(20, to)];
        driver.touch();
        let after_change = 1 + usize::from(at_once);
        assert_eq!(grants(&driver), after_change, "{name}");
        driver.now = crate::Timestamp(at(next).0 - 1);
        driver.touch();
        assert_eq!(grants(&driver), after_change, "{name}: not twice");
        driver.go_to(next);
        assert_eq!(
            grants(&driver),
            after_change + 1,
            "{name}: the next period's"
        );
    }
}

#[test]
fn a_recurring_grant_turned_into_a_single_one_gives_nothing_to_who_had_it() {
    let mut driver = offering(10, Period::Daily);
    driver.touch();
    driver.rules = vec![rule(20, Period::Once)];
    driver.go_to("2027-03-04T09:00:00Z");
    assert_eq!(grants(&driver), 1);
}

#[test]
fn held_free_credits_outlive_their_period_beside_the_next_grant() {
    let mut driver = offering(10, Period::Daily);
    driver.touch();
    let noon = at("2026-03-03T12:00:00Z");
    driver.place(hold(1, 8, noon)).unwrap();
    driver.go_to("2026-03-03T00:00:00Z");
    assert_eq!(driver.expiries(), [(at("2026-03-03T00:00:00Z"), -2)]);
    assert_eq!(driver.wallet.available(GOLD), 10);
    driver.settle(hold_id(1), 8).unwrap();
    assert_eq!(driver.wallet.available(GOLD), 10, "paid with yesterday's");
}

#[test]
fn an_offer_withdrawn_and_made_again_within_a_period_grants_once() {
    let mut driver = offering(10, Period::Weekly);
    driver.touch();
    let offer = std::mem::take(&mut driver.rules);
    driver.pass_seconds(3600);
    driver.rules = offer;
    driver.pass_seconds(3600);
    assert_eq!(grants(&driver), 1);
}
