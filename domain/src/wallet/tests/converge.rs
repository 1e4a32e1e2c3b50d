//! The provider's reports of one order in every order, each also twice: the end is the same.

use super::{
    GOLD, at, deduct,
    property::check,
    shop::{DAY, pack, placed, unlock},
    teller::Teller,
};
use crate::{
    terms::Terms,
    wallet::{Dispute, OrderStatus, pay::Pay},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    Placed,
    Paid,
    Failed,
    Expired,
    ADayPassed,
    HalfRefunded,
    Refunded,
    Opened,
    Won,
    Lost,
}

use Report::*;

/// 100 credits and a feature for 10.00.
fn terms() -> Terms {
    Terms {
        features: unlock("pro").features,
        ..pack()
    }
}

fn tell(teller: &mut Teller, report: Report) {
    match report {
        Placed => drop(teller.order(1, terms())),
        Paid => {
            let placed = Some(placed(1, terms()));
            let pay = Pay {
                placed,
                ..super::shop::paying(1, 1000)
            };
            teller.pay_with(pay).unwrap();
        }
        Failed => drop(teller.fail(1)),
        Expired => drop(teller.expire(1)),
        ADayPassed => teller.pass_seconds(DAY),
        HalfRefunded => drop(teller.refund(1, 500)),
        Refunded => drop(teller.refund(1, 1000)),
        Opened => drop(teller.dispute(1, Dispute::Open)),
        Won => drop(teller.dispute(1, Dispute::Won)),
        Lost => drop(teller.dispute(1, Dispute::Lost)),
    }
}

/// Every order of these reports.
fn permutations(reports: &[Report]) -> Vec<Vec<Report>> {
    if reports.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (place, &first) in reports.iter().enumerate() {
        let mut rest = reports.to_vec();
        rest.remove(place);
        for mut tail in permutations(&rest) {
            tail.insert(0, first);
            all.push(tail);
        }
    }
    all
}

/// Tells the reports in every order, each once and each twice in a row, and once more all over.
fn always(reports: &[Report], status: OrderStatus, credits: i64) {
    for order in permutations(reports) {
        for twice in [false, true] {
            let mut teller = Teller::born_at(at("2026-03-02T09:00:00Z"));
            for &report in &order {
                tell(&mut teller, report);
                if twice {
                    tell(&mut teller, report);
                }
                check::sound(&teller);
            }
            let story = format!("{order:?} twice: {twice}");
            let end = teller.wallet.clone();
            assert_eq!(teller.placed_order(1).status(), status, "{story}");
            assert_eq!(teller.gold(), credits, "{story}");
            let unlocked = teller.wallet.features(teller.now) == ["pro"];
            assert_eq!(unlocked, status == OrderStatus::Paid, "{story}");
            let bought = teller.records.iter().filter_map(|r| r.entry());
            let bought = bought.filter(|e| e.reason == crate::history::Reason::Purchase);
            assert_eq!(bought.count(), 1, "{story}");
            for &report in order.iter().filter(|&&report| report != ADayPassed) {
                tell(&mut teller, report);
            }
            assert_eq!(teller.wallet, end, "{story}");
            check::replays(&teller);
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
fn a_full_refund_is_one_whenever_it_is_heard_of() {
    always(
        &[Placed, Paid, ADayPassed, HalfRefunded, Refunded],
        OrderStatus::Refunded,
        0,
    );
}

#[test]
fn a_dispute_won_leaves_the_partial_refund() {
    always(
        &[Paid, HalfRefunded, Opened, Won, ADayPassed],
        OrderStatus::Paid,
        50,
    );
}

#[test]
fn a_dispute_lost_is_lost_whenever_it_is_heard_of() {
    always(
        &[Paid, Opened, HalfRefunded, Lost, Failed],
        OrderStatus::Refunded,
        0,
    );
}

#[test]
fn a_dispute_won_does_not_undo_a_full_refund() {
    always(&[Paid, Opened, Refunded, Won], OrderStatus::Refunded, 0);
}

#[test]
fn a_verdict_on_appeal_is_the_last_one() {
    always(&[Paid, Opened, Lost, Won], OrderStatus::Paid, 100);
}

#[test]
fn spending_in_between_never_brings_the_books_out_of_balance() {
    let reports = [Paid, Opened, HalfRefunded, Won, Lost, Refunded];
    for order in permutations(&reports) {
        for spend_after in 0..order.len() {
            let mut teller = Teller::new();
            for (place, &report) in order.iter().enumerate() {
                tell(&mut teller, report);
                if place == spend_after {
                    let _ = teller.deduct(deduct("d", teller.gold().clamp(1, 30)));
                }
                check::sound(&teller);
            }
            let spent = teller.ledger(GOLD).iter().any(|&(_, delta)| delta == -30);
            let order = teller.placed_order(1);
            assert_eq!(order.taken, 100 - if spent { 30 } else { 0 });
            assert_eq!(teller.gold(), 0);
        }
    }
}
