//! Credits: whole numbers that JSON carries exactly.
#![warn(clippy::arithmetic_side_effects)]

use serde::{Deserialize, Serialize};

/// The largest balance and the largest amount: 2^53 - 1, the last integer every JSON reader keeps.
pub const MAX_CREDITS: i64 = (1 << 53) - 1;

/// A positive number of credits, 1 to [`MAX_CREDITS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Amount(i64);

impl Amount {
    /// `None` for zero, negative numbers and numbers above [`MAX_CREDITS`].
    pub const fn new(credits: i64) -> Option<Self> {
        if credits >= 1 && credits <= MAX_CREDITS {
            Some(Self(credits))
        } else {
            None
        }
    }

    /// The number of credits.
    pub const fn get(self) -> i64 {
        self.0
    }
}

/// How many units of a price are bought at once, 1 to 1,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Quantity(u32);

impl Quantity {
    /// The usual quantity.
    pub const ONE: Self = Self(1);
    /// The largest quantity.
    pub const MAX: u32 = 1000;

    /// `None` for zero and numbers above [`Quantity::MAX`].
    pub const fn new(quantity: u32) -> Option<Self> {
        if quantity >= 1 && quantity <= Self::MAX {
            Some(Self(quantity))
        } else {
            None
        }
    }

    /// The quantity as a number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// `one` times the quantity, saturating.
    pub const fn of(self, one: i64) -> i64 {
        one.saturating_mul(self.0 as i64)
    }
}

impl Default for Quantity {
    fn default() -> Self {
        Self::ONE
    }
}

impl From<Amount> for i64 {
    fn from(amount: Amount) -> Self {
        amount.0
    }
}

impl TryFrom<i64> for Amount {
    type Error = &'static str;

    fn try_from(credits: i64) -> Result<Self, Self::Error> {
        Self::new(credits).ok_or("an amount is not a positive number of credits")
    }
}

impl From<Quantity> for u32 {
    fn from(quantity: Quantity) -> Self {
        quantity.0
    }
}

impl TryFrom<u32> for Quantity {
    type Error = &'static str;

    fn try_from(quantity: u32) -> Result<Self, Self::Error> {
        Self::new(quantity).ok_or("a quantity is not 1 to 1,000")
    }
}
