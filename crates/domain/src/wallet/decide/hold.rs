//! Holds set credits aside for work whose cost is known only afterwards. A hold is closed when it is settled for that
//! cost, released, or expired.

use super::{Decision, ProductRef, UseRules, limits::Spent};
use crate::{
    Rejection,
    history::{HoldSnapshot, HoldStatus, Record, RecordContent},
    id::HoldId,
    limit::Spender,
    rate_card::{Carried, WorkCost},
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{Wallet, event::Change, limits::Use},
};

/// A request to place a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct PlaceHold {
    pub id: HoldId,
    pub product: ProductRef,
    pub cost: WorkCost,
    /// When the hold expires and its credits return to the balance.
    pub expires_at: Timestamp,
    /// The idempotency key: a repeat with it answers the original hold.
    pub key: IdempotencyKey,
    /// The caller's note, for the ledger entry that settling the hold writes.
    pub meta: Option<Meta>,
    /// Whether a publishable key places it. Anyone with the wallet's recovery code can do that, so replacing the code
    /// releases the hold.
    pub publishable: bool,
    /// The most open holds of this wallet, this one included.
    pub max_open: usize,
    /// By how much the cost may exceed the held credits, 0 or more. This part of the debt limit is reserved.
    pub max_overrun: i64,
    pub by: Spender,
}

/// The most open holds of one wallet, unless configured otherwise.
pub const MAX_OPEN_HOLDS: usize = 1000;

impl Wallet {
    /// Decides whether a hold may be placed, on an up-to-date wallet. `prior` is the record of the hold that this key
    /// placed before, and `closed` the one that closed it: a repeat returns that hold as it is now.
    /// # Errors
    /// [`Rejection::KeyReused`], [`Rejection::ProductRequired`], [`Rejection::Unrated`], [`Rejection::TooManyHolds`],
    /// [`Rejection::LimitExceeded`], [`Rejection::TooManyScopes`], [`Rejection::Insufficient`] or
    /// [`Rejection::NoCredit`].
    pub fn place_hold(
        &self,
        command: PlaceHold,
        (prior, closed): (Option<&Record>, Option<&Record>),
        rules: UseRules<'_>,
        now: Timestamp,
    ) -> Result<Decision<HoldSnapshot>, Rejection> {
        if let Some(RecordContent::HoldPlaced(original, _, rate)) = prior.map(|it| &it.fact) {
            let same = command.cost.is(original.amount, rate.as_deref());
            return if same && command.product.matches(original.product) {
                self.find_hold(&original.id, closed).map(Decision::Replay)
            } else {
                Err(Rejection::KeyReused)
            };
        }
        let product = command.cost.product(command.product)?;
        let (amount, rate) = match command.cost {
            WorkCost::Credits(amount) => (amount.get(), None),
            WorkCost::Metered(used) => {
                let rating = used.rating_in(product)?;
                let cost = rating.whole();
                (
                    cost.rounded_up(),
                    Some(used.at(rating.version, cost, Carried::ZERO)),
                )
            }
        };
        self.refuse_frozen()?;
        if self.holds().len() >= command.max_open {
            return Err(Rejection::TooManyHolds);
        }
        let held = Use {
            held_credits: amount,
            held_operations: 1,
            ..Use::default()
        };
        let spent = Spent {
            by: &command.by,
            meta: command.meta.as_ref(),
            product,
            at: self.date(now),
        };
        let counted = self.admit(rules.limits, spent, held)?;
        self.afford(product, amount, amount)?;
        let PlaceHold {
            id: hold,
            expires_at,
            key,
            meta,
            publishable,
            max_overrun,
            ..
        } = command;
        let available = || self.unreserved_credit(product, rules.debts).max(0);
        if max_overrun > 0 && max_overrun > available() {
            return Err(Rejection::NoCredit {
                product,
                balance: self.available(product),
                requested: max_overrun,
                available: available(),
            });
        }
        Ok(Decision::Accept(Change::HoldPlaced {
            hold,
            product,
            amount,
            expires_at,
            key,
            meta,
            publishable,
            rotations: self.rotations,
            max_overrun,
            rate,
            counted,
        }))
    }

    /// Open holds that were placed with a publishable key. Replacing the recovery code releases them, because a thief
    /// of the former code may have placed them.
    pub fn publishable_holds(&self) -> impl Iterator<Item = HoldId> {
        let holds = self.holds().iter();
        holds
            .filter(|(_, hold)| hold.publishable)
            .map(|(&id, _)| id)
    }

    /// Whether a hold was placed before the recovery code was last replaced, so that a thief of the former code may
    /// know it.
    pub const fn is_of_former_code(&self, hold: &HoldSnapshot) -> bool {
        hold.rotations < self.rotations
    }

    /// The state of a hold. `closed` is the record that closed it, if one did.
    /// # Errors
    /// [`Rejection::HoldNotFound`].
    pub fn find_hold(
        &self,
        id: &HoldId,
        closed: Option<&Record>,
    ) -> Result<HoldSnapshot, Rejection> {
        self.open_hold(id)
            .or_else(|| closed_hold(closed))
            .ok_or(Rejection::HoldNotFound)
    }

    /// The note on a charge of an open hold: the hold's, overlaid by this one. `None` if the hold's is unchanged.
    pub(super) fn note_over(
        &self,
        id: &HoldId,
        note: Option<Meta>,
    ) -> Result<Option<Meta>, Rejection> {
        over(note, self.hold(id).and_then(|hold| hold.meta.as_ref()))
    }

    /// Decides to release a hold: its credits return to the balance, except for those already drawn.
    /// # Errors
    /// [`Rejection::HoldNotFound`], or [`Rejection::HoldClosed`] if it was settled or expired.
    pub fn release(
        &self,
        id: &HoldId,
        closed: Option<&Record>,
    ) -> Result<Decision<HoldSnapshot>, Rejection> {
        let hold = self.find_hold(id, closed)?;
        match hold.status {
            HoldStatus::Open => Ok(Decision::Accept(Change::HoldReleased { hold: *id })),
            HoldStatus::Released => Ok(Decision::Replay(hold)),
            HoldStatus::Settled | HoldStatus::Expired => Err(Rejection::HoldClosed),
        }
    }

    /// Decides to extend a hold. It never expires earlier, so that a retry is harmless.
    /// # Errors
    /// [`Rejection::HoldNotFound`] or [`Rejection::HoldClosed`].
    pub fn extend(
        &self,
        id: &HoldId,
        expires_at: Timestamp,
        closed: Option<&Record>,
    ) -> Result<Decision<HoldSnapshot>, Rejection> {
        let hold = self.find_hold(id, closed)?;
        match hold.status {
            HoldStatus::Open if expires_at > hold.expires_at => {
                Ok(Decision::Accept(Change::HoldExtended {
                    hold: *id,
                    expires_at,
                }))
            }
            HoldStatus::Open => Ok(Decision::Replay(hold)),
            HoldStatus::Settled | HoldStatus::Released | HoldStatus::Expired => {
                Err(Rejection::HoldClosed)
            }
        }
    }
}

pub(super) fn over(note: Option<Meta>, of_hold: Option<&Meta>) -> Result<Option<Meta>, Rejection> {
    match (note, of_hold) {
        (Some(note), Some(former)) => {
            let merged = note.over(former).map_err(|_| Rejection::MetaTooLarge)?;
            Ok(Some(merged))
        }
        (note, _) => Ok(note),
    }
}

fn closed_hold(closed: Option<&Record>) -> Option<HoldSnapshot> {
    match closed.map(|record| &record.fact) {
        Some(RecordContent::HoldSettled(hold, ..)) => Some(hold.clone()),
        Some(RecordContent::HoldEnded(ended)) => Some(ended.hold.clone()),
        _ => None,
    }
}
