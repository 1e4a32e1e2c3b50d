//! Limits against a naive model: a list of uses, searched through for each question, whose windows are compared by the
//! names that a calendar gives them.

use std::collections::BTreeMap;

use jiff::{ToSpan as _, tz::TimeZone};
use proptest::{prelude::*, test_runner::Config};

use super::{GOLD, TIN, at, credit, credits, deduct, driver::Driver, hold, hold_id, key};
use crate::{
    Rejection,
    history::HoldStatus,
    id::ProductId,
    limit::{Limit, LimitState, LimitUnit, LimitWindow, ScopeKind, Spender, TimeZoneName},
    text::{Member, Meta},
    wallet::{
        ProductRef, deduct::Deduct, draw::Draw, hold::PlaceHold, limits::SetLimits,
        shortfall::OnShortfall,
    },
};

const ZONE: &str = "Europe/Berlin";
const MEMBERS: [&str; 3] = ["ann", "bob", "*"];
const FEATURES: [&str; 2] = ["image", "chat"];

fn limit(scope: &str, amount: i64, window: LimitWindow, unit: LimitUnit) -> Limit {
    Limit {
        scope: scope.parse().unwrap(),
        amount,
        window,
        unit,
        time_zone: Some(TimeZoneName::new(ZONE).unwrap()),
        product: None,
        alerts_at: vec![50, 80, 100],
    }
}

fn by(member: Option<&str>) -> Spender {
    Spender {
        member: member.map(|name| Member::new(name).unwrap()),
        key: None,
    }
}

fn note(feature: Option<&str>) -> Option<Meta> {
    feature.map(|name| Meta::new(format!("{{\"feature\":\"{name}\"}}")).unwrap())
}

/// What counts together.
type Group = (ScopeKind, LimitWindow, LimitUnit, Option<ProductId>);

fn group(limit: &Limit) -> Group {
    (limit.scope.kind, limit.window, limit.unit, limit.product)
}

#[derive(Debug, Clone, Default)]
struct Row {
    at: i64,
    member: Option<&'static str>,
    feature: Option<&'static str>,
    product: Option<ProductId>,
    used: i64,
    held: i64,
    operations: i64,
    held_operations: i64,
    /// The groups that counted it, with the name that they counted.
    groups: Vec<(Group, String)>,
    key: String,
}

#[derive(Default)]
struct Model {
    rows: Vec<Row>,
    own: Vec<Limit>,
    products: Vec<Limit>,
    holds: BTreeMap<u128, (usize, HoldStatus, i64, i64)>,
}

/// What a calendar calls the window that an instant is in.
fn label(window: LimitWindow, instant: i64) -> String {
    let zone = TimeZone::get(ZONE).unwrap();
    let now = jiff::Timestamp::from_millisecond(instant)
        .unwrap()
        .to_zoned(zone);
    match window {
        LimitWindow::Hour => format!("{} {} {}", now.date(), now.hour(), now.offset()),
        LimitWindow::Day => now.date().to_string(),
        LimitWindow::Week => {
            let mut day = now.date();
            while day.weekday() != jiff::civil::Weekday::Monday {
                day = day.checked_sub(1.day()).unwrap();
            }
            day.to_string()
        }
        LimitWindow::Month => format!("{} {}", now.year(), now.month()),
        LimitWindow::Year => now.year().to_string(),
        LimitWindow::Lifetime => String::new(),
    }
}

impl Row {
    fn name(&self, kind: ScopeKind) -> Option<String> {
        match kind {
            ScopeKind::Wallet => Some(String::new()),
            ScopeKind::Member => self.member.map(str::to_owned),
            ScopeKind::Feature => self.feature.map(str::to_owned),
            ScopeKind::Key => None,
        }
    }
}

impl Model {
    fn all(&self) -> impl Iterator<Item = &Limit> {
        self.own.iter().chain(&self.products)
    }

    /// The limits that apply to a use, one of each group.
    fn applying(&self, row: &Row) -> Vec<(Limit, String)> {
        let mut best: BTreeMap<Group, ((bool, usize), Limit, String)> = BTreeMap::new();
        for (rank, limit) in self.all().enumerate() {
            let Some(name) = row.name(limit.scope.kind) else {
                continue;
            };
            let pattern = limit.scope.name.is_none();
            let is_about = pattern || limit.scope.name.as_deref() == Some(&*name);
            if !is_about || limit.product.is_some() && limit.product != row.product {
                continue;
            }
            let rank = (pattern, rank);
            let other = best.get(&group(limit)).map(|(rank, ..)| *rank);
            if other.is_none_or(|other| rank < other) {
                best.insert(group(limit), (rank, limit.clone(), name));
            }
        }
        best.into_values()
            .map(|(_, limit, name)| (limit, name))
            .collect()
    }

    fn counted(&self, of: Group, name: &str, now: i64) -> (i64, i64) {
        let (_, window, unit, _) = of;
        let rows = self.rows.iter().filter(|row| {
            let is_counted = row
                .groups
                .iter()
                .any(|(group, its)| *group == of && its == name);
            is_counted && label(window, row.at) == label(window, now)
        });
        rows.fold((0, 0), |(used, held), row| match unit {
            LimitUnit::Credits => (used + row.used, held + row.held),
            LimitUnit::Operations => (used + row.operations, held + row.held_operations),
        })
    }

    /// Whether every limit has room for more of a row: of those in the row's own window, if it counted before.
    fn has_room(&self, row: &Row, credits: i64, operations: i64, now: i64) -> bool {
        let is_old = !row.groups.is_empty() || !row.key.is_empty();
        self.applying(row).iter().all(|(limit, name)| {
            let its = group(limit);
            if is_old {
                let counts = row.groups.contains(&(its, name.clone()));
                if !counts || label(limit.window, row.at) != label(limit.window, now) {
                    return true;
                }
            }
            let more = match limit.unit {
                LimitUnit::Credits => credits,
                LimitUnit::Operations => operations,
            };
            let (used, held) = self.counted(its, name, now);
            more <= 0 || used + held + more <= limit.amount
        })
    }

    fn begin(&mut self, mut row: Row) -> usize {
        row.groups = self
            .applying(&row)
            .iter()
            .map(|(it, name)| (group(it), name.clone()))
            .collect();
        self.rows.push(row);
        self.rows.len() - 1
    }

    /// What no limit counts any more is forgotten.
    fn forget(&mut self) {
        let limits: Vec<Limit> = self.all().cloned().collect();
        for row in &mut self.rows {
            row.groups.retain(|(of, name)| {
                limits.iter().any(|limit| {
                    let exact = limit.scope.name.as_deref();
                    group(limit) == *of && exact.is_none_or(|exact| exact == name)
                })
            });
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Deduct {
        member: usize,
        feature: usize,
        tin: bool,
        credits: i64,
    },
    Hold {
        member: usize,
        feature: usize,
        credits: i64,
        hours: i64,
    },
    Draw {
        hold: u128,
        credits: i64,
    },
    Settle {
        hold: u128,
        credits: i64,
        drain: bool,
    },
    Release {
        hold: u128,
    },
    Reverse {
        back: usize,
        credits: Option<i64>,
    },
    Wait {
        minutes: i64,
    },
    Own(Vec<Limit>),
    Products(Vec<Limit>),
    Sleep,
}

fn limits(most: usize) -> impl Strategy<Value = Vec<Limit>> {
    let scope = prop::sample::select(vec![
        "wallet",
        "member:*",
        "member:ann",
        "feature:*",
        "feature:image",
    ]);
    let window = prop::sample::select(vec![
        LimitWindow::Hour,
        LimitWindow::Day,
        LimitWindow::Week,
        LimitWindow::Month,
        LimitWindow::Lifetime,
    ]);
    let unit = prop::sample::select(vec![LimitUnit::Credits, LimitUnit::Operations]);
    let product = prop::sample::select(vec![None, None, Some(GOLD)]);
    let one = (scope, 0..12_i64, window, unit, product).prop_map(
        |(scope, amount, window, unit, product)| Limit {
            product,
            ..limit(scope, amount, window, unit)
        },
    );
    prop::collection::vec(one, 0..most).prop_map(|mut all| {
        let mut seen: Vec<Limit> = Vec::new();
        all.retain(|limit| {
            let is_new = !seen.iter().any(|other| other.is_like(limit));
            seen.push(limit.clone());
            is_new
        });
        Limit::checked(all).unwrap()
    })
}

fn step() -> impl Strategy<Value = Step> {
    let hold = || 0..4_u128;
    prop_oneof![
        8 => (0..4_usize, 0..3_usize, any::<bool>(), 1..6_i64)
            .prop_map(|(member, feature, tin, credits)| Step::Deduct { member, feature, tin, credits }),
        4 => (0..4_usize, 0..3_usize, 1..6_i64, 1..40_i64)
            .prop_map(|(member, feature, credits, hours)| Step::Hold { member, feature, credits, hours }),
        3 => (hold(), 1..6_i64).prop_map(|(hold, credits)| Step::Draw { hold, credits }),
        3 => (hold(), 0..9_i64, any::<bool>()).prop_map(|(hold, credits, drain)| Step::Settle { hold, credits, drain }),
        1 => hold().prop_map(|hold| Step::Release { hold }),
        2 => (0..4_usize, prop::option::of(1..4_i64)).prop_map(|(back, credits)| Step::Reverse { back, credits }),
        4 => (-90..3000_i64).prop_map(|minutes| Step::Wait { minutes }),
        1 => limits(5).prop_map(Step::Own),
        1 => limits(4).prop_map(Step::Products),
        1 => Just(Step::Sleep),
    ]
}

struct History {
    driver: Driver,
    model: Model,
    holds: u128,
}

fn is_limit<T>(outcome: &Result<T, Rejection>) -> bool {
    matches!(outcome, Err(Rejection::LimitExceeded(_)))
}

impl History {
    fn new(own: Vec<Limit>, products: Vec<Limit>) -> Self {
        // Clocks go forward two days later.
        let mut driver = Driver::born_at(at("2026-03-27T20:00:00Z"));
        driver.keeps_states = false;
        driver.credit(credit("start", 1_000_000, None)).unwrap();
        let tin = super::Credit {
            product: TIN,
            ..credit("tin", 1_000_000, None)
        };
        driver.credit(tin).unwrap();
        let mut history = Self {
            driver,
            model: Model::default(),
            holds: 0,
        };
        history.run(0, &Step::Products(products));
        history.run(0, &Step::Own(own));
        history
    }

    fn now(&self) -> i64 {
        self.driver.wallet.date(self.driver.now).0
    }

    fn settle(&mut self, serial: u128, credits: i64, drain: bool) {
        let (place, status, amount, drawn) = self.model.holds[&serial];
        let row = self.model.rows[place].clone();
        let short = if drain {
            OnShortfall::Drain
        } else {
            OnShortfall::Refuse
        };
        let now = self.now();
        let outcome = self.driver.settle_for(hold_id(serial), credits, short);
        match status {
            HoldStatus::Open => {
                let more = credits - amount.max(drawn);
                let refused = !drain && !self.model.has_room(&row, more, 0, now);
                assert_eq!(is_limit(&outcome), refused, "{outcome:?}");
                if refused {
                    return;
                }
                outcome.unwrap();
                let row = &mut self.model.rows[place];
                row.used += credits - drawn;
                (row.held, row.held_operations) = (0, 0);
                row.operations = i64::from(credits > 0);
                self.model
                    .holds
                    .insert(serial, (place, HoldStatus::Settled, amount, drawn));
            }
            HoldStatus::Settled => assert!(!is_limit(&outcome)),
            _ => {
                assert!(!is_limit(&outcome));
                let changed = outcome.is_ok_and(|met| met.change.is_some());
                if drain && changed {
                    let row = &mut self.model.rows[place];
                    row.used += credits - drawn;
                    row.operations = i64::from(drawn > 0 || credits > 0);
                }
            }
        }
    }

    fn close(&mut self, serial: u128, status: HoldStatus) {
        let (place, _, amount, drawn) = self.model.holds[&serial];
        let row = &mut self.model.rows[place];
        (row.held, row.held_operations) = (0, 0);
        row.operations = i64::from(drawn > 0);
        self.model
            .holds
            .insert(serial, (place, status, amount, drawn));
    }

    fn expire(&mut self) {
        self.driver.touch();
        let open = self.model.holds.clone();
        for (serial, (_, status, ..)) in open {
            let now = self.driver.find_hold(hold_id(serial)).unwrap().status;
            if status == HoldStatus::Open && now == HoldStatus::Expired {
                self.close(serial, HoldStatus::Expired);
            }
        }
    }

    fn run(&mut self, number: usize, step: &Step) {
        let name = format!("k{number}");
        self.expire();
        let row = |member: usize, feature: usize, now| Row {
            at: now,
            member: MEMBERS.get(member).copied(),
            feature: FEATURES.get(feature).copied(),
            product: Some(GOLD),
            ..Row::default()
        };
        match step {
            Step::Deduct {
                member,
                feature,
                tin,
                credits: amount,
            } => {
                let mut row = row(*member, *feature, self.now());
                row.product = Some(if *tin { TIN } else { GOLD });
                let fits = self.model.has_room(&row, *amount, 1, row.at);
                let outcome = self.driver.deduct(Deduct {
                    product: ProductRef::Named(row.product.unwrap()),
                    meta: note(row.feature),
                    by: by(row.member),
                    ..deduct(&name, *amount)
                });
                assert_eq!(is_limit(&outcome), !fits, "{outcome:?}");
                if fits {
                    (row.used, row.operations, row.key) = (*amount, 1, name);
                    self.model.begin(row);
                }
            }
            Step::Hold {
                member,
                feature,
                credits: amount,
                hours,
            } => {
                let mut row = row(*member, *feature, self.now());
                let fits = self.model.has_room(&row, *amount, 1, row.at);
                let end = self.driver.after_seconds(hours * 3600);
                let serial = self.holds;
                let outcome = self.driver.place(PlaceHold {
                    meta: note(row.feature),
                    by: by(row.member),
                    ..hold(serial, *amount, end)
                });
                assert_eq!(is_limit(&outcome), !fits, "{outcome:?}");
                if fits {
                    (row.held, row.held_operations, row.key) = (*amount, 1, name);
                    let place = self.model.begin(row);
                    self.model
                        .holds
                        .insert(serial, (place, HoldStatus::Open, *amount, 0));
                    self.holds += 1;
                }
            }
            Step::Draw {
                hold,
                credits: amount,
            } => {
                let Some(serial) = self.holds.checked_sub(hold + 1) else {
                    return;
                };
                let (place, status, held, drawn) = self.model.holds[&serial];
                let more = drawn + amount - held.max(drawn);
                let row = self.model.rows[place].clone();
                let fits = self.model.has_room(&row, more, 0, self.now());
                let outcome = self.driver.draw(Draw {
                    hold: hold_id(serial),
                    cost: credits(*amount).into(),
                    key: key(&name),
                    meta: None,
                });
                if status == HoldStatus::Open {
                    assert_eq!(is_limit(&outcome), !fits, "{outcome:?}");
                    if fits {
                        let row = &mut self.model.rows[place];
                        row.used += amount;
                        row.held = (held - drawn - amount).max(0);
                        self.model
                            .holds
                            .insert(serial, (place, status, held, drawn + amount));
                    }
                }
            }
            Step::Settle {
                hold,
                credits,
                drain,
            } => {
                if let Some(serial) = self.holds.checked_sub(hold + 1) {
                    self.settle(serial, *credits, *drain);
                }
            }
            Step::Release { hold } => {
                let Some(serial) = self.holds.checked_sub(hold + 1) else {
                    return;
                };
                if self.model.holds[&serial].1 == HoldStatus::Open {
                    self.driver.release(hold_id(serial)).unwrap();
                    self.close(serial, HoldStatus::Released);
                }
            }
            Step::Reverse {
                back,
                credits: amount,
            } => self.reverse(*back, *amount, &name),
            Step::Wait { minutes } => {
                self.driver.pass_seconds(minutes * 60);
                self.expire();
            }
            Step::Own(own) => {
                let project = &self.driver.project_limits;
                let set = SetLimits(own.clone());
                let change = self.driver.wallet.set_limits(set, project, self.driver.now);
                self.model.own.clone_from(own);
                if let Some(change) = change {
                    self.driver.commit(change);
                    self.model.forget();
                }
            }
            Step::Products(products) => {
                self.driver.project_limits.products.clone_from(products);
                self.model.products.clone_from(products);
            }
            Step::Sleep => self.driver.sleep(),
        }
    }

    /// Reverses one of the last deductions that belong to no hold.
    fn reverse(&mut self, back: usize, amount: Option<i64>, name: &str) {
        let rows = self.model.rows.iter().enumerate().rev();
        let mut deductions = rows.filter(|(_, row)| {
            self.model
                .holds
                .values()
                .all(|it| self.model.rows[it.0].key != row.key)
        });
        let Some((place, row)) = deductions.nth(back) else {
            return;
        };
        let left = row.used;
        let amount = amount.unwrap_or(left).min(left);
        if amount == 0 {
            return;
        }
        let wanted = key(&row.key);
        let is_it = |record: &&crate::history::Record| {
            record
                .entry()
                .is_some_and(|it| it.key.as_ref() == Some(&wanted) && it.delta < 0)
        };
        let at = self
            .driver
            .records
            .iter()
            .filter(|it| {
                it.entry()
                    .is_some_and(|e| e.reason == crate::history::Reason::Deduction)
            })
            .rev()
            .position(|it| is_it(&it));
        let Some(at) = at else { return };
        let outcome = self
            .driver
            .reverse_deduction(at + 1, Some(credits(amount)), name);
        outcome.unwrap().unwrap();
        let row = &mut self.model.rows[place];
        row.used -= amount;
        if row.used == 0 {
            row.operations = 0;
        }
    }

    fn check(&self) {
        let now = self.now();
        for member in [None, Some("ann"), Some("bob")] {
            let named = member.map(|name| Member::new(name).unwrap());
            let states = self.driver.wallet.limit_states(
                &self.driver.project_limits,
                named.as_ref(),
                self.driver.now,
            );
            for LimitState {
                limit, used, held, ..
            } in states
            {
                let name = limit.scope.name.as_deref();
                let of_member = member.filter(|_| limit.scope.kind == ScopeKind::Member);
                if name.is_none() && limit.scope.kind != ScopeKind::Wallet && of_member.is_none() {
                    assert_eq!((used, held), (0, 0), "a pattern counts nothing by itself");
                    continue;
                }
                let name = name.or(of_member).unwrap_or_default();
                let counted = self.model.counted(group(&limit), name, now);
                assert_eq!(
                    (used, held),
                    counted,
                    "{} of {limit:?}",
                    member.unwrap_or("all")
                );
            }
        }
        super::property::check::sound(&self.driver);
    }
}

proptest! {
    #![proptest_config(Config::with_cases(400))]

    #[test]
    fn limits_are_what_the_naive_model_says(
        own in limits(5),
        products in limits(4),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut history = History::new(own, products);
        for (number, step) in steps.iter().enumerate() {
            history.run(number + 1, step);
            history.check();
        }
    }
}
