//! Setting credits aside, and closing what was set aside by its cost, by hand or by the clock.

use super::{Change, Decision, ProductRef, Wallet};
use crate::{
    Rejection,
    amount::Amount,
    history::{Fact, HoldFacts, HoldStatus, Record},
    id::HoldId,
    text::{IdempotencyKey, Meta},
    time::Timestamp,
};

/// A request to set credits aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceHold {
    /// The identifier that the hold will have.
    pub id: HoldId,
    /// Whose credits.
    pub product: ProductRef,
    /// How many.
    pub amount: Amount,
    /// When they come back by themselves.
    pub expires_at: Timestamp,
    /// Names the operation: it is applied once.
    pub key: IdempotencyKey,
    /// The caller's note.
    pub meta: Option<Meta>,
    /// Whether a publishable key places it: who holds it need be nobody but who knows the code.
    pub publishable: bool,
    /// Holds of this wallet that may be open at once, this one included.
    pub most_open: usize,
}

/// Holds of one wallet that may be open at once, unless configured otherwise.
pub const OPEN_HOLDS: usize = 1000;

impl Wallet {
    /// Decides a new hold on an up-to-date wallet. `prior` is the record of this key's former use
    /// for a hold; a replay names the original one, even closed.
    pub fn place_hold(
        &self,
        command: PlaceHold,
        prior: Option<&Record>,
    ) -> Result<Decision<HoldFacts>, Rejection> {
        if let Some(Fact::HoldPlaced(original, _)) = prior.map(|record| &record.fact) {
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
            ..
        } = command;
        Ok(Decision::Accept(Change::HoldPlaced {
            hold,
            product,
            amount,
            expires_at,
            key,
            meta,
            publishable,
        }))
    }

    /// Open holds that end when the code is replaced: whoever placed them may have known it for having
    /// found it.
    pub fn holds_of_the_code(&self) -> impl Iterator<Item = HoldId> {
        let holds = self.holds().iter();
        holds
            .filter(|(_, hold)| hold.publishable)
            .map(|(&id, _)| id)
    }

    /// How a hold stands. `closed` is the record of its closing.
    pub fn find_hold(&self, id: &HoldId, closed: Option<&Record>) -> Result<HoldFacts, Rejection> {
        self.open_hold(id)
            .or_else(|| closed_facts(closed))
            .ok_or(Rejection::HoldNotFound)
    }

    /// Decides to close a hold by its cost: 0 up to what is held, or more if the balance has it.
    pub fn settle(
        &self,
        id: &HoldId,
        amount: i64,
        closed: Option<&Record>,
    ) -> Result<Decision<HoldFacts>, Rejection> {
        let hold = self.find_hold(id, closed)?;
        match hold.status {
            HoldStatus::Open => {
                let surplus = amount.saturating_sub(hold.amount.get());
                self.afford(hold.product, surplus.max(0), amount)?;
                Ok(Decision::Accept(Change::HoldSettled { hold: *id, amount }))
            }
            HoldStatus::Settled if hold.settled == amount => Ok(Decision::Replay(hold)),
            HoldStatus::Settled | HoldStatus::Released | HoldStatus::Expired => {
                Err(Rejection::HoldClosed)
            }
        }
    }

    /// Decides to give a hold back.
    pub fn release(
        &self,
        id: &HoldId,
        closed: Option<&Record>,
    ) -> Result<Decision<HoldFacts>, Rejection> {
        let hold = self.find_hold(id, closed)?;
        match hold.status {
            HoldStatus::Open => Ok(Decision::Accept(Change::HoldReleased { hold: *id })),
            HoldStatus::Released => Ok(Decision::Replay(hold)),
            HoldStatus::Settled | HoldStatus::Expired => Err(Rejection::HoldClosed),
        }
    }

    /// Decides to give a hold more time. It is never shortened, so that a retry is harmless.
    pub fn extend(
        &self,
        id: &HoldId,
        expires_at: Timestamp,
        closed: Option<&Record>,
    ) -> Result<Decision<HoldFacts>, Rejection> {
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

fn closed_facts(closed: Option<&Record>) -> Option<HoldFacts> {
    match closed.map(|record| &record.fact) {
        Some(Fact::HoldClosed(facts, _)) => Some(*facts),
        _ => None,
    }
}
