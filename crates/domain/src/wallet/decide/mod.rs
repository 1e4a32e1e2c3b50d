//! What a command changes, or why it is refused, one file per command. A decision is a list of events; it changes
//! nothing.

pub mod bill;
pub mod catch_up;
mod change_order;
pub mod credit;
mod cycle;
pub mod debt_limit;
mod decision;
pub mod deduct;
pub mod draw;
pub mod feature;
pub mod forgive;
pub mod freeze;
pub mod hold;
pub(in crate::wallet) mod instruction;
pub mod lapse;
mod leave_provider;
mod limit_details;
pub mod limits;
pub mod loss;
pub mod pay;
pub(in crate::wallet) mod payment;
pub mod place_order;
pub mod purchase;
pub mod refund;
pub mod reverse;
pub mod reverse_deduction;
pub mod settle;
pub mod shortfall;
pub(in crate::wallet) mod subscription_instruction;
pub mod switch;
pub mod top_up;
pub mod update_subscription;
mod work_cost;

pub use shortfall::Coverage;

use crate::{amount::Amount, id::ProductId, limit::ProjectLimits, wallet::state::Change};
use debt_limit::DebtLimit;

/// A free grant that the wallet's project offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeGrantRule {
    /// The product whose credits are given.
    pub product: ProductId,
    /// Credits given each period.
    pub credits: Amount,
    /// The period, such as a day.
    pub period: crate::time::Period,
}

/// What a project's catalog says about the use of its wallets' credits.
#[derive(Debug, Clone, Copy)]
pub struct UseRules<'a> {
    /// How much wallets may owe.
    pub debts: &'a [DebtLimit],
    /// How much may be used of them.
    pub limits: &'a ProjectLimits,
}

/// The product that a command names, or leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductRef {
    /// Named in the request and known to the project.
    Named(ProductId),
    /// Omitted: the project's only credit product, if there is exactly one.
    Only(Option<ProductId>),
}

impl ProductRef {
    /// Whether a former use of the key with `product` is the same request.
    pub fn matches(self, product: ProductId) -> bool {
        match self {
            Self::Named(named) => named == product,
            Self::Only(_) => true,
        }
    }

    /// The product to act on.
    /// # Errors
    /// [`Rejection::ProductRequired`](crate::Rejection::ProductRequired) if none was named and the project does not
    /// have exactly one.
    pub const fn resolve(self) -> Result<ProductId, crate::Rejection> {
        match self {
            Self::Named(product) | Self::Only(Some(product)) => Ok(product),
            Self::Only(None) => Err(crate::Rejection::ProductRequired),
        }
    }
}

/// The outcome of a command that is not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision<R, C = Change> {
    /// Apply this and answer from the state after it.
    Accept(C),
    /// The same request was applied before, with this result; nothing changes.
    Replay(R),
}
