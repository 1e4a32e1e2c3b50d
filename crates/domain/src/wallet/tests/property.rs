//! Random commands and time steps against a naive model. After each step the wallet must be what the model says,
//! and replaying any prefix of its events must give what it was then.

mod balances;
mod calendar;
pub(super) mod check;
mod command;
mod debts;
mod instructions;
mod model;
mod orders;
mod purchase;

use proptest::{prelude::*, test_runner::TestRunner};

use self::{
    command::{Command, QUARTER, command, of_debts, of_lots},
    model::{Model, Outcome},
    purchase::RandomPurchase,
};
use super::{
    driver::{Done, Driver},
    hold_id, key,
};
use crate::{
    Amount, MAX_CREDITS, Rejection, Timestamp,
    history::HoldSnapshot,
    id::ProductId,
    limit::Spender,
    time::Period,
    wallet::{
        Account, Coverage, FreeGrantRule, ProductRef,
        credit::Credit,
        debt_limit::DebtLimit,
        deduct::Deduct,
        draw::Draw,
        feature::FeatureAction,
        forgive::Forgive,
        hold::{MAX_OPEN_HOLDS, PlaceHold},
        shortfall::{CostDecision, OnShortfall},
    },
};

/// One wallet and its model, given the same commands.
struct Run {
    driver: Driver,
    model: Model,
    tried_holds: u128,
    commands: Vec<Command>,
    /// Whether the wallet is stored and read back after each command.
    sleeps: bool,
}

impl Run {
    fn new(worth: i64, products: u128) -> Self {
        let driver = Driver::born_at(super::at("2026-03-02T00:00:00Z"));
        let mut model = Model::new(driver.now.0, worth);
        model.products = (1..=products).map(ProductId).collect();
        Self {
            driver,
            model,
            tried_holds: 0,
            commands: Vec::new(),
            sleeps: false,
        }
    }

    fn step(&mut self, command: &Command) {
        let command = match command {
            Command::Again { back } => self.commands.iter().rev().nth(*back - 1).cloned(),
            other => Some(other.clone()),
        };
        let Some(command) = command else { return };
        if self.sleeps {
            self.driver.sleep();
        }
        let before: Vec<_> = self.exposures();
        let (real, model) = self.both(&command);
        self.driver.touch();
        self.model.touch();
        assert_eq!(real, model, "the answer to {command:?}");
        check::same(&self.driver, &self.model);
        check::sound(&self.driver);
        for ((product, now, limit), (_, former, _)) in self.exposures().into_iter().zip(before) {
            assert!(
                now <= limit.max(former),
                "{product}: {now} owed or reserved"
            );
        }
        self.commands.push(command);
    }

    /// Of each product what is owed and reserved, and the limit of that.
    fn exposures(&self) -> Vec<(ProductId, i64, i64)> {
        let products = self.model.products.iter();
        let exposures = products.map(|&product| {
            let (exposure, limit) = self.model.exposure(product);
            let debt = self.driver.wallet.account(product).map(Account::debt);
            let debt = debt.unwrap_or_default();
            assert_eq!(debt.owed + debt.reserved, exposure * self.model.worth);
            (product, exposure, limit)
        });
        exposures.collect()
    }

    /// The wallet's answer and the model's.
    fn both(&mut self, command: &Command) -> (Outcome, Outcome) {
        let nothing = (Outcome::Applied, Outcome::Applied);
        match *command {
            Command::Credit {
                product,
                coins,
                lifetime,
                key: name,
            } => {
                let (product, name) = (self.product(product), format!("k{name}"));
                let end = lifetime.map_or(Timestamp::NEVER, |quarters| self.after(quarters));
                let real = self.driver.credit(Credit {
                    product,
                    amount: self.amount(coins),
                    expires_at: lifetime.map(|_| end),
                    key: key(&name),
                    meta: None,
                });
                (
                    about_product(real),
                    self.model.credit(product, coins, end.0, &name),
                )
            }
            Command::Deduct {
                product,
                coins,
                key: name,
                short,
            } => {
                let (product, name) = (product.map(|p| self.product(p)), format!("k{name}"));
                let real = self.driver.charge(Deduct {
                    product: self.refer(product),
                    cost: self.amount(coins).into(),
                    key: key(&name),
                    meta: None,
                    on_shortfall: short,
                    by: Spender::default(),
                });
                (
                    met(real, coins * self.model.worth),
                    self.model.deduct(product, coins, &name, short),
                )
            }
            Command::Place {
                product,
                coins,
                lifetime,
                key: name,
                overrun,
            } => {
                let (product, name) = (product.map(|p| self.product(p)), format!("k{name}"));
                let (serial, expires_at) = (self.tried_holds, self.after(lifetime));
                self.tried_holds += 1;
                let real = self.driver.place(PlaceHold {
                    id: hold_id(serial),
                    product: self.refer(product),
                    cost: self.amount(coins).into(),
                    expires_at,
                    key: key(&name),
                    meta: None,
                    publishable: false,
                    max_open: MAX_OPEN_HOLDS,
                    max_overrun: overrun * self.model.worth,
                    by: Spender::default(),
                });
                (
                    about_hold(real),
                    self.model
                        .place(serial, product, coins, expires_at.0, &name, overrun),
                )
            }
            Command::Settle { hold, coins, short } => {
                let cost = coins * self.model.worth;
                let real = self.driver.settle_for(hold_id(hold), cost, short);
                (met(real, cost), self.model.settle(hold, coins, short))
            }
            Command::Draw {
                hold,
                coins,
                key: name,
            } => {
                let name = format!("k{name}");
                let real = self.driver.draw(Draw {
                    hold: hold_id(hold),
                    cost: self.amount(coins).into(),
                    key: key(&name),
                    meta: None,
                });
                (about_hold(real), self.model.draw(hold, coins, &name))
            }
            Command::Forgive {
                product,
                coins,
                key: name,
            } => {
                let (product, name) = (self.product(product), format!("k{name}"));
                let real = self.driver.forgive(Forgive {
                    product,
                    amount: coins.map(|coins| self.amount(coins)),
                    key: key(&name),
                    meta: None,
                });
                let real = match real {
                    Ok(Done::Applied) => Outcome::Applied,
                    Ok(Done::Replayed(credits)) => Outcome::Forgiven(credits),
                    Err(refusal) => Outcome::Refused(refusal),
                };
                (real, self.model.forgive(product, coins, &name))
            }
            Command::Limit {
                product,
                coins,
                own,
            } => {
                let product = self.product(product);
                self.limit(product, coins, own);
                nothing
            }
            Command::Release { hold } => (
                about_hold(self.driver.release(hold_id(hold))),
                self.model.release(hold),
            ),
            Command::Extend { hold, lifetime } => {
                let end = self.after(lifetime);
                let real = self.driver.extend(hold_id(hold), end);
                (about_hold(real), self.model.extend(hold, end.0))
            }
            Command::Feature { slug, grant } => {
                let slug = format!("feature.{slug}");
                let action = if grant {
                    FeatureAction::Grant
                } else {
                    FeatureAction::Revoke
                };
                let real = self.driver.set_feature(&slug, action);
                assert_eq!(real, self.model.set_feature(&slug, grant), "{command:?}");
                nothing
            }
            Command::Reverse {
                back,
                coins,
                key: name,
            } => {
                let name = format!("k{name}");
                let amount = coins.map(|coins| self.amount(coins));
                let real = self.driver.reverse_deduction(back, amount, &name);
                let model = self.model.reverse_deduction(back, coins, &name);
                let real = real.map(|real| match real {
                    Ok(Done::Applied) => Outcome::Applied,
                    Ok(Done::Replayed(credits)) => Outcome::Forgiven(credits),
                    Err(refusal) => Outcome::Refused(refusal),
                });
                match (real, model) {
                    (Some(real), Some(model)) => (real, model),
                    (None, None) => nothing,
                    odd => panic!("{odd:?}"),
                }
            }
            Command::Freeze { frozen } => {
                let real = self.driver.set_frozen(frozen);
                assert_eq!(real, self.model.set_frozen(frozen), "{command:?}");
                nothing
            }
            Command::Wait { quarters } => {
                self.driver.now = self.after(quarters);
                self.model.now = self.driver.now.0;
                nothing
            }
            Command::Offer { product, free } => {
                self.offer(product, free);
                nothing
            }
            Command::AddProduct => {
                let next = self.model.products.len() as u128 + 1;
                if next <= 3 {
                    self.model.products.push(ProductId(next));
                }
                nothing
            }
            Command::Buy(ref purchase) => self.both_buy(purchase),
            Command::Instruct(ref asked) => self.both_instruct(asked),
            Command::Again { .. } => nothing,
        }
    }

    fn offer(&mut self, product: usize, free: Option<(i64, Period)>) {
        let product = self.product(product);
        match free {
            Some(grant) => self.model.free_grants.insert(product, grant),
            None => self.model.free_grants.remove(&product),
        };
        let rules = self
            .model
            .free_grants
            .iter()
            .map(|(&product, &(coins, period))| FreeGrantRule {
                product,
                credits: self.amount(coins),
                period,
            });
        self.driver.rules = rules.collect();
    }

    fn limit(&mut self, product: ProductId, coins: Option<i64>, own: bool) {
        let worth = self.model.worth;
        if own {
            let real = self
                .driver
                .limit_debt(product, coins.map(|coins| coins * worth));
            assert_eq!(real, self.model.limit_debt(product, coins));
            return;
        }
        let general = &mut self.model.debts.general;
        general.insert(product, coins.unwrap_or(0));
        let limits = general.iter().map(|(&product, &coins)| DebtLimit {
            product,
            credits: coins * worth,
        });
        self.driver.limits = limits.collect();
    }

    fn product(&self, index: usize) -> ProductId {
        self.model.products[index % self.model.products.len()]
    }

    fn refer(&self, product: Option<ProductId>) -> ProductRef {
        let only = match self.model.products.as_slice() {
            &[only] => Some(only),
            _ => None,
        };
        product.map_or(ProductRef::Only(only), ProductRef::Named)
    }

    fn amount(&self, coins: i64) -> Amount {
        Amount::new(coins * self.model.worth).unwrap()
    }

    fn after(&self, quarters: i64) -> Timestamp {
        Timestamp(self.driver.now.0 + quarters * QUARTER)
    }
}

fn about_product(answer: Result<Done<ProductId>, Rejection>) -> Outcome {
    outcome(answer, |product| product.0)
}

/// How a cost was met: the parts add up to it.
fn met(answer: Result<CostDecision, Rejection>, cost: i64) -> Outcome {
    match answer {
        Err(refusal) => Outcome::Refused(refusal),
        Ok(decided) => {
            let Coverage {
                charged,
                owed,
                uncovered,
            } = decided.coverage;
            assert_eq!(charged + owed + uncovered, cost);
            assert!(charged >= 0 && owed >= 0 && uncovered >= 0);
            Outcome::Met {
                product: decided.product,
                charged,
                owed,
                uncovered,
                now: decided.change.is_some(),
                late: decided.late,
            }
        }
    }
}

fn about_hold(answer: Result<Done<HoldSnapshot>, Rejection>) -> Outcome {
    outcome(answer, |hold| hold.id.serial)
}

fn outcome<R>(answer: Result<Done<R>, Rejection>, about: impl Fn(R) -> u128) -> Outcome {
    match answer {
        Ok(Done::Applied) => Outcome::Applied,
        Ok(Done::Replayed(former)) => Outcome::Replayed(about(former)),
        Err(refusal) => Outcome::Refused(refusal),
    }
}

/// A cheap random generator: the same history each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: i64) -> i64 {
        let Self(state) = self;
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (*state >> 33) as i64 % sides
    }
}

/// More lots and holds than a wallet usually has: so many that they are indexed, not in a plain list.
#[test]
fn with_thousands_of_lots_and_holds_it_is_so_too() {
    let mut run = Run::new(1, 2);
    run.driver.keeps_states = false;
    let mut dice = Dice(7);
    let (mut most_lots, mut most_holds) = (0, 0);
    for turn in 0..2400_u16 {
        let verbs = if turn < 1600 { 6 } else { 14 };
        let (key, product, coins) = (turn, usize::from(dice.below(2) > 0), 1 + dice.below(4));
        let (lifetime, hold) = (
            40 + dice.below(2000),
            dice.below(1200).unsigned_abs().into(),
        );
        let order = u128::from(turn);
        let command = match dice.below(verbs) {
            0 => Command::Credit {
                product,
                coins,
                lifetime: Some(lifetime),
                key,
            },
            1..=3 => Command::Buy(RandomPurchase::Order {
                order,
                product,
                coins,
                days: Some(10 + dice.below(500)),
                feature: false,
            }),
            4..=5 => Command::Place {
                product: Some(product),
                coins,
                lifetime,
                key,
                overrun: 0,
            },
            6..=7 => Command::Deduct {
                product: Some(product),
                coins,
                key,
                short: OnShortfall::Refuse,
            },
            8 => Command::Settle {
                hold,
                coins,
                short: OnShortfall::Owe,
            },
            9 => Command::Draw { hold, coins, key },
            10 => Command::Release { hold },
            11 => Command::Extend { hold, lifetime },
            12 => Command::Buy(RandomPurchase::Reverse {
                order: hold,
                refunded: coins,
                disputed: 0,
                age: 0,
            }),
            _ => Command::Wait {
                quarters: dice.below(4),
            },
        };
        let payment = match command {
            Command::Buy(RandomPurchase::Order { order, coins, .. }) => {
                Some(Command::Buy(RandomPurchase::Pay {
                    order,
                    cents: coins,
                }))
            }
            _ => None,
        };
        for command in std::iter::once(command).chain(payment) {
            let (real, model) = run.both(&command);
            assert_eq!(real, model, "the answer to {command:?}");
        }
        let wallet = &run.driver.wallet;
        let lots = wallet.accounts().iter().map(Account::lot_count);
        most_lots = most_lots.max(lots.sum());
        most_holds = most_holds.max(wallet.holds().len());
        if turn % 800 == 799 {
            run.driver.touch();
            run.model.touch();
            check::same(&run.driver, &run.model);
            check::sound(&run.driver);
        }
    }
    assert!(
        most_lots > 600 && most_holds > 300,
        "{most_lots}, {most_holds}"
    );
}

fn play(worth: i64, products: u128, commands: &[Command]) {
    run(Run::new(worth, products), commands);
}

fn run(mut run: Run, commands: &[Command]) {
    for command in commands {
        run.step(command);
    }
    check::replays(&run.driver);
    check::alerts(&run.driver, 5 * run.model.worth);
}

/// Found by the random model: the clock steps back to before the end of the cycle that ended last.
#[test]
fn what_comes_back_to_a_cycle_that_is_over_is_over_also_when_the_clock_stepped_back() {
    let renew = |order| {
        Command::Buy(RandomPurchase::Renew {
            order,
            subscription: 0,
            tier: 0,
            since: 0,
            age: 0,
            free: false,
            trial: false,
            paused: false,
        })
    };
    let disputed = |disputed| {
        Command::Buy(RandomPurchase::Reverse {
            order: 9,
            refunded: 0,
            disputed,
            age: 0,
        })
    };
    let switch = Command::Buy(RandomPurchase::Switch {
        order: 5,
        subscription: 0,
        tiers: (0, 0),
        since: 0,
        after: 0,
        free: false,
        trial: false,
        paused: false,
    });
    let wait = |quarters| Command::Wait { quarters };
    let commands = [
        renew(9),
        wait(4),
        disputed(1),
        renew(4),
        wait(6),
        switch,
        wait(-2),
        disputed(0),
    ];
    play(1, 1, &commands);
    // By that clock the cycle's own end is still to come.
    let commands = [
        disputed(1),
        renew(9),
        wait(7),
        renew(4),
        wait(-2),
        disputed(0),
    ];
    play(1, 1, &commands);
}

/// The largest balance is a multiple of this.
const COINS_IN_MAX: i64 = 6361;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_wallet_is_what_the_naive_model_says(
        products in 1..=3_u128,
        commands in prop::collection::vec(command(12), 1..120),
    ) {
        play(1, products, &commands);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn debts_and_draws_are_what_the_naive_model_says(
        mut commands in prop::collection::vec(of_debts(), 1..120),
    ) {
        let trust = Command::Limit {
            product: 0,
            coins: Some(12),
            own: false,
        };
        commands.insert(0, trust);
        play(1, 1, &commands);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn near_the_largest_balance_it_is_so_too(
        products in 1..=2_u128,
        commands in prop::collection::vec(command(COINS_IN_MAX / 2), 1..24),
    ) {
        assert_eq!(MAX_CREDITS % COINS_IN_MAX, 0);
        play(MAX_CREDITS / COINS_IN_MAX, products, &commands);
    }
}

/// How many commands [`a_wallet_that_sleeps_all_the_time_burns_its_lots_in_order`] gives, instead of [`STEPS`].
const STEPS_VARIABLE: &str = "SCRIP_MODEL_STEPS";
const STEPS: u32 = 12_000;
/// Commands for one wallet: so many that orders, holds and lots of all ages meet.
const STEPS_OF_ONE: u32 = 150;

/// Soonest to expire, then oldest; a refund takes only what its order's own lot has.
#[test]
fn a_wallet_that_sleeps_all_the_time_burns_its_lots_in_order() {
    let given = std::env::var(STEPS_VARIABLE);
    let steps = given.map_or(STEPS, |text| text.parse().expect(STEPS_VARIABLE));
    let mut config = ProptestConfig::with_cases(steps.div_ceil(STEPS_OF_ONE));
    config.source_file = Some(file!());
    let most = STEPS_OF_ONE as usize;
    let commands = prop::collection::vec(of_lots(), most..=most);
    let tried = TestRunner::new(config).run(&commands, |commands| {
        let sleeper = Run {
            sleeps: true,
            ..Run::new(1, 1)
        };
        run(sleeper, &commands);
        Ok(())
    });
    tried.unwrap_or_else(|error| panic!("{error}"));
}
