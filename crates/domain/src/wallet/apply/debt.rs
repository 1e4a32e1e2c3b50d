//! Applies deductions and changes of debts. Like `mod.rs`, it trusts decisions and checks arithmetic.

use crate::{
    history::{Charge, Entry, Reason, RecordContent},
    id::ProductId,
    limit::Counted,
    rate_card::{Cost, RatedUse},
    text::{IdempotencyKey, Meta},
    time::{DAY_SECONDS, Timestamp},
    wallet::state::{
        Wallet,
        account::Account,
        corrupt::Corrupt,
        debt::Charged,
        limits::Use,
        reversed::DeductionReversed,
        taken::{self, LastLot, TakenLot},
    },
};

/// What was used by a rate card, and where limits counted it.
pub(super) type Metering = (Option<Box<RatedUse>>, Option<Box<Counted>>);

pub(super) const NEGATIVE: Corrupt = Corrupt("a settlement adds credits");

impl Wallet {
    /// Reserves a part of the debt limit for a hold.
    pub(super) fn reserve(&mut self, product: ProductId, overrun: i64) -> Result<(), Corrupt> {
        if overrun == 0 {
            return Ok(());
        }
        let account = self.account_mut(product);
        account.change_debt(|debt| debt.reserved = debt.reserved.saturating_add(overrun))
    }

    /// Counts used credits for balance alerts, which only new credits reset.
    pub(super) fn count_used(&mut self, fact: &RecordContent) -> Result<(), Corrupt> {
        let Some(entry) = fact.entry() else {
            return Ok(());
        };
        let owed = match fact {
            RecordContent::HoldSettled(hold, ..) => hold.owed,
            RecordContent::Charged(charge, ..) => charge.owed,
            _ => 0,
        };
        let used = match entry.delta {
            ..0 => Some(entry.delta.saturating_add(owed).saturating_neg().max(0)),
            _ if fact.brings_credits() => None,
            _ => return Ok(()),
        };
        self.account_mut(entry.product).count_used(used)
    }

    pub(super) fn owe(&mut self, product: ProductId, owed: i64) -> Result<(), Corrupt> {
        if owed == 0 {
            return Ok(());
        }
        let account = self.account_mut(product);
        account.change_debt(|debt| debt.owed = debt.owed.saturating_add(owed))
    }

    pub(super) fn deducted(
        &mut self,
        (at, product): (Timestamp, ProductId),
        amount: i64,
        (key, meta): (IdempotencyKey, Option<Meta>),
        (rate, counted): Metering,
    ) -> Result<RecordContent, Corrupt> {
        let used = Use {
            credits: amount,
            operations: 1,
            ..Use::default()
        };
        let counted = self.count(counted, product, used, at);
        let record = self.version;
        let account = self.account_mut(product);
        account.carry(rate.as_deref(), Cost::default(), amount)?;
        let lots = account.deduct(amount, record)?;
        let delta = amount.saturating_neg();
        let entry = Entry {
            rate,
            counted,
            ..self.entry(product, delta, Reason::Deduction, Some(key), meta)
        };
        Ok(match lots.is_empty() {
            true => RecordContent::Entry(entry),
            false => RecordContent::Deducted(entry, lots),
        })
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
            rate,
            drawn_cost,
            counted,
        } = charged;
        let uncovered = amount.saturating_sub(charged).saturating_sub(owed);
        if owed < 0 || uncovered < 0 {
            return Err(NEGATIVE);
        }
        let account = self.account_mut(product);
        account.carry(rate.as_deref(), drawn_cost, amount)?;
        let mut lots = Vec::new();
        if charged < 0 {
            // What only carried below a credit was drawn from no lot.
            let no_lot = rate.is_some().then(LastLot::none);
            let lot = lot.or(no_lot);
            let lot = lot.ok_or(Corrupt("credits go back to no lot"))?;
            self.give_back(product, lot, charged.saturating_neg(), at)?;
        } else {
            account.burn(charged, |lot, taken| lots.push(TakenLot::of(lot, taken)))?;
            taken::bound(&mut lots);
            self.owe(product, owed)?;
        }
        let taken = charged.saturating_add(owed);
        let used = Use {
            credits: taken,
            operations: counted.as_ref().map_or(0, |it| it.is_operation.into()),
            ..Use::default()
        };
        let counted = self.count(counted, product, used, at);
        let delta = taken.saturating_neg();
        let reason = match delta {
            1.. => Reason::Reversal,
            _ => Reason::Deduction,
        };
        let charge = Charge {
            amount,
            owed,
            uncovered,
        };
        let entry = Entry {
            rate,
            counted,
            ..self.entry(product, delta, reason, Some(key), meta)
        };
        Ok(RecordContent::Charged(charge, entry, lots))
    }

    /// Returns credits to a lot, or to one that lasts a day if its time is over.
    pub(super) fn give_back(
        &mut self,
        product: ProductId,
        lot: LastLot,
        credits: i64,
        at: Timestamp,
    ) -> Result<(), Corrupt> {
        let account = self.account_mut(product);
        let tomorrow = at.plus_seconds(DAY_SECONDS);
        let end = Some(lot.ends_at).filter(|end| *end > at);
        let end = end.unwrap_or(tomorrow);
        let before = account.left();
        account.restore(lot.number, credits, end)?;
        account.count_given_back(account.left().saturating_sub(before))?;
        let end = account.end_of(lot.number).unwrap_or(end);
        self.due_at.0 = self.due_at.0.min(end);
        Ok(())
    }

    /// Gives credits of a deduction back. They pay a debt first.
    pub(super) fn deduction_reversed(
        &mut self,
        at: Timestamp,
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
            counted,
        } = reversed;
        let given_back = Use {
            credits: amount.get().saturating_neg(),
            operations: match &counted {
                Some(counted) if counted.is_operation => -1,
                _ => 0,
            },
            ..Use::default()
        };
        let counted = self.count(counted, product, given_back, at);
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
        let entry = Entry {
            counted,
            ..self.entry(product, amount.get(), Reason::Reversal, Some(key), meta)
        };
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
