//! Automatic top-ups against a provider that loses answers, answers twice, late and never.

use std::collections::BTreeMap;

use proptest::{prelude::*, test_runner::Config};

use super::{
    GOLD, at, deduct,
    driver::Driver,
    shop::{pack, paying, payment, placed},
};
use crate::{
    Quantity, Rejection, Timestamp,
    id::OrderSerial,
    project_event::{EventCollector, EventData},
    text::{CardId, CustomerId, PageUrl},
    time::Period,
    top_up::{
        ActionPage, CardBrand, CardDigits, ChargeFailure, Decline, DeclineCode, DeclineKind,
        SavedCard, TopUpConsent, TopUpRule, TopUpSize, TopUpState,
    },
    wallet::{
        Change, Event, OrderKind, OrderStatus,
        pay::Pay,
        purchase::{OrderReport, Purchase},
        top_up::SetTopUp,
    },
};

const CENTS: i64 = 1000;
const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn card(driver: &Driver, name: &str) -> SavedCard {
    SavedCard {
        customer: CustomerId::new("cus_ann").unwrap(),
        id: CardId::new(name).unwrap(),
        brand: CardBrand::new("visa").unwrap(),
        last4: CardDigits::new("4242").unwrap(),
        exp_month: 12,
        exp_year: 2031,
        saved_at: driver.now,
    }
}

fn rule(size: TopUpSize, monthly_limit_cents: i64) -> TopUpRule {
    TopUpRule {
        terms: pack(),
        threshold: 50,
        size,
        monthly_limit_cents,
        max_per_day: 3,
        consent: TopUpConsent {
            text: "Charge my card when fewer than 50 credits are left.".into(),
            at: Timestamp(0),
        },
    }
}

fn one() -> TopUpRule {
    rule(TopUpSize::Quantity(Quantity::ONE), 100 * CENTS)
}

fn set(rule: TopUpRule) -> SetTopUp {
    SetTopUp {
        rule: Some(rule),
        charge_now: false,
        needs_fresh_card: false,
    }
}

fn declined(code: &str, kind: DeclineKind) -> ChargeFailure {
    ChargeFailure::Declined(Decline {
        code: DeclineCode::new(code).unwrap(),
        kind,
    })
}

fn no_funds() -> ChargeFailure {
    declined("insufficient_funds", DeclineKind::Retryable)
}

impl Driver {
    fn all(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.commit(change);
        }
    }

    fn save_card(&mut self, name: &str) {
        let card = card(self, name);
        self.all(self.wallet.save_card(card));
    }

    fn set_top_up(&mut self, command: SetTopUp) -> Result<(), Rejection> {
        let change = self.wallet.set_top_up(command, self.now)?;
        self.all(change.into_iter().collect());
        Ok(())
    }

    /// A turn that runs a command, and then decides about the top-up, as the wallet's actor does.
    fn turn(&mut self, serial: u128, command: impl FnOnce(&mut Self)) {
        let before = self.wallet.watched_credits();
        self.touch();
        command(self);
        if self.wallet.needs_top_up(before, self.now) {
            let events = self.wallet.top_up_step(OrderSerial(serial), self.now);
            self.carry_all(events);
        }
    }

    /// Uses credits; the order that is placed, if one is, has this number.
    fn spend(&mut self, serial: u128, credits: i64) {
        self.turn(serial, |driver| {
            drop(driver.deduct(deduct(&format!("use {serial}"), credits)));
        });
    }

    fn fail_charge(&mut self, serial: u128, failure: ChargeFailure) {
        let report = OrderReport::ChargeFailed(failure);
        let report = Purchase::Report(OrderSerial(serial), report);
        self.turn(u128::MAX, |driver| {
            driver.purchase(report).unwrap();
        });
    }

    fn open(&self) -> Option<u128> {
        let open = self.wallet.top_up()?.open.as_ref()?;
        Some(open.order.0)
    }

    fn top_up_state(&self) -> TopUpState {
        let available = self.wallet.watched_credits().unwrap_or_default();
        self.wallet.top_up().unwrap().state(available, self.now).0
    }

    fn charged_this_month(&self) -> i64 {
        let top_up = self.wallet.top_up().unwrap();
        top_up.charged_this_month(self.now)
    }

    fn suspended_for(&self) -> Option<&'static str> {
        let suspended = self.wallet.top_up()?.suspended.as_ref();
        suspended.map(|reason| reason.name())
    }
}

/// A wallet with a hundred credits and a rule.
fn armed(rule: TopUpRule) -> Driver {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    driver.save_card("pm_1");
    driver.set_top_up(set(rule)).unwrap();
    driver
}

#[test]
fn a_use_that_leaves_too_little_charges_the_card_once() {
    let mut driver = armed(one());
    driver.spend(10, 50);
    assert_eq!(
        (driver.open(), driver.top_up_state()),
        (None, TopUpState::Armed)
    );
    driver.spend(11, 1);
    assert_eq!(
        (driver.open(), driver.top_up_state()),
        (Some(11), TopUpState::Charging)
    );
    let order = driver.placed_order(11);
    assert_eq!(
        (order.kind, order.status()),
        (OrderKind::TopUp, OrderStatus::Pending)
    );
    assert_eq!((order.amount_cents, order.terms.fills), (CENTS, GOLD));
    driver.spend(12, 1);
    assert_eq!(driver.open(), Some(11), "one attempt is open");
    assert_eq!(driver.pay(11, CENTS), Ok(true));
    assert_eq!((driver.open(), driver.gold()), (None, 148));
    assert_eq!(
        driver.pay(11, CENTS),
        Ok(false),
        "a report that comes twice"
    );
    assert_eq!(driver.gold(), 148);
    // Reads do not charge.
    driver.turn(13, |_| {});
    assert_eq!(driver.open(), None);
}

#[test]
fn an_attempt_after_another_waits_a_minute_and_then_comes_by_itself() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    driver.pay(10, CENTS).unwrap();
    driver.spend(11, 120);
    assert_eq!(
        (driver.open(), driver.top_up_state()),
        (None, TopUpState::CoolingDown)
    );
    let next = driver.wallet.top_up().unwrap().next_attempt_at(driver.now);
    assert_eq!(next, Some(driver.after_seconds(MINUTE)));
    driver.pass_seconds(MINUTE);
    driver.turn(12, |_| {});
    assert_eq!(driver.open(), Some(12));
}

#[test]
fn enabling_below_the_threshold_waits_for_a_use() {
    let mut driver = Driver::new();
    driver.save_card("pm_1");
    driver.set_top_up(set(one())).unwrap();
    driver.turn(10, |_| {});
    assert_eq!(
        (driver.open(), driver.top_up_state()),
        (None, TopUpState::Armed)
    );
    let events = driver.wallet.top_up_step(OrderSerial(11), driver.now);
    assert!(driver.carry_all(events), "chargeNow asks at once");
    assert_eq!(driver.open(), Some(11));
}

#[test]
fn a_target_is_reached_in_one_charge() {
    let mut driver = armed(rule(TopUpSize::Target(320), 100 * CENTS));
    driver.spend(10, 70);
    let order = driver.placed_order(10);
    assert_eq!((order.quantity.get(), order.amount_cents), (3, 3 * CENTS));
    driver.pay(10, 3 * CENTS).unwrap();
    assert_eq!(driver.gold(), 330);
}

#[test]
fn the_months_ceiling_holds_until_the_next_month() {
    let mut driver = armed(rule(TopUpSize::Quantity(Quantity::ONE), CENTS));
    driver.go_to("2026-03-31T23:00:00Z");
    driver.spend(10, 60);
    driver.pay(10, CENTS).unwrap();
    driver.pass_seconds(MINUTE);
    driver.spend(11, 100);
    assert_eq!(
        (driver.open(), driver.top_up_state()),
        (None, TopUpState::CoolingDown)
    );
    let next = driver.wallet.top_up().unwrap().next_attempt_at(driver.now);
    assert_eq!(next, Some(at("2026-04-01T00:00:00Z")));
    driver.go_to("2026-04-01T00:00:00Z");
    driver.turn(12, |_| {});
    assert_eq!(driver.open(), Some(12));
}

#[test]
fn a_limit_below_what_was_charged_charges_no_more() {
    let mut driver = armed(rule(TopUpSize::Quantity(Quantity::ONE), 3 * CENTS));
    for serial in [10, 11] {
        driver.spend(serial, 60 + 40 * i64::from(serial == 11));
        driver.pass_seconds(2 * MINUTE);
        driver.pay(serial, CENTS).unwrap();
        driver.pass_seconds(2 * MINUTE);
    }
    driver
        .set_top_up(set(rule(TopUpSize::Quantity(Quantity::ONE), CENTS)))
        .unwrap();
    driver.spend(12, driver.gold());
    assert_eq!(driver.open(), None);
    assert_eq!(driver.charged_this_month(), 2 * CENTS);
}

#[test]
fn switching_off_and_on_gives_nothing_back() {
    let mut driver = armed(rule(TopUpSize::Quantity(Quantity::ONE), CENTS));
    driver.spend(10, 60);
    driver.pay(10, CENTS).unwrap();
    let off = SetTopUp {
        rule: None,
        ..set(one())
    };
    driver.set_top_up(off).unwrap();
    assert_eq!(driver.top_up_state(), TopUpState::Off);
    driver
        .set_top_up(set(rule(TopUpSize::Quantity(Quantity::ONE), CENTS)))
        .unwrap();
    driver.pass_seconds(HOUR);
    driver.spend(11, 100);
    assert_eq!(driver.open(), None);
}

#[test]
fn three_declines_in_a_row_suspend_and_another_card_resumes() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    for serial in [10, 11, 12] {
        assert_eq!(driver.open(), Some(serial));
        driver.fail_charge(serial, no_funds());
        driver.fail_charge(serial, no_funds());
        assert_eq!(driver.placed_order(serial).status(), OrderStatus::Failed);
        driver.pass_seconds(HOUR);
        driver.turn(serial + 1, |_| {});
    }
    assert_eq!(
        (driver.open(), driver.top_up_state()),
        (None, TopUpState::Suspended)
    );
    assert_eq!(driver.suspended_for(), Some("declined"));
    assert_eq!(driver.charged_this_month(), 0);
    driver.pass_seconds(DAY);
    driver.spend(20, 1);
    assert_eq!(driver.open(), None, "a dead card is left alone");
    driver.save_card("pm_2");
    assert_eq!(driver.suspended_for(), None);
    driver.spend(21, 1);
    assert_eq!(driver.open(), Some(21));
}

#[test]
fn a_final_decline_suspends_at_once_until_the_buyer_pays() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    driver.fail_charge(10, declined("stolen_card", DeclineKind::Final));
    assert_eq!(driver.suspended_for(), Some("card_unusable"));
    driver.buy(11, pack());
    assert_eq!(driver.suspended_for(), None);
}

#[test]
fn the_bank_wants_the_buyer_whose_payment_ends_the_suspension() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    driver.order(11, pack()).unwrap();
    let page = ActionPage {
        order: OrderSerial(11),
        url: PageUrl::new("https://pay.example/11").unwrap(),
    };
    let decline = Decline {
        code: DeclineCode::new("authentication_required").unwrap(),
        kind: DeclineKind::ActionRequired,
    };
    driver.fail_charge(10, ChargeFailure::ActionRequired(decline, page));
    assert_eq!(driver.top_up_state(), TopUpState::ActionRequired);
    driver.pay(11, CENTS).unwrap();
    assert_eq!((driver.suspended_for(), driver.gold()), (None, 140));
}

#[test]
fn a_changed_price_is_charged_only_after_consent() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    driver.fail_charge(10, ChargeFailure::PriceChanged);
    assert_eq!(driver.suspended_for(), Some("price_changed"));
    driver.buy(11, pack());
    assert_eq!(
        driver.suspended_for(),
        Some("price_changed"),
        "the buyer agreed to nothing"
    );
    driver.set_top_up(set(one())).unwrap();
    assert_eq!(driver.suspended_for(), None);
}

#[test]
fn a_refund_waits_an_hour_and_for_the_threshold_to_be_crossed_again() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    driver.pay(10, CENTS).unwrap();
    assert!(driver.refund(10, CENTS));
    assert_eq!(driver.gold(), 40);
    driver.pass_seconds(2 * HOUR);
    driver.spend(11, 1);
    assert_eq!(driver.open(), None, "the refund is why it is below");
    driver.buy(12, pack());
    driver.spend(13, 100);
    assert_eq!(driver.open(), Some(13));
}

#[test]
fn a_refund_of_what_was_bought_by_hand_charges_nothing_either() {
    let mut driver = armed(one());
    driver.spend(10, 20);
    driver.turn(11, |driver| {
        assert!(driver.refund(1, CENTS));
    });
    assert_eq!((driver.open(), driver.gold()), (None, 0));
    driver.pass_seconds(2 * HOUR);
    driver.turn(12, |_| {});
    assert_eq!(driver.open(), None);
}

#[test]
fn what_was_never_charged_is_no_failure_of_the_card() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    for serial in [10, 11, 12] {
        assert_eq!(driver.open(), Some(serial));
        driver.fail_charge(serial, ChargeFailure::NeverCharged);
        assert_eq!(driver.suspended_for(), None);
        driver.pass_seconds(MINUTE);
        driver.turn(serial + 1, |_| {});
    }
    assert_eq!(driver.open(), None, "three a day");
    driver.pass_seconds(DAY);
    driver.turn(13, |_| {});
    assert_eq!(driver.open(), Some(13));
}

#[test]
fn another_card_charges_what_was_needed_although_nothing_is_left_to_use() {
    let mut driver = armed(one());
    driver.spend(10, 100);
    driver.fail_charge(10, declined("stolen_card", DeclineKind::Final));
    driver.pass_seconds(HOUR);
    driver.turn(11, |driver| driver.save_card("pm_2"));
    assert_eq!(driver.open(), Some(11));
}

#[test]
fn an_attempt_is_wanted_by_the_same_rule_and_card_only() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    let is_wanted = |driver: &Driver| driver.wallet.top_up().unwrap().is_wanted();
    assert!(is_wanted(&driver));
    let off = SetTopUp {
        rule: None,
        ..set(one())
    };
    driver.set_top_up(off).unwrap();
    assert_eq!(driver.top_up_state(), TopUpState::Charging);
    assert!(!is_wanted(&driver));
    driver.set_top_up(set(one())).unwrap();
    assert!(is_wanted(&driver));
    driver.save_card("pm_2");
    assert!(!is_wanted(&driver));
}

#[test]
fn a_payment_that_was_taken_for_failed_or_is_of_no_attempt_counts_for_the_month() {
    let mut driver = armed(rule(TopUpSize::Quantity(Quantity::ONE), 2 * CENTS));
    driver.spend(10, 60);
    driver.fail_charge(10, ChargeFailure::NeverCharged);
    assert_eq!(driver.pay(10, CENTS), Ok(true));
    let unknown = Pay {
        kind: OrderKind::TopUp,
        missing_order: Some(placed(11, pack())),
        ..paying(11, CENTS)
    };
    assert_eq!(driver.pay_with(unknown), Ok(true));
    assert_eq!(driver.placed_order(11).kind, OrderKind::TopUp);
    assert_eq!(driver.charged_this_month(), 2 * CENTS);
    driver.pass_seconds(HOUR);
    driver.spend(12, 220);
    assert_eq!((driver.open(), driver.gold()), (None, 20));
}

#[test]
fn a_dispute_of_a_top_up_suspends() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    driver.pay(10, CENTS).unwrap();
    driver.dispute(10, CENTS);
    assert_eq!(driver.suspended_for(), Some("disputed"));
}

#[test]
fn a_frozen_wallet_charges_nobody_and_an_open_attempt_still_pays() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    driver.set_frozen(true);
    driver.pay(10, CENTS).unwrap();
    assert_eq!(driver.gold(), 140);
    driver.pass_seconds(HOUR);
    assert_eq!(driver.wallet.top_up_step(OrderSerial(11), driver.now), []);
}

#[test]
fn a_removed_card_suspends_and_needs_another() {
    let mut driver = armed(one());
    driver.all(driver.wallet.remove_card());
    assert_eq!(driver.suspended_for(), Some("card_missing"));
    assert_eq!(driver.wallet.remove_card(), []);
    assert_eq!(driver.set_top_up(set(one())), Err(Rejection::CardRequired));
    driver.save_card("pm_2");
    assert_eq!(driver.suspended_for(), None);
}

#[test]
fn an_older_report_of_a_card_replaces_no_newer_one() {
    let mut driver = armed(one());
    let older = card(&driver, "pm_0");
    driver.pass_seconds(1);
    driver.save_card("pm_2");
    assert_eq!(driver.wallet.save_card(older), []);
}

#[test]
fn who_allows_more_has_just_entered_the_card() {
    let mut driver = armed(one());
    driver.pass_seconds(HOUR);
    let more = rule(TopUpSize::Quantity(Quantity::ONE), 200 * CENTS);
    let by_session = |rule: &TopUpRule| SetTopUp {
        needs_fresh_card: true,
        ..set(rule.clone())
    };
    let refused = Err(Rejection::CardConfirmationRequired);
    assert_eq!(driver.set_top_up(by_session(&more)), refused);
    let less = rule(TopUpSize::Quantity(Quantity::ONE), 50 * CENTS);
    assert_eq!(driver.set_top_up(by_session(&less)), Ok(()));
    driver.save_card("pm_2");
    assert_eq!(driver.set_top_up(by_session(&more)), Ok(()));
}

#[test]
fn a_rule_that_makes_no_sense_is_refused() {
    let quantity = TopUpSize::Quantity(Quantity::ONE);
    let mut driver = armed(one());
    for (field, bad) in [
        ("monthlyLimitCents", rule(quantity, CENTS - 1)),
        (
            "threshold",
            TopUpRule {
                threshold: 0,
                ..one()
            },
        ),
        ("target", rule(TopUpSize::Target(49), CENTS)),
        ("monthlyLimitCents", rule(TopUpSize::Target(201), 2 * CENTS)),
        ("target", rule(TopUpSize::Target(100_001), 1 << 40)),
        (
            "maxPerDay",
            TopUpRule {
                max_per_day: 0,
                ..one()
            },
        ),
        ("consent.text", {
            let text = " ".into();
            let consent = TopUpConsent {
                text,
                at: Timestamp(0),
            };
            TopUpRule { consent, ..one() }
        }),
    ] {
        match driver.set_top_up(set(bad)) {
            Err(Rejection::TopUpRule { field: named, .. }) => assert_eq!(named, field),
            other => panic!("{field}: {other:?}"),
        }
    }
}

#[test]
fn what_happens_is_reported() {
    let mut driver = armed(one());
    driver.spend(10, 60);
    let reported = |driver: &Driver, from: usize| {
        let mut collector = EventCollector::default();
        let mut data = Vec::new();
        for index in from..driver.events.len() {
            collector.add(driver.applied[index].clone(), &driver.states[index], &[]);
            data.extend(collector.data(&driver.states[index]));
        }
        data
    };
    let from = driver.events.len();
    driver.fail_charge(10, no_funds());
    let retry = Some(driver.after_seconds(2 * MINUTE));
    assert!(reported(&driver, from).iter().any(|data| matches!(data,
        EventData::TopUpFailed { order: OrderSerial(10), next_attempt_at, .. } if *next_attempt_at == retry)));
    driver.pass_seconds(2 * MINUTE);
    driver.turn(11, |_| {});
    let from = driver.events.len();
    driver.pay(11, CENTS).unwrap();
    assert!(reported(&driver, from).iter().any(|data| matches!(data,
        EventData::TopUpSucceeded(paid) if paid.balance == 140 && paid.order.amount_cents == CENTS)));
}

/// What the provider made of an attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// Asked or not: no answer has come.
    Unknown,
    Taken,
    Refused,
}

#[derive(Debug, Clone)]
enum Step {
    Spend(i64),
    Read,
    /// The provider decides about the open attempt; its answer may be lost.
    Decide(bool),
    /// What it decided about an attempt is reported, however often.
    Report(usize),
    Processing,
    ActionRequired,
    Final,
    Refund(usize),
    Dispute(usize),
    PayByHand,
    NewCard,
    RemoveCard,
    Set(i64, u32, bool),
    Off,
    Freeze(bool),
    Restart,
    Pass(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (1_i64..80).prop_map(Step::Spend),
        2 => Just(Step::Read),
        6 => any::<bool>().prop_map(Step::Decide),
        8 => (0_usize..4).prop_map(Step::Report),
        1 => Just(Step::Processing),
        1 => Just(Step::ActionRequired),
        1 => Just(Step::Final),
        1 => (0_usize..4).prop_map(Step::Refund),
        1 => (0_usize..4).prop_map(Step::Dispute),
        1 => Just(Step::PayByHand),
        1 => Just(Step::NewCard),
        1 => Just(Step::RemoveCard),
        2 => (1_i64..8, 1_u32..4, any::<bool>()).prop_map(|(limit, day, target)| Step::Set(limit, day, target)),
        1 => Just(Step::Off),
        1 => any::<bool>().prop_map(Step::Freeze),
        1 => Just(Step::Restart),
        8 => prop_oneof![Just(1), Just(MINUTE), Just(HOUR), Just(DAY), Just(20 * DAY), Just(-HOUR)]
            .prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..120)
}

/// The attempts as the provider's side and the wallet's events tell them.
#[derive(Default)]
struct Provider {
    /// By order: when it was decided, what it may charge, the ceilings then, and what came of it.
    attempts: BTreeMap<u128, (Timestamp, i64, i64, u32, Fate)>,
}

impl Provider {
    fn nth(&self, back: usize, fate: Fate) -> Option<u128> {
        let known = self.attempts.iter().rev();
        let known = known.filter(|(_, attempt)| attempt.4 == fate);
        known.map(|(&order, _)| order).nth(back)
    }
}

fn run(steps: Vec<Step>) {
    let mut driver = Driver::born_at(at("2026-01-30T20:00:00Z"));
    driver.keeps_states = false;
    let mut provider = Provider::default();
    driver.buy(1, pack());
    driver.save_card("pm_1");
    driver
        .set_top_up(set(rule(TopUpSize::Quantity(Quantity::ONE), 5 * CENTS)))
        .unwrap();
    for (number, step) in (100_u128..).zip(steps) {
        let open = driver.open();
        match step {
            Step::Spend(credits) => driver.spend(number, credits),
            Step::Read => driver.turn(number, |_| {}),
            Step::Decide(takes) => {
                let attempt = open.and_then(|open| provider.attempts.get_mut(&open));
                if let Some((.., fate @ Fate::Unknown)) = attempt {
                    *fate = if takes { Fate::Taken } else { Fate::Refused };
                }
            }
            Step::Report(back) => {
                if let Some(order) = provider.nth(back, Fate::Taken) {
                    let cents = provider.attempts[&order].1;
                    driver.turn(number, |driver| {
                        driver.pay(order, cents).unwrap();
                    });
                }
                if let Some(order) = provider.nth(back, Fate::Refused) {
                    driver.fail_charge(order, no_funds());
                }
            }
            Step::Processing => {
                if let Some(open) = open {
                    driver.process(open).unwrap();
                }
            }
            Step::ActionRequired | Step::Final => {
                let attempt = open.and_then(|open| provider.attempts.get_mut(&open));
                if let Some((open, (.., fate @ Fate::Unknown))) = open.zip(attempt) {
                    *fate = Fate::Refused;
                    driver.fail_charge(open, declined("stolen_card", DeclineKind::Final));
                }
            }
            Step::Refund(back) => {
                if let Some(order) = provider.nth(back, Fate::Taken)
                    && driver.placed_order(order).status() == OrderStatus::Paid
                {
                    driver.refund(order, provider.attempts[&order].1);
                }
            }
            Step::Dispute(back) => {
                if let Some(order) = provider.nth(back, Fate::Taken) {
                    driver.dispute(order, provider.attempts[&order].1);
                }
            }
            Step::PayByHand => driver.turn(u128::MAX, |driver| {
                if driver.order(number, pack()).is_ok() {
                    driver
                        .pay_with(Pay {
                            payment: payment(number, CENTS),
                            ..paying(number, CENTS)
                        })
                        .unwrap();
                }
            }),
            Step::NewCard => driver.save_card(&format!("pm_{number}")),
            Step::RemoveCard => driver.all(driver.wallet.remove_card()),
            Step::Set(limit, max_per_day, target) => {
                let size = match target {
                    true => TopUpSize::Target(200),
                    false => TopUpSize::Quantity(Quantity::ONE),
                };
                let rule = TopUpRule {
                    max_per_day,
                    ..rule(size, limit * CENTS)
                };
                drop(driver.set_top_up(set(rule)));
            }
            Step::Off => driver
                .set_top_up(SetTopUp {
                    rule: None,
                    ..set(one())
                })
                .unwrap(),
            Step::Freeze(frozen) => drop(driver.set_frozen(frozen)),
            Step::Restart => driver.sleep(),
            Step::Pass(seconds) => driver.pass_seconds(seconds),
        }
        check(&driver, &mut provider);
    }
}

fn check(driver: &Driver, provider: &mut Provider) {
    let top_up = driver.wallet.top_up().unwrap();
    if let Some(open) = &top_up.open
        && !provider.attempts.contains_key(&open.order.0)
    {
        let rule = top_up.rule.as_ref().unwrap();
        assert!(driver.wallet.available(GOLD) < rule.threshold && top_up.card.is_some());
        let attempt = (
            open.at,
            open.cents,
            rule.monthly_limit_cents,
            rule.max_per_day,
            Fate::Unknown,
        );
        let month = Period::Monthly.span(open.at).unwrap();
        let day = Period::Daily.span(open.at).unwrap();
        let others = provider.attempts.values();
        let charged = others
            .clone()
            .filter(|it| month.contains(it.0) && it.4 != Fate::Refused);
        let charged: i64 = charged.map(|it| it.1).sum();
        assert!(
            charged + open.cents <= rule.monthly_limit_cents,
            "the month's ceiling"
        );
        let today = others.filter(|it| day.contains(it.0)).count();
        assert!(today < rule.max_per_day as usize, "the attempts of a day");
        provider.attempts.insert(open.order.0, attempt);
    }
    let orders = driver.orders();
    let pending = orders.iter().filter(|(serial, order)| {
        order.kind == OrderKind::TopUp
            && Some(**serial) != top_up.open.as_ref().map(|open| open.order)
            && order.status() == OrderStatus::Pending
    });
    assert_eq!(pending.count(), 0, "an order without its attempt");
    let bought: i64 = orders
        .values()
        .filter(|order| order.kind == OrderKind::TopUp)
        .map(|order| order.granted_credits)
        .sum();
    let paid = orders.iter().filter(|(serial, order)| {
        order.paid_at.is_some()
            && provider
                .attempts
                .get(&serial.0)
                .is_some_and(|it| it.4 == Fate::Taken)
    });
    let paid: i64 = paid
        .map(|(serial, _)| provider.attempts[&serial.0].1 / CENTS * 100)
        .sum();
    assert_eq!(bought, paid, "credits are what succeeded payments bring");
    assert_eq!(driver.wallet.faults(), Vec::<String>::new());
}

proptest! {
    #![proptest_config(Config::with_cases(400))]

    #[test]
    fn ceilings_hold_all_that_may_happen(steps in steps()) {
        run(steps);
    }
}

#[test]
fn a_dead_card_is_asked_three_times_in_a_month() {
    let mut driver = armed(one());
    driver.keeps_states = false;
    driver.spend(10, 60);
    let mut attempts = 0;
    for minute in 0..30 * 24 * 60_u128 {
        driver.now = driver.now.plus_seconds(MINUTE);
        driver.turn(1000 + minute, |driver| {
            if minute % 1440 < 40 && driver.gold() > 0 && minute < 40 {
                driver.deduct(deduct(&format!("m{minute}"), 1)).unwrap();
            }
        });
        if let Some(open) = driver.open() {
            attempts += 1;
            driver.fail_charge(open, no_funds());
        }
    }
    assert_eq!(attempts, 3);
    let suspended = driver.events.iter().filter(|Event { change, .. }| {
        matches!(change, Change::TopUp(change) if matches!(**change, crate::top_up::TopUpChange::Suspended(_)))
    });
    assert_eq!(suspended.count(), 1, "one mail");
}
