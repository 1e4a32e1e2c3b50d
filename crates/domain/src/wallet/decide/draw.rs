//! Draws charge a part of a hold while the work goes on, so that a stream that breaks off is still charged for what was
//! done.

use super::Decision;
use crate::{
    Rejection,
    amount::Amount,
    history::{HoldSnapshot, HoldStatus, Record, RecordContent},
    id::HoldId,
    text::{IdempotencyKey, Meta},
    wallet::state::{Wallet, event::Change},
};

/// A request to charge a part of an open hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Draw {
    pub hold: HoldId,
    pub amount: Amount,
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
    /// [`Rejection::Frozen`], [`Rejection::MetaTooLarge`] or [`Rejection::Insufficient`].
    pub fn draw(
        &self,
        command: Draw,
        prior: Option<&Record>,
        closed: Option<&Record>,
    ) -> Result<Decision<HoldSnapshot>, Rejection> {
        let Draw {
            hold: id,
            amount,
            key,
            meta,
        } = command;
        let hold = self.find_hold(&id, closed)?;
        if let Some(RecordContent::HoldDrawn(drawn_from, entry)) = prior.map(|prior| &prior.fact) {
            let same = *drawn_from == id && entry.delta.checked_neg() == Some(amount.get());
            return if same {
                Ok(Decision::Replay(hold))
            } else {
                Err(Rejection::KeyReused)
            };
        }
        if hold.status != HoldStatus::Open {
            return Err(Rejection::HoldClosed);
        }
        self.refuse_frozen()?;
        let meta = self.note_over(&id, meta)?;
        let needed = amount.get().saturating_sub(hold.left());
        self.afford(hold.product, needed.max(0), amount.get())?;
        Ok(Decision::Accept(Change::HoldDrawn {
            hold: id,
            amount,
            key,
            meta,
        }))
    }
}
