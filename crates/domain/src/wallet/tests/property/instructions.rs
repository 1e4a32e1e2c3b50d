//! Random instructions to the provider, with their naive model: each is kept under its key, and counts at its order
//! until the payment shows it, it is refused, or it is an hour old.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    super::{
        driver::Driver,
        key,
        shop::{CLUB, sub},
    },
    Run,
    model::{Model, Outcome},
    orders::ModelOrder,
    outcome,
};
use crate::{
    Rejection,
    history::RecordKey,
    id::OrderSerial,
    wallet::{
        Instruction, InstructionStage, NamedSubscription, OrderStatus, SubscriptionAction,
        SubscriptionInstruction, SubscriptionStatus, refund::Refund,
    },
};

const HOUR: i64 = 3_600_000;

/// Orders and keys by index.
#[derive(Debug, Clone)]
pub(super) enum InstructionCommand {
    Refund {
        order: u128,
        cents: Option<i64>,
        key: u8,
    },
    Cancel {
        at_period_end: bool,
        key: u8,
    },
    Resume {
        key: u8,
    },
    /// The provider answers.
    Close {
        verb: Verb,
        key: u8,
        /// The provider refuses, after it gave back up to so many cents of a refund.
        refused: Option<i64>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verb {
    Refund,
    Cancel,
    Resume,
}

/// The request under a key: of a refund its order and amount, of a cancellation whether at the period's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Refund(u128, Option<i64>),
    Cancel(bool),
    Resume,
}

#[derive(Debug)]
struct ModelInstruction {
    wanted: Wanted,
    /// The amount of a refund.
    cents: i64,
    stage: InstructionStage,
}

/// All instructions, by key.
#[derive(Debug, Default)]
pub(super) struct ModelInstructions {
    kept: BTreeMap<(Verb, u8), ModelInstruction>,
}

pub(super) fn instruction_command() -> impl Strategy<Value = InstructionCommand> {
    let key = || 0..4_u8;
    let cents = proptest::option::of(0..8_i64);
    let verb = prop::sample::select(vec![
        Verb::Refund,
        Verb::Refund,
        Verb::Refund,
        Verb::Cancel,
        Verb::Resume,
    ]);
    prop_oneof![
        5 => (0..10_u128, cents, key())
            .prop_map(|(order, cents, key)| InstructionCommand::Refund { order, cents, key }),
        1 => (any::<bool>(), key())
            .prop_map(|(at_period_end, key)| InstructionCommand::Cancel { at_period_end, key }),
        1 => key().prop_map(|key| InstructionCommand::Resume { key }),
        4 => (verb, key(), proptest::option::of(0..8_i64))
            .prop_map(|(verb, key, refused)| InstructionCommand::Close { verb, key, refused }),
    ]
}

impl Run {
    /// The wallet's answer and the model's.
    pub(super) fn both_instruct(&mut self, command: &InstructionCommand) -> (Outcome, Outcome) {
        match *command {
            InstructionCommand::Refund {
                order,
                cents,
                key: name,
            } => {
                let real = self.driver.ask_refund(Refund {
                    order: OrderSerial(order),
                    amount_cents: cents,
                    key: key(&name.to_string()),
                    payments: None,
                });
                let wanted = Wanted::Refund(order, cents);
                (about(real), self.model.instruct(Verb::Refund, name, wanted))
            }
            InstructionCommand::Cancel {
                at_period_end,
                key: name,
            } => {
                let real = self.driver.ask_instruction(SubscriptionInstruction {
                    named: NamedSubscription::Of(CLUB),
                    action: SubscriptionAction::Cancel { at_period_end },
                    key: key(&name.to_string()),
                });
                let wanted = Wanted::Cancel(at_period_end);
                (about(real), self.model.instruct(Verb::Cancel, name, wanted))
            }
            InstructionCommand::Resume { key: name } => {
                let real = self.driver.ask_instruction(SubscriptionInstruction {
                    named: NamedSubscription::Of(CLUB),
                    action: SubscriptionAction::Resume,
                    key: key(&name.to_string()),
                });
                let model = self.model.instruct(Verb::Resume, name, Wanted::Resume);
                (about(real), model)
            }
            InstructionCommand::Close { verb, key, refused } => {
                let given = |most: i64| {
                    let kept = self.model.instructions.kept.get(&(verb, key));
                    most.min(kept.map_or(0, |kept| kept.cents))
                };
                let stage =
                    refused.map_or(InstructionStage::Done, |most| InstructionStage::Refused {
                        given_cents: given(most),
                    });
                let name = key.to_string();
                let real = self.driver.close(verb.lookup(&name), stage);
                let outcome = |changed| match changed {
                    true => Outcome::Applied,
                    false => Outcome::Unchanged,
                };
                (
                    outcome(real),
                    outcome(self.model.close_instruction(verb, key, stage)),
                )
            }
        }
    }
}

impl Verb {
    fn lookup(self, name: &str) -> RecordKey<'_> {
        match self {
            Self::Refund => RecordKey::Refund(name),
            Self::Cancel => RecordKey::Cancel(name),
            Self::Resume => RecordKey::Resume(name),
        }
    }
}

/// The outcome; of a replay, its order or product.
fn about(answer: Result<super::super::driver::Done<Instruction>, Rejection>) -> Outcome {
    outcome(answer, |instruction| match instruction {
        Instruction::Refund { order, .. } => order.0,
        Instruction::Cancel { .. } | Instruction::Resume { .. } => CLUB.0,
    })
}

impl Model {
    fn instruct(&mut self, verb: Verb, name: u8, wanted: Wanted) -> Outcome {
        self.touch();
        let of = match wanted {
            Wanted::Refund(order, _) => order,
            Wanted::Cancel(_) | Wanted::Resume => CLUB.0,
        };
        if verb == Verb::Refund && !self.purchases.orders.contains_key(&of) {
            return Outcome::Refused(Rejection::OrderNotFound);
        }
        match self.instructions.kept.get(&(verb, name)) {
            Some(kept) if matches!(kept.stage, InstructionStage::Refused { .. }) => {}
            Some(kept) if kept.wanted != wanted => {
                return Outcome::Refused(Rejection::KeyReused);
            }
            Some(kept) if kept.stage == InstructionStage::Done => return Outcome::Replayed(of),
            Some(_) => return Outcome::Applied,
            None => {}
        }
        let cents = match wanted {
            Wanted::Refund(order, named) => {
                let left = self.purchases.orders[&order].left();
                let cents = named.unwrap_or(left);
                if cents < 1 || cents > left {
                    let refundable_cents = left;
                    return Outcome::Refused(Rejection::AlreadyRefunded { refundable_cents });
                }
                self.date(self.now);
                let (since, now) = (self.touched, self.now);
                let over = self.order_is_over(order);
                let order = self.purchases.orders.get_mut(&order).unwrap();
                order.recalled(over, now);
                order.pending_refunds = Some((order.back() + cents, since));
                cents
            }
            Wanted::Cancel(_) | Wanted::Resume => {
                let existing = self.purchases.subscriptions.values();
                let existing =
                    existing.filter(|existing| existing.status != SubscriptionStatus::Canceled);
                let ending: Vec<bool> = existing.map(|existing| existing.canceling).collect();
                let going_on = ending.iter().filter(|ending| !**ending).count();
                match (ending.len(), going_on) {
                    (0, _) => return Outcome::Refused(Rejection::SubscriptionNotFound),
                    (1, _) | (_, 1) => {}
                    _ => return Outcome::Refused(Rejection::SubscriptionAmbiguous),
                }
                self.date(self.now);
                0
            }
        };
        let stage = InstructionStage::Requested;
        let kept = ModelInstruction {
            wanted,
            cents,
            stage,
        };
        self.instructions.kept.insert((verb, name), kept);
        Outcome::Applied
    }

    fn close_instruction(&mut self, verb: Verb, name: u8, stage: InstructionStage) -> bool {
        self.touch();
        let kept = self.instructions.kept.get_mut(&(verb, name));
        let Some(kept) = kept.filter(|kept| kept.stage == InstructionStage::Requested) else {
            return false;
        };
        kept.stage = stage;
        let (wanted, cents) = (kept.wanted, kept.cents);
        self.date(self.now);
        if let (InstructionStage::Refused { given_cents }, Wanted::Refund(order, _)) =
            (stage, wanted)
        {
            let over = self.order_is_over(order);
            let now = self.now;
            let order = self.purchases.orders.get_mut(&order).unwrap();
            order.recalled(over, now);
            if let Some((in_total, _)) = &mut order.pending_refunds {
                *in_total -= cents - given_cents;
            }
            order.pending_refunds = order
                .pending_refunds
                .filter(|(in_total, _)| *in_total > order.away.0);
        }
        true
    }
}

impl ModelOrder {
    /// What is refunded in total once all requested refunds went through.
    fn back(&self) -> i64 {
        self.away
            .0
            .max(self.pending_refunds.map_or(0, |(cents, _)| cents))
    }

    fn left(&self) -> i64 {
        if self.stage != OrderStatus::Paid {
            return 0;
        }
        (self
            .cents
            .saturating_sub(self.back().saturating_add(self.away.1)))
        .max(0)
    }

    /// Drops requested refunds that the payment shows by now, or should show.
    pub(super) fn see(&mut self) {
        let (refunded, _, asked_at) = self.away;
        let waited = |&(cents, since): &(i64, i64)| cents > refunded && asked_at < since + HOUR;
        self.pending_refunds = self.pending_refunds.filter(waited);
    }
}

/// Checks that the last record of each key is what the model says.
pub(super) fn same(driver: &Driver, model: &Model) {
    for (&(verb, name), kept) in &model.instructions.kept {
        let text = name.to_string();
        let real = driver.last_instructed(verb.lookup(&text)).unwrap();
        assert_eq!(real.stage, kept.stage, "{verb:?} {name}");
        match (&real.instruction, kept.wanted) {
            (Instruction::Refund { cents, .. }, Wanted::Refund(..)) => {
                assert_eq!(*cents, kept.cents);
            }
            (Instruction::Cancel { subscription, .. }, Wanted::Cancel(_))
            | (Instruction::Resume { subscription, .. }, Wanted::Resume) => {
                assert!((0..3).map(sub).any(|existing| existing == *subscription));
            }
            (real, wanted) => panic!("{real:?} is not {wanted:?}"),
        }
    }
}
