//! The provider's reports of one order in every order, each also twice: the end is the same.

use super::{
    GOLD, at, deduct,
    driver::Driver,
    property::check,
    shop::{DAY, pack, placed, unlock},
};
use crate::{
    Timestamp,
    terms::Terms,
    wallet::{OrderStatus, Reversal, pay::Pay},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    Placed,
    Paid,
    Failed,
    Expired,
    ADayPassed,
    /// The payment's state at an instant: that instant, refunded cents, disputed cents.
    Asked(i64, i64, i64),
}

use Report::*;

/// 100 credits and a feature for 10.00.
fn terms() -> Terms {
    Terms {
        features: unlock("pro").features,
        ..pack()
    }
}

fn tell(driver: &mut Driver, report: Report) {
    match report {
        Placed => drop(driver.order(1, terms())),
        Paid => {
            let placed = Some(placed(1, terms()));
            let pay = Pay {
                missing_order: placed,
                ..super::shop::paying(1, 1000)
            };
            driver.pay_with(pay).unwrap();
        }
        Failed => drop(driver.fail(1)),
        Expired => drop(driver.expire(1)),
        ADayPassed => driver.pass_seconds(DAY),
        Asked(time, refunded_cents, disputed_cents) => {
            let reversal = Reversal {
                refunded_cents,
                disputed_cents,
                dispute: None,
                as_of: Timestamp(time),
            };
            driver.reverse_with(1, reversal).unwrap();
        }
    }
}

/// Every order of these reports.
pub(super) fn permutations<R: Clone>(reports: &[R]) -> Vec<Vec<R>> {
    if reports.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (place, first) in reports.iter().enumerate() {
        let mut rest = reports.to_vec();
        rest.remove(place);
        for mut tail in permutations(&rest) {
            tail.insert(0, first.clone());
            all.push(tail);
        }
    }
    all
}

/// Applies the reports in every order, each once and each twice in a row, and all of them again.
fn always(reports: &[Report], status: OrderStatus, credits: i64) {
    for order in permutations(reports) {
        for twice in [false, true] {
            let mut driver = Driver::born_at(at("2026-03-02T09:00:00Z"));
            for &report in &order {
                tell(&mut driver, report);
                if twice {
                    tell(&mut driver, report);
                }
                check::sound(&driver);
            }
            let label = format!("{order:?} twice: {twice}");
            let end = driver.wallet.clone();
            assert_eq!(driver.placed_order(1).status(), status, "{label}");
            assert_eq!(driver.gold(), credits, "{label}");
            let unlocked = driver.wallet.features(driver.now) == ["pro"];
            assert_eq!(unlocked, status == OrderStatus::Paid, "{label}");
            let bought = driver.records.iter().filter_map(|r| r.entry());
            let bought = bought.filter(|e| e.reason == crate::history::Reason::Purchase);
            assert_eq!(bought.count(), 1, "{label}");
            for &report in order.iter().filter(|&&report| report != ADayPassed) {
                tell(&mut driver, report);
            }
            assert_eq!(driver.wallet, end, "{label}");
            check::replays(&driver);
        }
    }
}

#[test]
fn a_payment_wins_over_every_other_end() {
    always(
        &[Placed, Paid, Failed, Expired, ADayPassed],
        OrderStatus::Paid,
        100,
    );
}

#[test]
fn a_full_refund_counts_whenever_it_is_reported() {
    let (half, whole) = (Asked(1, 500, 0), Asked(2, 1000, 0));
    always(
        &[Placed, Paid, ADayPassed, half, whole],
        OrderStatus::Refunded,
        0,
    );
}

#[test]
fn a_failed_refund_has_failed_whenever_it_is_reported() {
    let (whole, failed) = (Asked(1, 1000, 0), Asked(2, 0, 0));
    always(
        &[Placed, Paid, ADayPassed, whole, failed],
        OrderStatus::Paid,
        100,
    );
    let (half, whole, half_again) = (Asked(1, 500, 0), Asked(2, 1000, 0), Asked(3, 500, 0));
    always(&[Paid, half, whole, half_again], OrderStatus::Paid, 50);
}

#[test]
fn a_dispute_won_leaves_the_partial_refund() {
    let (half, both, won) = (Asked(1, 500, 0), Asked(2, 500, 1000), Asked(3, 500, 0));
    always(&[Paid, half, both, won, ADayPassed], OrderStatus::Paid, 50);
}

#[test]
fn a_lost_dispute_is_lost_whenever_it_is_reported() {
    let (open, lost) = (Asked(1, 0, 1000), Asked(2, 500, 1000));
    always(
        &[Paid, open, lost, Failed, ADayPassed],
        OrderStatus::Refunded,
        0,
    );
}

#[test]
fn refunds_and_disputes_add_up_whenever_they_are_reported() {
    let (one, two, three) = (Asked(1, 100, 0), Asked(2, 100, 200), Asked(3, 300, 300));
    always(&[Placed, Paid, one, two, three], OrderStatus::Paid, 40);
    let whole = Asked(4, 500, 500);
    always(&[Paid, one, two, whole], OrderStatus::Refunded, 0);
}

#[test]
fn spending_in_between_never_brings_the_books_out_of_balance() {
    let reports = [
        Paid,
        Asked(1, 0, 1000),
        Asked(2, 500, 1000),
        Asked(3, 500, 0),
        Asked(4, 0, 0),
        Asked(5, 1000, 0),
    ];
    for order in permutations(&reports) {
        for spend_after in 0..order.len() {
            let mut driver = Driver::new();
            for (place, &report) in order.iter().enumerate() {
                tell(&mut driver, report);
                if place == spend_after {
                    let _ = driver.deduct(deduct("d", driver.gold().clamp(1, 30)));
                }
                check::sound(&driver);
            }
            let spent = driver.ledger(GOLD).iter().any(|&(_, delta)| delta == -30);
            let order = driver.placed_order(1);
            assert_eq!(order.reclaimed_credits, 100 - if spent { 30 } else { 0 });
            assert_eq!(driver.gold(), 0);
        }
    }
}
