//! Reports of a subscription's cycles in every order: payments, switches, changes of status, money going back. The
//! end is the same, and nothing is granted twice.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    converge::permutations,
    driver::Driver,
    property::check,
    shop::{DAY, MONTH, basic, paying, payment, placed, sub, switch, tier},
};
use crate::{
    Timestamp,
    catalog::Interval,
    id::OrderSerial,
    terms::Terms,
    text::InvoiceId,
    wallet::{
        OrderKind, OrderStatus, Reversal,
        SubscriptionStatus::{self, Active, Canceled, PastDue, Paused},
        bill::{Bill, Pays},
        pay::{PaidCycle, Pay},
        purchase::Purchase,
        update_subscription::UpdateSubscription,
    },
};

/// Instants in days since the first payment.
#[derive(Debug, Clone)]
enum Report {
    Paid {
        trial: bool,
    },
    Renewed {
        order: u128,
        terms: Terms,
        from: i64,
        days: i64,
    },
    Switched {
        order: u128,
        tiers: (Terms, Terms),
        at: i64,
        cycle: i64,
    },
    Updated {
        terms: Terms,
        status: SubscriptionStatus,
        at: i64,
        until: i64,
    },
    Reversed {
        order: u128,
        refunded: i64,
        at: i64,
    },
}

use Report::*;

const CYCLE: i64 = MONTH / DAY;

fn plus() -> Terms {
    Terms {
        amount_cents: 2500,
        ..tier("plus", 250)
    }
}

fn most() -> Terms {
    Terms {
        amount_cents: 4000,
        ..tier("most", 400)
    }
}

fn yearly() -> Terms {
    Terms {
        interval: Interval::Year,
        amount_cents: 9000,
        ..tier("yearly", 1500)
    }
}

struct History {
    driver: Driver,
    started_at: Timestamp,
}

impl History {
    /// Starts the clock long after all that will be reported.
    fn begin() -> Self {
        let mut driver = Driver::new();
        let started_at = driver.now;
        driver.now = driver.after_seconds(1000 * DAY);
        Self { driver, started_at }
    }

    fn day(&self, day: i64) -> Timestamp {
        self.started_at.plus_seconds(day * DAY)
    }

    fn billing(&self, of: u128, from: i64, until: i64, updated: i64) -> PaidCycle {
        PaidCycle {
            subscription: sub(of),
            invoice: Some(InvoiceId::new(format!("in_{of}_{from}_{updated}")).unwrap()),
            cycle_start: self.day(from),
            current_period_end: self.day(until),
            trial: false,
            after_end: false,
            paused: false,
            reported_at: self.day(updated),
        }
    }

    fn apply(&mut self, report: &Report) -> bool {
        self.apply_to(1, report)
    }

    /// Applies a report to this subscription, which has orders of its own.
    fn apply_to(&mut self, of: u128, report: &Report) -> bool {
        let serial = |order| own(of, order);
        let purchase = match report.clone() {
            Paid { trial } => {
                let terms = Terms {
                    trial_days: trial.then_some(14),
                    trial_credits: 7,
                    ..basic()
                };
                let billing = PaidCycle {
                    trial,
                    ..self.billing(of, 0, CYCLE, 0)
                };
                Purchase::Pay(Box::new(Pay {
                    missing_order: Some(placed(serial(1), terms)),
                    billing: Some(billing),
                    ..paying(serial(1), 1000)
                }))
            }
            Renewed {
                order,
                terms,
                from,
                days,
            } => Purchase::Bill(Box::new(Bill {
                order: OrderSerial(serial(order)),
                is_add_on: false,
                pays: Pays::Cycle,
                payment: payment(serial(order), terms.amount_cents),
                terms: Some(terms),
                quantity: crate::Quantity::ONE,
                billing: self.billing(of, from, from + days, from),
            })),
            Switched {
                order,
                tiers: (old, terms),
                at,
                cycle,
            } => Purchase::Bill(Box::new(Bill {
                order: OrderSerial(serial(order)),
                is_add_on: false,
                pays: switch(
                    old,
                    terms.clone(),
                    self.day(at),
                    &self.billing(of, cycle, cycle + CYCLE, at),
                ),
                terms: Some(terms),
                quantity: crate::Quantity::ONE,
                payment: payment(serial(order), 700),
                billing: self.billing(of, cycle, cycle + CYCLE, at),
            })),
            Updated {
                terms,
                status,
                at,
                until,
            } => Purchase::Update(Box::new(UpdateSubscription {
                subscription: sub(of),
                first: None,
                terms: Some(terms),
                status,
                open_invoice: None,
                collection_paused: false,
                current_period_end: self.day(until),
                cancel_at_period_end: false,
                grace_days: 7,
                // Read a moment after everything that happened on that day.
                reported_at: Timestamp(self.day(at).0 + 1),
            })),
            Reversed {
                order,
                refunded,
                at,
            } => {
                let reversal = Reversal {
                    refunded_cents: refunded,
                    disputed_cents: 0,
                    dispute: None,
                    as_of: self.day(at),
                };
                Purchase::Reverse(OrderSerial(serial(order)), reversal)
            }
        };
        self.driver.purchase(purchase).unwrap()
    }

    /// The visible state: status, tier, features, credits by order, orders.
    fn seen(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let driver = &self.driver;
        let features = driver.wallet.features(driver.now);
        let features: Vec<String> = features.into_iter().map(str::to_owned).collect();
        (self.seen_of(1), features, driver.gold())
    }

    /// The visible state of one subscription.
    fn seen_of(&self, of: u128) -> impl PartialEq + std::fmt::Debug + use<> {
        let driver = &self.driver;
        let current = driver.wallet.subscription(&sub(of));
        let current = current.map(|existing| {
            let tier = existing.tier().label.clone();
            let order = existing.order;
            (
                existing.status,
                tier,
                existing.cycle_end,
                order,
                existing.current_period_end,
            )
        });
        let orders = driver.orders();
        let orders = orders
            .iter()
            .filter(|(serial, _)| serial.0 / 1000 + 1 == of);
        let orders = orders.map(|(serial, order)| {
            // What was taken of credits that expire depends on which of the two was first.
            let credits = (order.granted_credits, driver.left_of(serial.0));
            (serial.0, (order.kind, order.status(), credits))
        });
        let orders: BTreeMap<u128, (OrderKind, OrderStatus, (i64, i64))> = orders.collect();
        (current, orders)
    }
}

/// The serial of a subscription's order.
const fn own(of: u128, order: u128) -> u128 {
    (of - 1) * 1000 + order
}

/// Applies the reports in this order, each so many times, and then the subscription's present state once more,
/// which is read after each payment.
fn applied(order: &[Report], times: usize) -> History {
    let mut history = History::begin();
    let updated = |report: &&Report| matches!(report, Updated { .. });
    let at = |report: &&Report| match report {
        Updated { at, .. } => *at,
        _ => 0,
    };
    for report in order {
        for _ in 0..times {
            history.apply(report);
            check::sound(&history.driver);
        }
    }
    if let Some(last) = order.iter().filter(updated).max_by_key(at) {
        history.apply(last);
    }
    history
}

/// The same for two subscriptions.
fn both_applied(order: &[(u128, Report)], times: usize) -> History {
    let mut history = History::begin();
    for (of, report) in order {
        for _ in 0..times {
            history.apply_to(*of, report);
            check::sound(&history.driver);
        }
    }
    for of in [1, 2] {
        let updated = order.iter().filter(|(it, _)| *it == of);
        let updated = updated.filter_map(|(_, report)| match report {
            Updated { at, .. } => Some((*at, report)),
            _ => None,
        });
        if let Some((_, last)) = updated.max_by_key(|(at, _)| *at) {
            history.apply_to(of, last);
        }
    }
    history
}

/// Checks that the reports end the same in every order as in the given one, with these credits and this tier.
fn always(reports: &[Report], credits: i64, tier: Option<&str>) {
    let in_order = applied(reports, 1);
    assert_eq!(in_order.driver.gold(), credits, "in order");
    let current = in_order.driver.wallet.subscription(&sub(1));
    let label = current.map(|existing| existing.tier().label.as_deref().unwrap());
    assert_eq!(label, tier, "in order");
    for order in permutations(reports) {
        for times in [1, 2] {
            let mut history = applied(&order, times);
            assert_eq!(history.seen(), in_order.seen(), "{order:?}, {times} times");
            for report in &order {
                if !matches!(report, Updated { .. }) {
                    assert!(!history.apply(report), "{report:?} again after {order:?}");
                }
            }
            check::replays(&history.driver);
        }
    }
}

fn updated(terms: Terms, at: i64, until: i64) -> Report {
    Updated {
        terms,
        status: Active,
        at,
        until,
    }
}

fn renewed(order: u128, terms: Terms, from: i64) -> Report {
    Renewed {
        order,
        terms,
        from,
        days: CYCLE,
    }
}

fn up(order: u128, tiers: (Terms, Terms), at: i64, cycle: i64) -> Report {
    Switched {
        order,
        tiers,
        at,
        cycle,
    }
}

const FIRST: Report = Paid { trial: false };

#[test]
fn a_switch_within_the_first_cycle() {
    let reports = [
        FIRST,
        up(2, (basic(), plus()), 15, 0),
        updated(plus(), 15, CYCLE),
        up(3, (plus(), most()), 24, 0),
        updated(most(), 24, CYCLE),
    ];
    always(&reports, 100 + 75 + 30, Some("most"));
}

#[test]
fn a_switch_and_the_renewal_after_it() {
    let reports = [
        FIRST,
        up(2, (basic(), plus()), 15, 0),
        updated(plus(), 15, CYCLE),
        renewed(3, plus(), CYCLE),
        updated(plus(), CYCLE, 2 * CYCLE),
    ];
    always(&reports, 250, Some("plus"));
}

#[test]
fn a_switch_in_the_second_cycle() {
    let reports = [
        FIRST,
        renewed(2, basic(), CYCLE),
        up(3, (basic(), plus()), CYCLE + 15, CYCLE),
        updated(plus(), CYCLE + 15, 2 * CYCLE),
        Reversed {
            order: 2,
            refunded: 500,
            at: CYCLE + 16,
        },
    ];
    always(&reports, 50 + 75, Some("plus"));
}

#[test]
fn the_hour_in_which_a_renewals_invoice_is_a_draft() {
    let reports = [
        FIRST,
        updated(basic(), 3, CYCLE),
        // The period has moved on, nothing is paid yet.
        updated(basic(), CYCLE, 2 * CYCLE),
        renewed(2, basic(), CYCLE),
        updated(basic(), CYCLE + 1, 2 * CYCLE),
    ];
    always(&reports, 100, Some("basic"));
}

#[test]
fn a_switch_down_that_waits_for_the_renewal() {
    let first = up(2, (basic(), plus()), 0, 0);
    let reports = [
        FIRST,
        first.clone(),
        // By schedule, or at once in the provider's own dashboard.
        updated(basic(), 20, CYCLE),
    ];
    always(&reports, 250, Some("plus"));
    let reports = [
        FIRST,
        first,
        updated(basic(), 20, CYCLE),
        renewed(3, basic(), CYCLE),
        updated(basic(), CYCLE, 2 * CYCLE),
    ];
    always(&reports, 100, Some("basic"));
}

#[test]
fn a_whole_new_cycle() {
    let year = Renewed {
        order: 2,
        terms: yearly(),
        from: 10,
        days: 365,
    };
    let reports = [
        FIRST,
        up(3, (basic(), plus()), 5, 0),
        year,
        updated(yearly(), 10, 375),
        Reversed {
            order: 1,
            refunded: 1000,
            at: 12,
        },
    ];
    always(&reports, 1500, Some("yearly"));
}

#[test]
fn three_cycles_and_the_end() {
    let reports = [
        FIRST,
        renewed(2, basic(), CYCLE),
        renewed(3, plus(), 2 * CYCLE),
        updated(plus(), 2 * CYCLE, 3 * CYCLE),
    ];
    always(&reports, 250, Some("plus"));
    let ended = Updated {
        terms: plus(),
        status: Canceled,
        at: 70,
        until: 3 * CYCLE,
    };
    let reports = [
        FIRST,
        renewed(2, basic(), CYCLE),
        up(4, (basic(), plus()), 40, CYCLE),
        renewed(3, plus(), 2 * CYCLE),
        ended,
    ];
    always(&reports, 0, None);
}

#[test]
fn a_trial_and_the_first_cycle_that_is_paid() {
    let reports = [
        Paid { trial: true },
        updated(basic(), 1, 14),
        renewed(2, basic(), 14),
        updated(basic(), 14, 14 + CYCLE),
    ];
    always(&reports, 100, Some("basic"));
}

#[test]
fn a_missing_payment_and_a_pause() {
    let late = |status, at| Updated {
        terms: basic(),
        status,
        at,
        until: 2 * CYCLE,
    };
    let reports = [
        FIRST,
        late(PastDue, CYCLE),
        renewed(2, basic(), CYCLE),
        late(Paused, CYCLE + 5),
    ];
    always(&reports, 100, Some("basic"));
    let reports = [
        FIRST,
        late(Paused, 5),
        renewed(2, basic(), CYCLE),
        late(Active, CYCLE + 5),
    ];
    always(&reports, 100, Some("basic"));
}

#[test]
fn money_that_goes_back_and_comes_again() {
    let reversed = |order, refunded, at| Reversed {
        order,
        refunded,
        at,
    };
    let reports = [
        FIRST,
        up(2, (basic(), plus()), 15, 0),
        reversed(1, 1000, 16),
        reversed(1, 0, 18),
        reversed(2, 700, 17),
    ];
    always(&reports, 100, Some("basic"));
}

/// A month: its tier; the tier and day of a switch; whether it is reported while its invoice is a decision.
type Month = (usize, Option<(usize, i64)>, bool);

/// The reports of a subscription with these months.
fn life(months: &[Month]) -> Vec<Report> {
    let tiers = [basic(), plus(), most()];
    let mut reports = Vec::new();
    for (month, &(started_at, switch, decision)) in (0..).zip(months) {
        let (start, order) = (month * CYCLE, 10 * (month.unsigned_abs() as u128 + 1));
        let started_at = if month == 0 { 0 } else { started_at };
        if decision {
            reports.push(updated(tiers[started_at].clone(), start, start + CYCLE));
        }
        reports.push(match month {
            0 => FIRST,
            _ => renewed(order, tiers[started_at].clone(), start),
        });
        let highest = switch.map_or(started_at, |(to, _)| to.max(started_at));
        if let Some((to, day)) = switch.filter(|&(to, _)| to > started_at) {
            let between = (tiers[started_at].clone(), tiers[to].clone());
            reports.push(up(order + 1, between, start + day, start));
        }
        reports.push(updated(tiers[highest].clone(), start + 29, start + CYCLE));
    }
    reports
}

/// The reports of some months of a subscription, which the provider may end in the last of them, or after it.
fn lives() -> impl Strategy<Value = Vec<Report>> {
    let months = prop::collection::vec(
        (
            0..3_usize,
            prop::option::of((0..3_usize, 1..29_i64)),
            any::<bool>(),
        ),
        1..5,
    );
    (months, prop::option::of(-20..20_i64)).prop_map(|(months, end)| {
        let mut reports = life(&months);
        let until = i64::try_from(months.len()).unwrap() * CYCLE;
        reports.extend(end.map(|days| Updated {
            terms: basic(),
            status: Canceled,
            at: until + days.max(0),
            until: until + days.min(0),
        }));
        reports
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_life_comes_to_the_same_in_any_order(
        (reports, shuffled) in prop::collection::vec(
            (0..3_usize, prop::option::of((0..3_usize, 1..29_i64)), any::<bool>()), 1..5
        )
            .prop_map(|months| life(&months))
            .prop_flat_map(|reports| (Just(reports.clone()), Just(reports).prop_shuffle())),
    ) {
        let (in_order, shuffled) = (applied(&reports, 1), applied(&shuffled, 2));
        prop_assert_eq!(shuffled.seen(), in_order.seen());
    }

    /// Two checkouts of one product that were paid at once: each has its own cycles and orders, which begin within
    /// a day of each other, and neither ends or renews the other's.
    #[test]
    fn two_subscriptions_of_one_product_are_two_lives(
        (one, other, shuffled) in (lives(), lives()).prop_flat_map(|(one, other)| {
            let of = |of: u128, life: Vec<Report>| -> Vec<(u128, Report)> {
                life.into_iter().map(|report| (of, report)).collect()
            };
            let (one, other) = (of(1, one), of(2, other));
            let both = [one.clone(), other.clone()].concat();
            (Just(one), Just(other), Just(both).prop_shuffle())
        }),
    ) {
        let both = both_applied(&shuffled, 2);
        let (one, other) = (both_applied(&one, 1), both_applied(&other, 1));
        prop_assert_eq!(both.seen_of(1), one.seen_of(1));
        prop_assert_eq!(both.seen_of(2), other.seen_of(2));
        prop_assert_eq!(both.driver.gold(), one.driver.gold() + other.driver.gold());
        check::replays(&both.driver);
    }
}
