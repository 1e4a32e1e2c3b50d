//! The event that reverses a deduction.

use serde::{Deserialize, Serialize};

use super::taken::TakenLot;
use crate::{
    amount::Amount,
    history::DeductionRef,
    id::ProductId,
    text::{IdempotencyKey, Meta},
};

/// Credits of a deduction were given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeductionReversed {
    /// The record of the deduction.
    pub deduction: DeductionRef,
    /// The product whose credits these are.
    pub product: ProductId,
    /// The requested amount; `None` for all that was left.
    pub requested: Option<Amount>,
    /// Credits that were given back.
    pub amount: Amount,
    /// The caller's key.
    pub key: IdempotencyKey,
    /// The caller's note.
    pub meta: Option<Meta>,
    /// The lots that the credits return to after a debt is paid.
    pub lots: Vec<TakenLot>,
}
