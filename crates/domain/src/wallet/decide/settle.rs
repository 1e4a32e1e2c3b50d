//! Settles a hold for what the work cost, also after it was released or expired.

use super::{
    UseRules,
    deduct::{Met, met_before},
    hold::over,
    shortfall::{CostDecision, Coverage, OfHold, OnShortfall},
};
use crate::{
    Rejection,
    history::{EndedHold, HoldSnapshot, HoldStatus, Record},
    id::HoldId,
    limit::Counted,
    rate_card::{Cost, RatedUse, Rating, WorkCost},
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{Wallet, debt::Charged, event::Change, limits::Use, taken::LastLot},
};

/// How long after its end a publishable key may settle a hold.
const LATE_SECONDS: i64 = 86_400;

/// A request to settle a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settle {
    /// The hold to settle.
    pub hold: HoldId,
    /// The whole cost, in credits 0 or more; what was drawn is a part of it.
    pub cost: WorkCost<i64>,
    /// What to do where neither the hold nor the balance has enough.
    pub on_shortfall: OnShortfall,
    /// Whether a publishable key settles it. It may do so late for a day, for at most what was held.
    pub publishable: bool,
    /// The caller's note, over that of the hold.
    pub meta: Option<Meta>,
}

/// What happened under a hold's key before it is settled late.
#[derive(Debug, Clone, Copy, Default)]
pub struct Late<'a> {
    /// The record of a deduction under [`Settle::late_key`].
    pub deduction: Option<&'a Record>,
    /// That of what was given back of it.
    pub reversed: Option<&'a Record>,
    /// That of [`EndedHold::last_order`].
    pub order: Option<&'a Record>,
}

impl Settle {
    /// The key for a late settlement of a released or expired hold, if this request may make one.
    pub fn late_key<'a>(&self, closed: Option<&'a Record>) -> Option<&'a IdempotencyKey> {
        let ended = closed.and_then(Record::ended_hold);
        let late = ended.filter(|_| self.on_shortfall != OnShortfall::Refuse);
        late.map(|ended| &ended.key)
    }
}

impl Wallet {
    /// Decides to settle a hold. `closed` is the record that closed it.
    /// # Errors
    /// [`Rejection::HoldNotFound`], [`Rejection::HoldClosed`] with another outcome, [`Rejection::KeyReused`] where an
    /// ended hold was settled late for another cost, [`Rejection::BalanceLimit`] where what was drawn from one too much
    /// would not fit into the balance any more, [`Rejection::LimitExceeded`] where limits have no room for it and a
    /// shortfall is to be refused, [`Rejection::Frozen`] where a frozen wallet would pay more than the hold
    /// set aside, [`Rejection::MetaTooLarge`], or [`Rejection::Insufficient`] if a shortfall is to be refused.
    pub fn settle(
        &self,
        command: Settle,
        closed: Option<&Record>,
        late: Late<'_>,
        rules: UseRules<'_>,
        now: Timestamp,
    ) -> Result<CostDecision, Rejection> {
        let Settle {
            hold: id,
            on_shortfall,
            ..
        } = command;
        if let Some(record) = closed
            && let Some(ended) = record.ended_hold()
            && on_shortfall != OnShortfall::Refuse
        {
            let is_in_time = now <= record.at.plus_seconds(LATE_SECONDS);
            return self.settle_late(command, (ended, is_in_time), late, (rules, now));
        }
        let hold = self.find_hold(&id, closed)?;
        let product = hold.product;
        let decided = |coverage, rate, change| CostDecision {
            product,
            coverage,
            late: false,
            rate,
            change,
        };
        match hold.status {
            HoldStatus::Open => {
                let (amount, rate) = self.whole_cost(command.cost, &hold)?;
                if self.room(product) < amount.saturating_neg() {
                    return Err(Rejection::BalanceLimit);
                }
                let meta = self.note_over(&id, command.meta)?;
                let beside = OfHold {
                    pinned: hold.amount.max(hold.drawn),
                    max_overrun: hold.max_overrun,
                };
                let is_bounded = on_shortfall == OnShortfall::Refuse;
                let of = (hold.counted.as_deref(), product);
                let used = settling(&hold, amount);
                // What limits have no room for is refused first, as that of a deduction is.
                let _ = self.admit_more(rules.limits, of, (used, is_bounded), now)?;
                let coverage = self.cover(product, amount, beside, on_shortfall, rules.debts)?;
                let used = settling(&hold, amount.saturating_sub(coverage.uncovered));
                let counted = self.admit_more(rules.limits, of, (used, false), now)?;
                let Coverage {
                    owed, uncovered, ..
                } = coverage;
                let change = Change::HoldSettled {
                    hold: id,
                    amount,
                    owed,
                    uncovered,
                    meta,
                    rate: rate.clone(),
                    counted,
                };
                Ok(decided(coverage, rate, Some(change)))
            }
            HoldStatus::Settled if command.cost.is(hold.cost(), settled_by(closed)) => {
                let coverage = Coverage {
                    charged: hold.settled.saturating_sub(hold.owed),
                    owed: hold.owed,
                    uncovered: hold.uncovered,
                };
                let rate = settled_by(closed).cloned().map(Box::new);
                Ok(decided(coverage, rate, None))
            }
            HoldStatus::Settled | HoldStatus::Released | HoldStatus::Expired => {
                Err(Rejection::HoldClosed)
            }
        }
    }

    /// A deduction, under the hold's key, of what was not drawn before the hold ended. A hold placed by a publishable
    /// key under a former code cannot be settled late: a thief of that code may have placed it.
    fn settle_late(
        &self,
        command: Settle,
        (ended, is_in_time): (&EndedHold, bool),
        Late {
            deduction: prior,
            reversed,
            order,
        }: Late<'_>,
        (rules, now): (UseRules<'_>, Timestamp),
    ) -> Result<CostDecision, Rejection> {
        let EndedHold {
            hold, key, meta, ..
        } = ended;
        let (product, drawn) = (hold.product, hold.drawn);
        let decided = |coverage: Coverage, rate, change| CostDecision {
            product,
            coverage: coverage.beside(drawn),
            late: true,
            rate,
            change,
        };
        if let Some(Met {
            product: of,
            amount,
            coverage,
            rate,
        }) = prior.and_then(met_before)
        {
            let is_same = command.cost.is(amount.saturating_add(drawn), rate);
            return if of == product && is_same {
                Ok(decided(coverage, rate.cloned().map(Box::new), None))
            } else {
                Err(Rejection::KeyReused)
            };
        }
        let (whole, rate) = self.whole_cost(command.cost, hold)?;
        let amount = whole.saturating_sub(drawn);
        let ended_with_code = hold.publishable && self.is_of_former_code(hold);
        if ended_with_code || command.publishable && !is_in_time {
            return Err(Rejection::HoldClosed);
        }
        if amount > 0 {
            self.refuse_frozen()?;
        }
        // A reversal may have given the excess back already.
        if amount < 0 && reversed.is_some() {
            return Err(Rejection::HoldClosed);
        }
        if self.room(product) < amount.saturating_neg() {
            return Err(Rejection::BalanceLimit);
        }
        let meta = over(command.meta, meta.as_ref())?.or_else(|| meta.clone());
        let coverage = if amount > 0 {
            let held = hold.amount.saturating_sub(drawn).max(0);
            let most = if command.publishable { held } else { amount };
            let (most, nothing) = (amount.min(most), OfHold::default());
            let met = self.cover(product, most, nothing, command.on_shortfall, rules.debts)?;
            let beyond = amount.saturating_sub(most);
            let uncovered = met.uncovered.saturating_add(beyond);
            Coverage { uncovered, ..met }
        } else {
            Coverage::full(amount)
        };
        let of = (hold.counted.as_deref(), product);
        let is_first = drawn == 0 && amount > 0;
        let used = Use {
            credits: coverage.charged.saturating_add(coverage.owed),
            operations: is_first.into(),
            ..Use::default()
        };
        let counted = self.admit_more(rules.limits, of, (used, false), now)?;
        let counted = counted.map(|counted| {
            Box::new(Counted {
                is_operation: is_first,
                ..*counted
            })
        });
        let charged = Charged {
            counted,
            product,
            amount,
            charged: coverage.charged,
            owed: coverage.owed,
            key: key.clone(),
            meta,
            lot: ended.lots.last().map(|lot| LastLot {
                number: lot.number,
                ends_at: self.end_of_taken(product, lot, order, now),
            }),
            drawn_cost: match rate {
                Some(_) => hold.drawn_cost(),
                None => Cost::default(),
            },
            rate: rate.clone(),
        };
        let change = Change::Charged(Box::new(charged));
        Ok(decided(coverage, rate, Some(change)))
    }

    /// The whole cost of a hold's work in credits. By a rate card it is what was drawn, and what the rest of the exact
    /// cost makes together with what is carried: less than nothing where draws carried what others were charged for.
    fn whole_cost(
        &self,
        cost: WorkCost<i64>,
        hold: &HoldSnapshot,
    ) -> Result<(i64, Option<Box<RatedUse>>), Rejection> {
        let used = match cost {
            WorkCost::Credits(amount) => return Ok((amount, None)),
            WorkCost::Metered(used) => *used,
        };
        let before = hold.drawn_cost();
        let (rest, rate) = self.charge_for(used, hold.product, Rating::whole, before)?;
        Ok((hold.drawn.saturating_add(rest), rate))
    }
}

/// What limits count where a hold is settled for so many credits, with those that were drawn.
fn settling(hold: &HoldSnapshot, credits: i64) -> Use {
    Use {
        credits: credits.saturating_sub(hold.drawn),
        held_credits: hold.left().saturating_neg(),
        operations: (credits > 0).into(),
        held_operations: -1,
    }
}

/// What was used of a hold that a rate card settled.
fn settled_by(closed: Option<&Record>) -> Option<&RatedUse> {
    closed?.entry()?.rate.as_deref()
}
