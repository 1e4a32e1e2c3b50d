//! Applies changes of holds. Like `mod.rs`, it trusts decisions and checks arithmetic.

use super::{
    NOT_OPEN,
    debt::{Metering, NEGATIVE},
};
use crate::{
    history::{EndedHold, Entry, HoldSnapshot, HoldStatus, Reason, RecordContent},
    id::HoldId,
    rate_card::Cost,
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{
        Wallet,
        corrupt::Corrupt,
        holds::Hold,
        limits::Use,
        taken::{self, LastLot, TakenLot},
    },
};

impl Wallet {
    /// Sets the credits of a hold aside.
    pub(super) fn hold_placed(
        &mut self,
        (at, id): (Timestamp, HoldId),
        mut hold: Hold,
    ) -> Result<HoldSnapshot, Corrupt> {
        let held = Use {
            held_credits: hold.amount,
            held_operations: 1,
            ..Use::default()
        };
        hold.counted = self.count(hold.counted, hold.product, held, at);
        hold.pins = self.account_mut(hold.product).pin(hold.amount)?;
        self.reserve(hold.product, hold.max_overrun)?;
        self.due_at.0 = self.due_at.0.min(hold.expires_at);
        let facts = hold.facts(id);
        match self.holds.insert(id, hold) {
            true => Ok(facts),
            false => Err(Corrupt("a hold is placed twice")),
        }
    }

    /// Charges a part of a hold. Its lots stay pinned until it is closed; an excess over what is left of the hold is
    /// pinned now.
    pub(super) fn hold_drawn(
        &mut self,
        (at, id): (Timestamp, HoldId),
        amount: i64,
        (key, meta): (IdempotencyKey, Option<Meta>),
        (rate, counted): Metering,
    ) -> Result<RecordContent, Corrupt> {
        let hold = self.holds.get_mut(&id).ok_or(NOT_OPEN)?;
        let pinned = hold.pinned();
        let left = hold.left();
        hold.drawn = hold.drawn.saturating_add(amount);
        if let Some(rate) = &rate {
            let drawn = hold.rate.get_or_insert_default();
            drawn.drawn_cost = drawn.drawn_cost.saturating_add(rate.cost);
            drawn.drawn_credits = drawn.drawn_credits.saturating_add(amount);
        }
        let more = hold.pinned().saturating_sub(pinned);
        let used = Use {
            credits: amount,
            held_credits: hold.left().saturating_sub(left),
            ..Use::default()
        };
        let (product, meta) = (hold.product, meta.or_else(|| hold.meta.clone()));
        let counted = self.count(counted, product, used, at);
        let account = self.account_mut(product);
        account.carry(rate.as_deref(), Cost::default(), amount)?;
        account.change_debt(|debt| debt.drawn = debt.drawn.saturating_add(amount))?;
        if more > 0 {
            let pins = account.pin(more)?;
            self.holds.get_mut(&id).ok_or(NOT_OPEN)?.add_pins(pins);
            self.refresh_due();
        }
        let delta = amount.saturating_neg();
        let entry = Entry {
            rate,
            counted,
            ..self.entry(product, delta, Reason::Deduction, Some(key), meta)
        };
        Ok(RecordContent::HoldDrawn(id, entry))
    }

    pub(super) fn hold_settled(
        &mut self,
        (at, id): (Timestamp, HoldId),
        cost: i64,
        (owed, uncovered): (i64, i64),
        meta: Option<Meta>,
        (rate, counted): Metering,
    ) -> Result<RecordContent, Corrupt> {
        let settled = cost.saturating_sub(uncovered);
        let charged = settled.saturating_sub(owed);
        if charged < 0 && rate.is_none() || owed < 0 || uncovered < 0 {
            return Err(NEGATIVE);
        }
        let open = self.hold(&id).ok_or(NOT_OPEN)?;
        let lot = open.pins.last();
        let lot = lot.map_or_else(LastLot::none, |(lot, _)| LastLot::of(*lot));
        if let Some(rate) = &rate {
            let before = open.facts(id);
            let rest = cost.saturating_sub(before.drawn);
            let account = self.account_mut(before.product);
            account.carry(Some(rate), before.drawn_cost(), rest)?;
        }
        let (hold, lots) = self.close(id, charged.max(0))?;
        let used = Use {
            credits: settled.saturating_sub(hold.drawn),
            operations: i64::from(settled > 0 || rate.is_some()),
            ..hold.ended()
        };
        let counted = self.count(counted, hold.product, used, at);
        if charged < 0 {
            self.give_back(hold.product, lot, charged.saturating_neg(), at)?;
        }
        let facts = HoldSnapshot {
            status: HoldStatus::Settled,
            settled,
            owed,
            uncovered,
            ..hold.facts(id)
        };
        self.owe(hold.product, owed)?;
        let delta = hold.drawn.saturating_sub(settled);
        let reason = match delta {
            1.. => Reason::Reversal,
            _ => Reason::Deduction,
        };
        let meta = meta.or(hold.meta);
        let is_entered = delta != 0 || rate.is_some();
        let entry = is_entered.then(|| Entry {
            rate,
            counted,
            ..self.entry(hold.product, delta, reason, Some(hold.key), meta)
        });
        Ok(RecordContent::HoldSettled(facts, entry, lots))
    }

    /// Closes a hold that was released or expired. What was drawn from it stays charged.
    pub(super) fn hold_ended(
        &mut self,
        at: Timestamp,
        id: HoldId,
        status: HoldStatus,
    ) -> Result<RecordContent, Corrupt> {
        let drawn = self.hold(&id).ok_or(NOT_OPEN)?.drawn;
        let (hold, lots) = self.close(id, drawn)?;
        let used = Use {
            operations: i64::from(drawn > 0),
            ..hold.ended()
        };
        self.count(hold.counted.clone(), hold.product, used, at);
        let facts = HoldSnapshot {
            status,
            ..hold.facts(id)
        };
        Ok(RecordContent::HoldEnded(Box::new(EndedHold {
            hold: facts,
            key: hold.key,
            meta: hold.meta,
            lots,
        })))
    }

    /// Removes a hold and gives back its credits except the `charged` ones. What was drawn beyond them pays a debt
    /// first. Returns the lots of the charged ones.
    fn close(&mut self, id: HoldId, charged: i64) -> Result<(Hold, Vec<TakenLot>), Corrupt> {
        let mut hold = self.holds.remove(&id).ok_or(NOT_OPEN)?;
        let pins = std::mem::take(&mut hold.pins);
        let Hold {
            drawn, max_overrun, ..
        } = hold;
        let account = self.account_mut(hold.product);
        let repaid = account.repaid_by(drawn.saturating_sub(charged));
        if drawn > 0 || max_overrun > 0 {
            account.change_debt(|debt| {
                debt.drawn = debt.drawn.saturating_sub(drawn);
                debt.reserved = debt.reserved.saturating_sub(max_overrun);
                debt.owed = debt.owed.saturating_sub(repaid);
            })?;
        }
        let spend = charged.saturating_add(repaid);
        let mut lots = account.unpin(pins, spend)?;
        let spent = lots.iter().map(|lot| lot.credits);
        let spent = spent.fold(0, i64::saturating_add);
        account.burn(spend.saturating_sub(spent), |lot, taken| {
            lots.push(TakenLot::of(lot, taken));
        })?;
        account.count_given_back(drawn.saturating_sub(spend))?;
        taken::first(&mut lots, charged);
        taken::bound(&mut lots);
        self.refresh_due();
        Ok((hold, lots))
    }
}

impl Hold {
    /// What its end changes about what it holds.
    fn ended(&self) -> Use {
        Use {
            held_credits: self.left().saturating_neg(),
            held_operations: -1,
            ..Use::default()
        }
    }

    fn add_pins(&mut self, pins: Vec<(u64, i64)>) {
        for (number, credits) in pins {
            match self.pins.iter_mut().find(|(lot, _)| *lot == number) {
                Some((_, pinned)) => *pinned = pinned.saturating_add(credits),
                None => self.pins.push((number, credits)),
            }
        }
    }
}
