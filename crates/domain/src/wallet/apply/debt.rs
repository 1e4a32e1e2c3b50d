//! Applies changes of holds and debts. Like `mod.rs`, it trusts decisions and checks arithmetic.

use super::NOT_OPEN;
use crate::{
    history::{Charge, EndedHold, Entry, HoldSnapshot, HoldStatus, Reason, RecordContent},
    id::{HoldId, ProductId},
    text::{IdempotencyKey, Meta},
    time::{DAY_SECONDS, Timestamp},
    wallet::state::{
        Wallet,
        account::Account,
        corrupt::Corrupt,
        debt::Charged,
        holds::Hold,
        reversed::DeductionReversed,
        taken::{self, TakenLot},
    },
};

const NEGATIVE: Corrupt = Corrupt("a settlement adds credits");

impl Wallet {
    /// Reserves a part of the debt limit for a hold.
    pub(super) fn reserve(&mut self, product: ProductId, overrun: i64) -> Result<(), Corrupt> {
        if overrun == 0 {
            return Ok(());
        }
        let account = self.account_mut(product);
        account.change_debt(|debt| debt.reserved = debt.reserved.saturating_add(overrun))
    }

    fn owe(&mut self, product: ProductId, owed: i64) -> Result<(), Corrupt> {
        if owed == 0 {
            return Ok(());
        }
        let account = self.account_mut(product);
        account.change_debt(|debt| debt.owed = debt.owed.saturating_add(owed))
    }

    /// Charges a part of a hold. Its lots stay pinned until it is closed; an excess over what is left of the hold is
    /// pinned now.
    pub(super) fn hold_drawn(
        &mut self,
        id: HoldId,
        amount: i64,
        key: IdempotencyKey,
        meta: Option<Meta>,
    ) -> Result<RecordContent, Corrupt> {
        let hold = self.holds.get_mut(&id).ok_or(NOT_OPEN)?;
        let pinned = hold.pinned();
        hold.drawn = hold.drawn.saturating_add(amount);
        let more = hold.pinned().saturating_sub(pinned);
        let (product, meta) = (hold.product, meta.or_else(|| hold.meta.clone()));
        let account = self.account_mut(product);
        account.change_debt(|debt| debt.drawn = debt.drawn.saturating_add(amount))?;
        if more > 0 {
            let pins = account.pin(more)?;
            self.holds.get_mut(&id).ok_or(NOT_OPEN)?.add_pins(pins);
            self.refresh_due();
        }
        let delta = amount.saturating_neg();
        let entry = self.entry(product, delta, Reason::Deduction, Some(key), meta);
        Ok(RecordContent::HoldDrawn(id, entry))
    }

    pub(super) fn hold_settled(
        &mut self,
        id: HoldId,
        cost: i64,
        (owed, uncovered): (i64, i64),
        meta: Option<Meta>,
    ) -> Result<RecordContent, Corrupt> {
        let settled = cost.saturating_sub(uncovered);
        let charged = settled.saturating_sub(owed);
        if charged < 0 || owed < 0 || uncovered < 0 {
            return Err(NEGATIVE);
        }
        let (hold, lots) = self.close(id, charged)?;
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
            ..0 => Reason::Deduction,
            _ => Reason::Reversal,
        };
        let meta = meta.or(hold.meta);
        let entry =
            (delta != 0).then(|| self.entry(hold.product, delta, reason, Some(hold.key), meta));
        Ok(RecordContent::HoldSettled(facts, entry, lots))
    }

    /// Closes a hold that was released or expired. What was drawn from it stays charged.
    pub(super) fn hold_ended(
        &mut self,
        id: HoldId,
        status: HoldStatus,
    ) -> Result<RecordContent, Corrupt> {
        let drawn = self.hold(&id).ok_or(NOT_OPEN)?.drawn;
        let (hold, lots) = self.close(id, drawn)?;
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

    pub(super) fn charged(
        &mut self,
        at: Timestamp,
        charged: Charged,
    ) -> Result<RecordContent, Corrupt> {
        let Charged {
            product,
            amount,
            charged,
            owed,
            key,
            meta,
            lot,
        } = charged;
        let uncovered = amount.saturating_sub(charged).saturating_sub(owed);
        if owed < 0 || uncovered < 0 {
            return Err(NEGATIVE);
        }
        let account = self.account_mut(product);
        let mut lots = Vec::new();
        if charged < 0 {
            let lot = lot.ok_or(Corrupt("credits go back to no lot"))?;
            let tomorrow = at.plus_seconds(DAY_SECONDS);
            let end = Some(lot.ends_at).filter(|end| *end > at);
            let end = end.unwrap_or(tomorrow);
            let before = account.left();
            account.restore(lot.number, charged.saturating_neg(), end)?;
            account.count_given_back(account.left().saturating_sub(before))?;
            let end = account.end_of(lot.number).unwrap_or(end);
            self.due_at.0 = self.due_at.0.min(end);
        } else {
            account.burn(charged, |lot, taken| lots.push(TakenLot::of(lot, taken)))?;
            taken::bound(&mut lots);
            self.owe(product, owed)?;
        }
        let delta = charged.saturating_add(owed).saturating_neg();
        let reason = match delta {
            1.. => Reason::Reversal,
            _ => Reason::Deduction,
        };
        let charge = Charge {
            amount,
            owed,
            uncovered,
        };
        let entry = self.entry(product, delta, reason, Some(key), meta);
        Ok(RecordContent::Charged(charge, entry, lots))
    }

    /// Gives credits of a deduction back. They pay a debt first.
    pub(super) fn deduction_reversed(
        &mut self,
        reversed: DeductionReversed,
    ) -> Result<RecordContent, Corrupt> {
        let DeductionReversed {
            deduction,
            product,
            requested,
            amount,
            key,
            meta,
            lots,
        } = reversed;
        let account = self.account_mut(product);
        let rest = account.repay(amount.get())?;
        let to_lots = lots.iter().map(|lot| lot.credits);
        if to_lots.fold(0, i64::saturating_add) != rest || lots.iter().any(|lot| lot.credits <= 0) {
            return Err(Corrupt("what is given back does not add up"));
        }
        for lot in lots {
            account.reinstate(lot)?;
        }
        self.refresh_due();
        let entry = self.entry(product, amount.get(), Reason::Reversal, Some(key), meta);
        Ok(RecordContent::Reversed(deduction, requested, entry))
    }

    pub(super) fn forgiven(
        &mut self,
        product: ProductId,
        amount: i64,
        key: IdempotencyKey,
        meta: Option<Meta>,
    ) -> Result<Entry, Corrupt> {
        let account: &mut Account = self.account_mut(product);
        if account.repay(amount)? != 0 {
            return Err(Corrupt("more is forgiven than is owed"));
        }
        Ok(self.entry(product, amount, Reason::Forgiveness, Some(key), meta))
    }
}

impl Hold {
    fn add_pins(&mut self, pins: Vec<(u64, i64)>) {
        for (number, credits) in pins {
            match self.pins.iter_mut().find(|(lot, _)| *lot == number) {
                Some((_, pinned)) => *pinned = pinned.saturating_add(credits),
                None => self.pins.push((number, credits)),
            }
        }
    }
}
