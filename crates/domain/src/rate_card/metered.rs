//! What a request says was used, and what a wallet keeps of it.

use serde::{Deserialize, Serialize};

use super::{Attributes, Carried, Cost, Quantities, RateCardSlug, RateError};
use crate::{amount::Amount, id::ProductId};

/// What work costs, as a request says it: `A` of credits, or by a rate card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkCost<A = Amount> {
    /// Whole credits, which never touch what is carried below a credit.
    Credits(A),
    /// What was used, to be priced by a rate card.
    Metered(Box<MeteredUse>),
}

/// What was used, and what it costs by a rate card.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct MeteredUse {
    pub card: RateCardSlug,
    pub attributes: Attributes,
    pub quantities: Quantities,
    /// By the version that prices it. Looked at only where the request is no repeat.
    pub rating: Result<Rating, Unrated>,
}

/// What a version of a rate card says that a use costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rating {
    /// The version's number.
    pub version: u32,
    /// The product whose credits the version's prices are in.
    pub product: ProductId,
    /// The exact cost, the rate's minimum not considered.
    pub cost: Cost,
    /// The least that a deduction or a whole settlement costs.
    pub minimum: Cost,
}

impl Rating {
    /// The cost of a deduction or a whole settlement.
    pub fn whole(&self) -> Cost {
        self.cost.max(self.minimum)
    }
}

/// Why a use has no cost. It is never taken to be free.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unrated {
    /// The card is unknown or closed, or no version of it is in force yet.
    #[error("No such rate card.")]
    NoCard,
    /// The card cannot price it.
    #[error(transparent)]
    Rate(#[from] RateError),
    /// The card's credits are another product's than those to use.
    #[error("This rate card is for credits of another product.")]
    OtherProduct,
}

/// A use that was priced, as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct RatedUse {
    pub card: RateCardSlug,
    pub version: u32,
    pub attributes: Attributes,
    pub quantities: Quantities,
    /// The exact cost; of a settlement, of all of the work.
    pub cost: Cost,
    /// What the account carries after it; nothing where a hold was placed.
    pub carried: Carried,
}

impl MeteredUse {
    /// Whether a former use of the key is the same request: what it cost does not matter.
    fn is(&self, former: &RatedUse) -> bool {
        self.card == former.card
            && self.attributes == former.attributes
            && self.quantities == former.quantities
    }

    /// The use at this exact cost, of which so much is carried.
    pub(crate) fn at(self, version: u32, cost: Cost, carried: Carried) -> Box<RatedUse> {
        Box::new(RatedUse {
            card: self.card,
            version,
            attributes: self.attributes,
            quantities: self.quantities,
            cost,
            carried,
        })
    }
}

impl<A: Copy + Into<i64>> WorkCost<A> {
    /// Whether a former use of the key, for so many credits or by this rate, is the same request.
    pub(crate) fn is(&self, credits: i64, rate: Option<&RatedUse>) -> bool {
        match (self, rate) {
            (Self::Credits(asked), None) => (*asked).into() == credits,
            (Self::Metered(used), Some(former)) => used.is(former),
            _ => false,
        }
    }
}

impl<A> From<A> for WorkCost<A> {
    fn from(credits: A) -> Self {
        Self::Credits(credits)
    }
}
