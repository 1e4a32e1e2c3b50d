//! Draws charge a part of a hold while the work goes on, so that a stream that breaks off is still charged for what was
//! done.

use super::{Decision, UseRules};
use crate::{
    Rejection,
    history::{HoldSnapshot, HoldStatus, Record, RecordContent},
    id::HoldId,
    rate_card::{Cost, WorkCost},
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{Wallet, event::Change, limits::Use},
};

/// A request to charge a part of an open hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Draw {
    pub hold: HoldId,
    pub cost: WorkCost,
    pub key: IdempotencyKey,
    /// The caller's note, over that of the hold.
    pub meta: Option<Meta>,
}

impl Wallet {
    /// Decides a draw: first from what the hold has left, then from the balance. `prior` is the record of this key's
    /// former use for a draw, `closed` the one that closed the hold. A repeat is answered even after the hold was
    /// closed.
    /// # Errors
    /// [`Rejection::HoldNotFound`], [`Rejection::KeyReused`], [`Rejection::HoldClosed`],
    /// [`Rejection::Unrated`], [`Rejection::Frozen`], [`Rejection::MetaTooLarge`], [`Rejection::LimitExceeded`] or
    /// [`Rejection::Insufficient`].
    pub fn draw(
        &self,
        command: Draw,
        prior: Option<&Record>,
        closed: Option<&Record>,
        (rules, now): (UseRules<'_>, Timestamp),
    ) -> Result<Decision<HoldSnapshot>, Rejection> {
        let Draw {
            hold: id,
            cost,
            key,
            meta,
        } = command;
        let hold = self.find_hold(&id, closed)?;
        if let Some(RecordContent::HoldDrawn(drawn_from, entry)) = prior.map(|prior| &prior.fact) {
            let drawn = entry.delta.saturating_neg();
            let same = *drawn_from == id && cost.is(drawn, entry.rate.as_deref());
            return if same {
                Ok(Decision::Replay(hold))
            } else {
                Err(Rejection::KeyReused)
            };
        }
        if hold.status != HoldStatus::Open {
            return Err(Rejection::HoldClosed);
        }
        let (amount, rate) = match cost {
            WorkCost::Credits(amount) => (amount.get(), None),
            WorkCost::Metered(used) => {
                self.charge_for(*used, hold.product, |rating| rating.cost, Cost::default())?
            }
        };
        self.refuse_frozen()?;
        let meta = self.note_over(&id, meta)?;
        let needed = amount.saturating_sub(hold.left());
        let used = Use {
            credits: amount,
            held_credits: hold.left().min(amount).saturating_neg(),
            ..Use::default()
        };
        let of = (hold.counted.as_deref(), hold.product);
        let counted = self.admit_more(rules.limits, of, (used, true), now)?;
        self.afford(hold.product, needed.max(0), amount)?;
        Ok(Decision::Accept(Change::HoldDrawn {
            hold: id,
            amount,
            key,
            meta,
            rate,
            counted,
        }))
    }
}
