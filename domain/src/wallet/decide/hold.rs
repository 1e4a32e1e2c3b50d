//! Holds: credits are set aside for work whose cost is known only afterwards. A hold is closed by settling it for
//! that cost, by releasing it, or by expiring.

use super::{Decision, ProductRef, debt_limit::DebtLimit};
use crate::{
    Rejection,
    amount::Amount,
    history::{HoldSnapshot, HoldStatus, Record, RecordContent},
    id::HoldId,
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{Wallet, event::Change},
};

/// A request to place a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceHold {
    /// The identifier of the new hold.
    pub id: HoldId,
    /// The product whose credits are held.
    pub product: ProductRef,
    /// Credits to hold.
    pub amount: Amount,
    /// When the hold expires and its credits return to the balance.
    pub expires_at: Timestamp,
    /// The idempotency key: a repeat with it answers the original hold.
    pub key: IdempotencyKey,
    /// The caller's note; it is written on the ledger entry that settling makes.
    pub meta: Option<Meta>,
    /// Whether a publishable key places it. Then anyone who knows the recovery code may have: the hold is released
    /// when that code is replaced.
    pub publishable: bool,
    /// The most holds of this wallet that may be open at once, this one included.
    pub most_open: usize,
    /// How much the work may come to owe, 0 or more: as much of the limit of debt is reserved.
    pub max_overrun: i64,
}

/// The most holds of one wallet that may be open at once, unless configured otherwise.
pub const OPEN_HOLDS: usize = 1000;

impl Wallet {
    /// Decides whether a hold may be placed, on a wallet that has caught up with its clock. `prior` is the record of
    /// the hold that this key placed before, if it did: a repeat answers that hold, even if it is closed.
    ///
    /// # Errors
    ///
    /// [`Rejection::KeyReused`], [`Rejection::ProductRequired`], [`Rejection::TooManyHolds`],
    /// [`Rejection::Insufficient`] or [`Rejection::NoCredit`].
    pub fn place_hold(
        &self,
        command: PlaceHold,
        prior: Option<&Record>,
        limits: &[DebtLimit],
    ) -> Result<Decision<HoldSnapshot>, Rejection> {
        if let Some(RecordContent::HoldPlaced(original, _)) = prior.map(|record| &record.fact) {
            let same =
                command.product.matches(original.product) && original.amount == command.amount;
            let now = self.open_hold(&original.id).unwrap_or(*original);
            return if same {
                Ok(Decision::Replay(now))
            } else {
                Err(Rejection::KeyReused)
            };
        }
        let product = command.product.resolve()?;
        if self.holds().len() >= command.most_open {
            return Err(Rejection::TooManyHolds);
        }
        self.afford(product, command.amount.get(), command.amount.get())?;
        let PlaceHold {
            id: hold,
            amount,
            expires_at,
            key,
            meta,
            publishable,
            max_overrun,
            ..
        } = command;
        let available = || self.unreserved_credit(product, limits).max(0);
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
            max_overrun,
        }))
    }

    /// Open holds that were placed with a publishable key: a replaced recovery code releases them, because whoever
    /// placed them may have found the leaked code.
    pub fn holds_of_the_code(&self) -> impl Iterator<Item = HoldId> {
        let holds = self.holds().iter();
        holds
            .filter(|(_, hold)| hold.publishable)
            .map(|(&id, _)| id)
    }

    /// The state of a hold. `closed` is the record that closed it, if one did.
    ///
    /// # Errors
    ///
    /// [`Rejection::HoldNotFound`].
    pub fn find_hold(
        &self,
        id: &HoldId,
        closed: Option<&Record>,
    ) -> Result<HoldSnapshot, Rejection> {
        self.open_hold(id)
            .or_else(|| closed_facts(closed))
            .ok_or(Rejection::HoldNotFound)
    }

    /// Decides to release a hold: all its credits return to the balance, but for those that were drawn.
    ///
    /// # Errors
    ///
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

    /// Decides to move the expiry of a hold to a later time. It is never moved to an earlier one, so that a retry is
    /// harmless.
    ///
    /// # Errors
    ///
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

fn closed_facts(closed: Option<&Record>) -> Option<HoldSnapshot> {
    match closed.map(|record| &record.fact) {
        Some(RecordContent::HoldClosed(facts, _)) => Some(*facts),
        Some(RecordContent::HoldExpired(expired)) => Some(expired.hold),
        _ => None,
    }
}
