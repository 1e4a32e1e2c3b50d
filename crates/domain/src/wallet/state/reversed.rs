//! The event that reverses a deduction.

use serde::{Deserialize, Serialize};

use super::taken::TakenLot;
use crate::{
    amount::Amount,
    history::DeductionRef,
    id::ProductId,
    limit::Counted,
    text::{IdempotencyKey, Meta},
};

/// Credits of a deduction were given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct DeductionReversed {
    pub deduction: DeductionRef,
    pub product: ProductId,
    /// The requested amount; `None` for all that was left.
    pub requested: Option<Amount>,
    pub amount: Amount,
    pub key: IdempotencyKey,
    pub meta: Option<Meta>,
    /// The lots that the credits return to after a debt is paid.
    pub lots: Vec<TakenLot>,
    /// Where it was counted; an operation only if nothing is left of it.
    pub counted: Option<Box<Counted>>,
}
