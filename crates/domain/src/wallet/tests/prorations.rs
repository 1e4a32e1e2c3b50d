//! Invoices with the lines of several switches: all of them count, in any order, and switching back
//! and forth brings nothing.

use proptest::prelude::*;

use super::{
    driver::Driver,
    property::check,
    shop::{MONTH, subscribed_to, tier, unlocked},
};
use crate::{
    Quantity, Timestamp,
    terms::Terms,
    wallet::{
        bill::{Bill, Pays},
        pay::PaidCycle,
        switch::Proration,
    },
};

const HOURS: i64 = MONTH / 3600;

fn small() -> Terms {
    Terms {
        amount_cents: 900,
        ..tier("small", 500)
    }
}

fn mid() -> Terms {
    Terms {
        amount_cents: 1900,
        ..tier("mid", 1500)
    }
}

fn big() -> Terms {
    Terms {
        amount_cents: 4900,
        ..tier("big", 6000)
    }
}

/// A subscriber who switches: what is not billed at once waits for the next invoice.
struct Switcher {
    begun: Timestamp,
    billing: PaidCycle,
    tier: (Terms, Quantity),
    pending: Vec<Proration>,
    bills: Vec<Vec<Proration>>,
}

impl Switcher {
    fn of(driver: &Driver, first: &Terms) -> Self {
        let existing = driver.subscription(1);
        Self {
            begun: existing.cycle_start,
            billing: PaidCycle {
                cycle_start: existing.cycle_start,
                current_period_end: existing.cycle_end,
                ..driver.billing(1)
            },
            tier: (first.clone(), Quantity::ONE),
            pending: Vec::new(),
            bills: Vec::new(),
        }
    }

    fn switch(&mut self, hour: i64, terms: &Terms, seats: u32, now: bool) {
        let next = (terms.clone(), Quantity::new(seats).unwrap());
        let old = std::mem::replace(&mut self.tier, next.clone());
        let line = |(terms, quantity), given_back| Proration {
            terms,
            quantity,
            given_back,
            at: self.begun.plus_seconds(hour * 3600),
            cycle_start: self.billing.cycle_start,
            cycle_end: self.billing.current_period_end,
        };
        let lines = [line(next, false), line(old, true)];
        self.pending.extend(lines);
        if now {
            self.bills.push(std::mem::take(&mut self.pending));
        }
    }

    /// The invoice of these lines, as the adapter reports it.
    fn bill(&self, driver: &Driver, number: usize, lines: Vec<Proration>) -> Bill {
        let last = Proration::last(&lines).unwrap();
        Bill {
            terms: Some(last.terms.clone()),
            quantity: last.quantity,
            billing: self.billing.clone(),
            pays: Pays::Switches(lines),
            ..driver.renewal(10 + number as u128, 1, small())
        }
    }
}

fn tell(driver: &mut Driver, switcher: &Switcher, number: usize, lines: Vec<Proration>) {
    let bill = switcher.bill(driver, number, lines);
    assert!(driver.switch_with(bill));
}

#[test]
fn all_lines_of_an_invoice_count_in_any_order() {
    let day = 24;
    /// Switches, by hour, tier and whether they are billed at once.
    type Switches<'a> = &'a [(i64, Terms, bool)];
    let cases: [(Switches, i64, &str); 6] = [
        (
            &[(10 * day, mid(), false), (20 * day, big(), true)],
            2667,
            "big",
        ),
        (
            &[(10 * day, big(), false), (20 * day, mid(), true)],
            2667,
            "mid",
        ),
        (
            &[(10 * day, big(), false), (10 * day, small(), true)],
            500,
            "small",
        ),
        (
            &[
                (10 * day, big(), false),
                (10 * day, small(), false),
                (10 * day, mid(), true),
            ],
            1167,
            "mid",
        ),
        // Billed at once each time.
        (
            &[(10 * day, mid(), true), (20 * day, big(), true)],
            2667,
            "big",
        ),
        // Given back in money, and paid again with that money.
        (
            &[
                (0, big(), true),
                (10 * day, small(), true),
                (15 * day, big(), false),
                (20 * day, mid(), true),
            ],
            6000,
            "big",
        ),
    ];
    for (switches, credits, tier) in cases {
        for turn in 0..6 {
            let mut driver = subscribed_to(small());
            let mut switcher = Switcher::of(&driver, &small());
            for (hour, terms, now) in switches {
                switcher.switch(*hour, terms, 1, *now);
            }
            for (number, mut lines) in switcher.bills.clone().into_iter().enumerate() {
                let count = lines.len();
                lines.rotate_left(turn % count);
                if turn >= 3 {
                    lines.reverse();
                }
                tell(&mut driver, &switcher, number, lines);
            }
            assert_eq!(driver.gold(), credits, "{switches:?}");
            assert_eq!(unlocked(&driver), [tier], "{switches:?}");
            check::sound(&driver);
        }
    }
}

#[test]
fn what_is_given_back_below_the_first_tier_is_taken_off() {
    let mut driver = subscribed_to(mid());
    let mut switcher = Switcher::of(&driver, &mid());
    switcher.switch(240, &small(), 1, false);
    switcher.switch(480, &big(), 1, true);
    let lines = switcher.bills.remove(0);
    tell(&mut driver, &switcher, 0, lines);
    // 1,500 and 500 and 6,000 credits a month, ten days each.
    assert_eq!(driver.gold(), 2667);
}

/// Tiers of as many credits as an hour of them makes one credit.
fn hourly(level: i64) -> Terms {
    let names = ["none", "one", "two", "three", "four"];
    Terms {
        amount_cents: HOURS * level,
        ..tier(names[usize::try_from(level).unwrap()], HOURS * level)
    }
}

/// Counts each credit of each hour of the cycle: what it was charged for, less what was given back, and nothing that
/// was brought before, unless a bill took it off what others cost.
fn counted(first: i64, bills: &[Vec<Proration>], begun: Timestamp) -> i64 {
    let most = 13;
    let mut had = vec![vec![false; most]; usize::try_from(HOURS).unwrap()];
    let level = |line: &Proration| usize::try_from(line.tier().credits / HOURS).unwrap();
    let mut sum = HOURS * first;
    for hour in &mut had {
        hour[..usize::try_from(first).unwrap()].fill(true);
    }
    for lines in bills {
        let mut brings = 0;
        let mut taken_off = Vec::new();
        for (hour, had) in (0..).zip(&mut had) {
            let at = begun.plus_seconds(hour * 3600);
            let mut net = vec![0; most];
            for line in lines.iter().filter(|line| line.at <= at) {
                let sign = if line.given_back { -1 } else { 1 };
                net[..level(line)].iter_mut().for_each(|net| *net += sign);
            }
            for (net, had) in net.into_iter().zip(had) {
                match net {
                    0 => {}
                    1 => {
                        brings += i64::from(!std::mem::replace(had, true));
                    }
                    -1 => {
                        brings -= 1;
                        taken_off.push(had);
                    }
                    other => panic!("{other}"),
                }
            }
        }
        if brings >= 0 {
            taken_off.into_iter().for_each(|had| *had = false);
        }
        sum += brings.max(0);
    }
    sum
}

fn switches() -> impl Strategy<Value = Vec<(i64, i64, u32, bool)>> {
    let one = (0..120_i64, 1..5_i64, 1..4_u32, any::<bool>());
    proptest::collection::vec(one, 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn credits_are_in_proportion_to_the_money(
        first in 1..5_i64,
        switches in switches(),
        rotated in 0..9_usize,
        seed in any::<i64>(),
    ) {
        let mut driver = subscribed_to(hourly(first));
        let mut switcher = Switcher::of(&driver, &hourly(first));
        let mut hour = 0;
        for (passed, level, seats, now) in switches {
            hour += passed;
            switcher.switch(hour, &hourly(level), seats, now);
        }
        let last = std::mem::take(&mut switcher.pending);
        switcher.bills.extend((!last.is_empty()).then_some(last));
        let bills = switcher.bills.clone();
        for (number, mut lines) in bills.iter().cloned().enumerate() {
            let count = lines.len();
            lines.rotate_left(rotated % count);
            lines.sort_by_key(|line| (line.at.0 ^ line.tier().credits).wrapping_mul(seed));
            tell(&mut driver, &switcher, number, lines);
        }
        prop_assert_eq!(driver.gold(), counted(first, &bills, switcher.begun));
        // Where nothing that was paid is given back, each cent is worth a credit.
        let money = |lines: &Vec<Proration>| {
            let cents = lines.iter().map(|line| {
                let left = HOURS - (line.at.0 - switcher.begun.0) / 3_600_000;
                let cents = line.tier().amount_cents * left / HOURS;
                if line.given_back { -cents } else { cents }
            });
            cents.sum::<i64>()
        };
        let sums: Vec<i64> = bills.iter().map(money).collect();
        let falls = |lines: &Vec<Proration>| {
            let mut at: Vec<Timestamp> = lines.iter().map(|line| line.at).collect();
            at.dedup();
            at.iter().any(|at| {
                let of = lines.iter().filter(|line| line.at == *at);
                of.map(|line| line.tier().credits * if line.given_back { -1 } else { 1 }).sum::<i64>() < 0
            })
        };
        if !bills.iter().any(falls) {
            prop_assert_eq!(driver.gold(), HOURS * first + sums.iter().sum::<i64>());
        }
        check::sound(&driver);
    }
}
