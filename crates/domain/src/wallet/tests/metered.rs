//! Charges by rate cards: a wallet's credits are the whole part of what all of its work cost, in any history.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::json;

use super::{
    GOLD, KEY, TIN, credit,
    driver::{Done, Driver},
    hold_id, key,
};
use crate::{
    Rejection, Timestamp,
    history::RecordContent,
    id::ProductId,
    limit::Spender,
    rate_card::{
        Attributes, MeteredUse, Quantities, Rate, RateCardSlug, RateTable, Rating, Unrated,
        WorkCost,
    },
    wallet::{
        ProductRef,
        deduct::Deduct,
        draw::Draw,
        hold::{MAX_OPEN_HOLDS, PlaceHold},
        settle::Settle,
        shortfall::{CostDecision, OnShortfall},
    },
};

/// Prices of a token by version, in billionths of a credit.
const PRICES: [u64; 3] = [300_000_000, 7, 1_999_999_999];

fn table(version: u32) -> RateTable {
    let price = PRICES[version as usize - 1];
    let (whole, rest) = (price / 1_000_000_000, price % 1_000_000_000);
    let rates: Vec<Rate> = serde_json::from_value(json!([
        {"match": {"model": "m"}, "unitPrices": {"input": format!("{whole}.{rest:09}")}, "minimum": "0.05"},
    ]))
    .unwrap();
    RateTable::new(&rates).unwrap()
}

fn used(version: u32, tokens: u64) -> MeteredUse {
    used_of(GOLD, version, "m", tokens)
}

fn used_of(product: ProductId, version: u32, model: &str, tokens: u64) -> MeteredUse {
    let attributes = Attributes::new(BTreeMap::from([("model".into(), model.into())])).unwrap();
    let quantities = Quantities::new(BTreeMap::from([("input".into(), tokens)])).unwrap();
    let rating = table(version).cost(&attributes, &quantities);
    let rating = rating.map_err(Unrated::from).map(|rated| Rating {
        version,
        product,
        cost: rated.cost,
        minimum: rated.minimum,
    });
    MeteredUse {
        card: RateCardSlug::new("chat").unwrap(),
        attributes,
        quantities,
        rating,
    }
}

fn metered<A>(used: MeteredUse) -> WorkCost<A> {
    WorkCost::Metered(Box::new(used))
}

fn deduct(name: &str, used: MeteredUse) -> Deduct {
    Deduct {
        product: ProductRef::Named(GOLD),
        cost: metered(used),
        key: key(name),
        meta: None,
        on_shortfall: OnShortfall::Refuse,
        by: Spender::default(),
    }
}

fn place(serial: u128, used: MeteredUse, expires_at: Timestamp) -> PlaceHold {
    PlaceHold {
        id: hold_id(serial),
        product: ProductRef::Named(GOLD),
        cost: metered(used),
        expires_at,
        key: key(&format!("h{serial}")),
        meta: None,
        publishable: false,
        max_open: MAX_OPEN_HOLDS,
        max_overrun: 0,
        by: Spender::default(),
    }
}

fn draw(serial: u128, name: &str, used: MeteredUse) -> Draw {
    Draw {
        hold: hold_id(serial),
        cost: metered(used),
        key: key(name),
        meta: None,
    }
}

fn settle(serial: u128, cost: WorkCost<i64>, on_shortfall: OnShortfall) -> Settle {
    Settle {
        hold: hold_id(serial),
        cost,
        on_shortfall,
        publishable: false,
        meta: None,
    }
}

fn rich(amount: i64) -> Driver {
    let mut driver = Driver::new();
    driver.credit(credit("start", amount, None)).unwrap();
    driver
}

/// What a decision charged, and its exact cost.
fn charge(decision: &CostDecision) -> (i64, String) {
    let whole = decision.coverage.charged + decision.coverage.owed + decision.coverage.uncovered;
    (whole, decision.rate.as_ref().unwrap().cost.to_string())
}

#[test]
fn a_deduction_charges_whole_credits_and_carries_the_rest() {
    let mut driver = rich(10);
    for (name, credits, carried) in [
        ("a", 0, "0.3"),
        ("b", 0, "0.6"),
        ("c", 0, "0.9"),
        ("d", 1, "0.2"),
    ] {
        let decided = driver.charge(deduct(name, used(1, 1))).unwrap();
        assert_eq!(charge(&decided), (credits, "0.3".into()));
        let entry = driver.last_entry();
        assert_eq!(
            entry.delta, -credits,
            "an entry of nothing is in the ledger, too"
        );
        assert_eq!(entry.rate, decided.rate);
        assert_eq!(entry.rate.as_ref().unwrap().carried.to_string(), carried);
    }
    assert_eq!(driver.wallet.available(GOLD), 9);
}

#[test]
fn a_repeat_is_answered_at_any_price() {
    let mut driver = rich(10);
    let first = driver.charge(deduct("a", used(1, 10))).unwrap();
    assert_eq!(charge(&first), (3, "3".into()));
    let closed = MeteredUse {
        rating: Err(Unrated::NoCard),
        ..used(1, 10)
    };
    for repeat in [used(3, 10), closed] {
        let again = driver.charge(deduct("a", repeat)).unwrap();
        assert_eq!(again.change, None);
        assert_eq!(
            (again.coverage, again.rate),
            (first.coverage, first.rate.clone())
        );
    }
    for other in [used(1, 11), used_of(GOLD, 1, "n", 10)] {
        let refused = driver.charge(deduct("a", other));
        assert_eq!(refused, Err(Rejection::KeyReused));
    }
    let plain = driver.deduct(super::deduct("a", 3));
    assert_eq!(plain, Err(Rejection::KeyReused));
    driver.deduct(super::deduct("plain", 3)).unwrap();
    let by_card = driver.charge(deduct("plain", used(1, 10)));
    assert_eq!(by_card, Err(Rejection::KeyReused));
}

#[test]
fn what_has_no_price_is_refused_and_never_free() {
    let mut driver = rich(10);
    let no_rate = driver.charge(deduct("a", used_of(GOLD, 1, "n", 1)));
    assert!(matches!(no_rate, Err(Rejection::Unrated(Unrated::Rate(_)))));
    let of_tin = driver.charge(deduct("a", used_of(TIN, 1, "m", 1)));
    assert_eq!(of_tin, Err(Rejection::Unrated(Unrated::OtherProduct)));
    assert_eq!(driver.wallet.available(GOLD), 10);
    assert_eq!(driver.entries().len(), 1, "the grant");
}

#[test]
fn a_minimum_is_for_whole_work_and_not_for_draws() {
    let mut driver = rich(100);
    let least = driver.charge(deduct("a", used(2, 1))).unwrap();
    assert_eq!(charge(&least).1, "0.05");
    driver
        .place(place(1, used(2, 1), driver.after_seconds(60)))
        .unwrap();
    assert_eq!(driver.find_hold(hold_id(1)).unwrap().amount, 1);
    driver.draw(draw(1, "d", used(2, 1))).unwrap();
    let drawn = driver.last_entry().rate.as_ref().unwrap();
    assert_eq!(drawn.cost.to_string(), "0.000000007");
    let settled = driver.settle_by(settle(1, metered(used(2, 1)), OnShortfall::Refuse));
    assert_eq!(charge(&settled.unwrap()), (0, "0.05".into()));
}

#[test]
fn a_settlement_is_repeated_by_what_was_used() {
    let mut driver = rich(100);
    driver
        .place(place(1, used(1, 10), driver.after_seconds(60)))
        .unwrap();
    assert_eq!(
        driver
            .find_hold(hold_id(1))
            .unwrap()
            .pinned_version(&used(1, 1).card),
        Some(1)
    );
    let whole = || settle(1, metered(used(1, 10)), OnShortfall::Refuse);
    let first = driver.settle_by(whole()).unwrap();
    let again = driver.settle_by(whole()).unwrap();
    assert_eq!(again.change, None);
    assert_eq!((again.coverage, &again.rate), (first.coverage, &first.rate));
    let refused = driver.settle_by(settle(1, 3.into(), OnShortfall::Refuse));
    assert_eq!(refused, Err(Rejection::HoldClosed));
    let again = driver.place(place(1, used(3, 10), driver.after_seconds(60)));
    assert!(
        matches!(again, Ok(Done::Replayed(_))),
        "bound to what was used"
    );
    let other = driver.place(place(1, used(1, 11), driver.after_seconds(60)));
    assert_eq!(other, Err(Rejection::KeyReused));
}

#[test]
fn what_draws_carried_and_others_paid_goes_back() {
    let mut driver = rich(10);
    let end = driver.after_seconds(60);
    driver.place(place(1, used(1, 1), end)).unwrap();
    for round in 0..3 {
        // 0.9, which another deduction of 0.3 makes a whole credit.
        driver
            .draw(draw(1, &format!("d{round}"), used(1, 3)))
            .unwrap();
        driver
            .charge(deduct(&format!("x{round}"), used(1, 1)))
            .unwrap();
    }
    // 3.6 in all: of the three credits the hold's draws paid none or one.
    assert_eq!(driver.wallet.account(GOLD).unwrap().sum(), 10 - 3);
    let settled = driver.settle_by(settle(1, metered(used(2, 1)), OnShortfall::Refuse));
    let (whole, _) = charge(&settled.unwrap());
    assert!(
        whole < 0,
        "the others cost 0.9 and the hold 0.05, so nothing is charged: {whole}"
    );
    assert_eq!(driver.wallet.account(GOLD).unwrap().sum(), 10);
    driver.sleep();
}

/// A random history, and what it cost in exact fractions.
struct History {
    driver: Driver,
    cost: BigRational,
    /// Exact costs of draws by hold.
    drawn: BTreeMap<u128, BigRational>,
    charged: i64,
    reversed: i64,
    plain: i64,
    version: u32,
    holds: u128,
    pinned: BTreeMap<u128, u32>,
}

#[derive(Debug, Clone)]
enum Step {
    Deduct {
        tokens: u64,
        short: OnShortfall,
    },
    Plain {
        amount: i64,
    },
    Hold {
        tokens: u64,
    },
    Draw {
        hold: u128,
        tokens: u64,
    },
    Settle {
        hold: u128,
        tokens: u64,
        short: OnShortfall,
    },
    Release {
        hold: u128,
    },
    Credit {
        amount: i64,
        seconds: Option<i64>,
    },
    Reverse {
        back: usize,
    },
    Price {
        version: u32,
    },
    Wait {
        seconds: i64,
    },
    Repeat,
}

fn step() -> impl Strategy<Value = Step> {
    let short = || {
        prop_oneof![
            Just(OnShortfall::Refuse),
            Just(OnShortfall::Drain),
            Just(OnShortfall::Owe)
        ]
    };
    let hold = || 0..4_u128;
    prop_oneof![
        6 => (1..9_u64, short()).prop_map(|(tokens, short)| Step::Deduct { tokens, short }),
        1 => (1..3_i64).prop_map(|amount| Step::Plain { amount }),
        3 => (1..9_u64).prop_map(|tokens| Step::Hold { tokens }),
        4 => (hold(), 1..9_u64).prop_map(|(hold, tokens)| Step::Draw { hold, tokens }),
        3 => (hold(), 1..30_u64, short())
            .prop_map(|(hold, tokens, short)| Step::Settle { hold, tokens, short }),
        1 => hold().prop_map(|hold| Step::Release { hold }),
        2 => (1..30_i64, proptest::option::of(1..200_i64))
            .prop_map(|(amount, seconds)| Step::Credit { amount, seconds }),
        1 => (1..6_usize).prop_map(|back| Step::Reverse { back }),
        1 => (1..=3_u32).prop_map(|version| Step::Price { version }),
        1 => (1..90_i64).prop_map(|seconds| Step::Wait { seconds }),
        2 => Just(Step::Repeat),
    ]
}

impl History {
    fn new() -> Self {
        let mut driver = Driver::new();
        driver.keeps_states = false;
        driver.limits = vec![crate::wallet::debt_limit::DebtLimit {
            product: GOLD,
            credits: 7,
        }];
        driver.credit(credit("start", 40, None)).unwrap();
        Self {
            driver,
            cost: zero(),
            drawn: BTreeMap::new(),
            charged: 0,
            reversed: 0,
            plain: 0,
            version: 1,
            holds: 0,
            pinned: BTreeMap::new(),
        }
    }

    /// The exact cost by a model of fractions that has nothing of the code's arithmetic.
    fn exact(version: u32, tokens: u64, with_minimum: bool) -> BigRational {
        let price = BigRational::new(PRICES[version as usize - 1].into(), 1_000_000_000.into());
        let cost = price * BigRational::from(BigInt::from(tokens));
        let least = BigRational::new(1.into(), 20.into());
        match with_minimum {
            true => cost.max(least),
            false => cost,
        }
    }

    fn run(&mut self, number: usize, step: &Step) {
        let name = format!("k{number}");
        match *step {
            Step::Deduct { tokens, short } => {
                let version = self.version;
                let command = || Deduct {
                    on_shortfall: short,
                    ..deduct(&name, used(version, tokens))
                };
                if let Ok(decided) = self.driver.charge(command()) {
                    self.cost += Self::exact(version, tokens, true);
                    self.charged += charge(&decided).0;
                    // A price that changed meanwhile changes no repeat.
                    self.version = version % 3 + 1;
                    let again = Deduct {
                        cost: metered(used(self.version, tokens)),
                        ..command()
                    };
                    assert_eq!(self.driver.charge(again).unwrap().change, None);
                    self.version = version;
                }
            }
            Step::Plain { amount } => {
                if self.driver.deduct(super::deduct(&name, amount)).is_ok() {
                    self.plain += amount;
                }
            }
            Step::Hold { tokens } => {
                let end = self.driver.after_seconds(45);
                let serial = self.holds;
                if self
                    .driver
                    .place(place(serial, used(self.version, tokens), end))
                    .is_ok()
                {
                    self.pinned.insert(serial, self.version);
                    self.holds += 1;
                }
            }
            Step::Draw { hold, tokens } => {
                let Some(serial) = self.holds.checked_sub(hold + 1) else {
                    return;
                };
                let version = self.pinned[&serial];
                if self
                    .driver
                    .draw(draw(serial, &name, used(version, tokens)))
                    .is_ok()
                {
                    let cost = Self::exact(version, tokens, false);
                    *self.drawn.entry(serial).or_insert_with(zero) += &cost;
                    self.cost += cost;
                    self.charged -= self.driver.last_entry().delta;
                }
            }
            Step::Settle {
                hold,
                tokens,
                short,
            } => {
                let Some(serial) = self.holds.checked_sub(hold + 1) else {
                    return;
                };
                let version = self.pinned[&serial];
                let drawn = self.driver.find_hold(hold_id(serial)).unwrap().drawn;
                let settled = settle(serial, metered(used(version, tokens)), short);
                let Ok(decided) = self.driver.settle_by(settled) else {
                    return;
                };
                if decided.change.is_some() {
                    let before = self.drawn.remove(&serial).unwrap_or_else(zero);
                    self.cost += Self::exact(version, tokens, true) - before;
                    self.charged += charge(&decided).0 - drawn;
                }
            }
            Step::Release { hold } => {
                let Some(serial) = self.holds.checked_sub(hold + 1) else {
                    return;
                };
                let _ = self.driver.release(hold_id(serial));
            }
            Step::Credit { amount, seconds } => {
                let end = seconds.map(|seconds| self.driver.after_seconds(seconds));
                let _ = self.driver.credit(credit(&name, amount, end));
            }
            Step::Reverse { back } => {
                if let Some(Ok(_)) = self.driver.reverse_deduction(back, None, &name)
                    && let Some(RecordContent::Reversed(_, _, entry)) = self
                        .driver
                        .records
                        .iter()
                        .rev()
                        .map(|record| &record.fact)
                        .find(|fact| matches!(fact, RecordContent::Reversed(..)))
                {
                    self.reversed += entry.delta;
                }
            }
            Step::Price { version } => self.version = version,
            Step::Wait { seconds } => self.driver.pass_seconds(seconds),
            Step::Repeat => self.driver.sleep(),
        }
    }

    fn check(&self) {
        let whole = self.cost.floor().to_integer();
        assert_eq!(BigInt::from(self.charged), whole, "of {}", self.cost);
        let mut entries = self.driver.records.iter().rev();
        let rate = entries.find_map(|record| record.entry()?.rate.as_ref());
        let carried = rate.map_or_else(|| "0".into(), |rate| rate.carried.to_string());
        let digits = carried.strip_prefix("0.").unwrap_or(&carried);
        let left = (&self.cost - self.cost.floor()) * BigInt::from(10_u64.pow(18));
        assert_eq!(
            format!("{digits:0<18}"),
            format!("{:0>18}", left.to_integer())
        );
        super::property::check::sound(&self.driver);
    }
}

fn zero() -> BigRational {
    BigRational::from(BigInt::from(0))
}

#[test]
fn the_sum_of_charges_is_the_whole_part_of_the_sum_of_costs() {
    let histories = std::env::var("SCRIP_RANDOM_HISTORIES").ok();
    let histories: u32 = histories.map_or(1, |text| text.parse().unwrap());
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 200 * histories,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&proptest::collection::vec(step(), 1..60), |steps| {
            let mut history = History::new();
            for (number, step) in steps.iter().enumerate() {
                history.run(number, step);
                history.check();
            }
            let _ = KEY;
            Ok(())
        })
        .unwrap();
}
