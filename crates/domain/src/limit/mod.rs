//! Limits: how much may be used of a wallet, by whom, for what and in which time. A wallet counts what was used in a
//! window only where a limit applies, and forgets it once the window is over.

mod counted;
mod scope;
mod window;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    amount::MAX_CREDITS,
    catalog::Refusal,
    id::{PriceId, ProductId},
    time::Timestamp,
};

pub(crate) use self::counted::feature;
pub use self::{
    counted::{Count, Counted, LimitAlert, Spender},
    scope::{LimitScope, ScopeKind},
    window::{LimitWindow, TimeZoneName},
};

/// The most limits of a wallet, a product or a price.
pub const MAX_LIMITS: usize = 50;
/// The most counters of a wallet.
pub const MAX_COUNTERS: usize = 10_000;
/// The most thresholds of a limit.
const MAX_ALERTS: usize = 5;

/// What a limit counts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum LimitUnit {
    /// Credits that were used or are held.
    #[default]
    Credits,
    /// Deductions and holds.
    Operations,
}

/// How much may be used in a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Whose use, or for what, counts together.
    pub scope: LimitScope,
    /// The most that may be used, 0 or more.
    pub amount: i64,
    /// In which time.
    pub window: LimitWindow,
    /// What is counted.
    pub unit: LimitUnit,
    /// Where its calendar is; `None`: UTC.
    pub time_zone: Option<TimeZoneName>,
    /// The product whose credits count; `None`: those of all products.
    pub product: Option<ProductId>,
    /// At which percentages of the amount to alert, rising.
    pub alerts_at: Vec<u8>,
}

/// Where a limit comes from. An earlier one replaces a later one of the same scope, window, unit and product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitSource {
    /// The wallet's own.
    Wallet,
    /// A price whose subscription is active.
    Subscription,
    /// A product of the project.
    Product,
}

/// The limits that a project's catalog has for all of its wallets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectLimits {
    /// Those of its active products.
    pub products: Vec<Limit>,
    /// Those of its subscription prices.
    pub prices: BTreeMap<PriceId, Vec<Limit>>,
}

impl ProjectLimits {
    /// No limit at all.
    pub const NONE: Self = Self {
        products: Vec::new(),
        prices: BTreeMap::new(),
    };

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.products.is_empty() && self.prices.is_empty()
    }
}

/// A limit with what its window counts so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitState {
    /// What is limited.
    pub limit: Limit,
    /// Where it comes from.
    pub source: LimitSource,
    /// What was used in the window.
    pub used: i64,
    /// What open holds set aside.
    pub held: i64,
    /// When the window began; `None`: it has no beginning.
    pub starts_at: Option<Timestamp>,
    /// When the next window begins; `None`: never.
    pub resets_at: Option<Timestamp>,
}

/// What a limit's window counts, as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitUse {
    /// The limit, with what its window counts.
    pub state: LimitState,
    /// Whether it refused a use in the window.
    pub has_refused: bool,
}

/// A limit in force, as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitDetail {
    /// The limit itself. A pattern counts nothing by itself.
    pub own: LimitUse,
    /// What a pattern counts of each name, those first that used most.
    pub each: Vec<LimitUse>,
    /// How many names it counts, shown or not.
    pub count: usize,
    /// How many of them have nothing left.
    pub full: usize,
}

/// A limit that has no room for a use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExceededLimit {
    /// The limit, with what its window counts.
    pub state: LimitState,
    /// What the use would have taken of it.
    pub requested: i64,
    /// What is logged of its first refusal in the window; `None` of later ones.
    pub(crate) first: Option<(Box<Counted>, ProductId)>,
}

impl LimitState {
    /// How much more may be used.
    pub const fn remaining(&self) -> i64 {
        self.limit.remaining(self.used, self.held)
    }
}

impl Limit {
    /// How much more may be used where so much is used and held.
    pub(crate) const fn remaining(&self, used: i64, held: i64) -> i64 {
        let left = self.amount.saturating_sub(used.saturating_add(held));
        if left < 0 { 0 } else { left }
    }

    /// Checks a list of limits that are set together.
    /// # Errors
    /// [`Refusal::Invalid`] with the path of the first that is out of bounds, or counts the same as an earlier one.
    pub fn checked(mut limits: Vec<Self>) -> Result<Vec<Self>, Refusal> {
        if limits.len() > MAX_LIMITS {
            let message = format!("There are at most {MAX_LIMITS} limits.");
            return Err(Refusal::invalid("limits", message));
        }
        for at in 0..limits.len() {
            let (earlier, rest) = limits.split_at_mut(at);
            let Some(limit) = rest.first_mut() else { break };
            let invalid = |field: &str, message: String| {
                Err(Refusal::invalid(format!("limits[{at}]{field}"), message))
            };
            if !(0..=MAX_CREDITS).contains(&limit.amount) {
                return invalid(
                    ".amount",
                    "amount is a whole number from 0 to 2^53 - 1.".into(),
                );
            }
            let are_percentages = limit.alerts_at.iter().all(|it| (1..=100).contains(it));
            if limit.alerts_at.len() > MAX_ALERTS || !are_percentages {
                let message = format!("alertsAt has up to {MAX_ALERTS} percentages from 1 to 100.");
                return invalid(".alertsAt", message);
            }
            limit.alerts_at.sort_unstable();
            limit.alerts_at.dedup();
            if let Some(other) = earlier.iter().position(|other| other.is_like(limit)) {
                return invalid("", format!("It counts the same as limits[{other}]."));
            }
        }
        Ok(limits)
    }

    /// Whether another limit counts the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.scope == other.scope && self.counts_like(other)
    }

    /// Whether another limit counts the same of scopes of this kind.
    pub(crate) fn counts_like(&self, other: &Self) -> bool {
        let what = |it: &Self| (it.scope.kind, it.window, it.unit, it.product);
        what(self) == what(other)
    }
}
