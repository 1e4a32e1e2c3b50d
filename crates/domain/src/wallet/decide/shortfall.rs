//! What happens to a cost that the balance does not cover: work that was done is charged as far as possible.

use super::debt_limit::DebtLimit;
use crate::{
    Rejection,
    id::ProductId,
    rate_card::RatedUse,
    wallet::state::{Wallet, event::Change},
};

/// What the caller wants done with a cost that the balance does not cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnShortfall {
    /// Nothing is charged.
    #[default]
    Refuse,
    /// What can be spent is charged, and the rest is waived.
    Drain,
    /// What can be spent is charged, and the rest is owed as far as the limit of debt allows.
    Owe,
}

/// How a cost was met; the three parts add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Credits that were charged.
    pub charged: i64,
    /// Credits that are owed for it.
    pub owed: i64,
    /// Credits that could neither be charged nor owed.
    pub uncovered: i64,
}

impl Coverage {
    /// A cost that was charged in full.
    pub const fn full(cost: i64) -> Self {
        Self {
            charged: cost,
            owed: 0,
            uncovered: 0,
        }
    }

    /// All three parts together.
    pub const fn cost(&self) -> i64 {
        let met = self.charged.saturating_add(self.owed);
        met.saturating_add(self.uncovered)
    }

    /// Whether all of the cost was charged.
    pub const fn is_full(&self) -> bool {
        self.owed == 0 && self.uncovered == 0
    }

    /// The coverage after this much of the cost was charged before.
    #[must_use]
    pub const fn beside(self, charged: i64) -> Self {
        Self {
            charged: self.charged.saturating_add(charged),
            ..self
        }
    }
}

/// A decision about what a piece of work cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostDecision {
    /// The product whose credits are used.
    pub product: ProductId,
    /// How the cost is met.
    pub coverage: Coverage,
    /// Whether the work's hold had expired.
    pub late: bool,
    /// What was used, if a rate card prices it.
    pub rate: Option<Box<RatedUse>>,
    /// What to apply; `None`: it was applied before.
    pub change: Option<Change>,
}

impl Wallet {
    /// Covers a cost from the balance and from `beside`: a hold's credits, and what it may owe.
    pub(super) fn cover(
        &self,
        product: ProductId,
        cost: i64,
        beside: OfHold,
        on_shortfall: OnShortfall,
        limits: &[DebtLimit],
    ) -> Result<Coverage, Rejection> {
        let needed = cost.saturating_sub(beside.pinned).max(0);
        // A frozen wallet is charged only what a hold set aside.
        let available = match self.frozen() {
            Some(_) => 0,
            None => self.available(product),
        };
        let rest = needed.saturating_sub(available).max(0);
        if rest == 0 {
            return Ok(Coverage::full(cost));
        }
        let room = match on_shortfall {
            OnShortfall::Owe => {
                // The hold's reservation counts as taken but is its own, even if the limit was lowered since.
                let free = self.unreserved_credit(product, limits);
                let free = free.saturating_add(beside.max_overrun);
                free.max(beside.max_overrun).max(0)
            }
            OnShortfall::Drain => 0,
            OnShortfall::Refuse => {
                self.refuse_frozen()?;
                self.afford(product, needed, cost)?;
                0
            }
        };
        let owed = rest.min(room);
        Ok(Coverage {
            charged: cost.saturating_sub(rest),
            owed,
            uncovered: rest.saturating_sub(owed),
        })
    }
}

/// A hold's credits beside the balance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfHold {
    pub(super) pinned: i64,
    pub(super) max_overrun: i64,
}
