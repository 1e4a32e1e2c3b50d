//! Rate cards and what they say things cost.

use std::collections::BTreeMap;

use crate::Instant;

records! {
    /// A version of a rate card: what things cost in credits.
    pub struct RateCard {
        /// The card's name.
        pub slug: String,
        /// The product whose credits these are.
        pub product_id: String,
        /// The version's number, from 1.
        pub version: u32,
        /// What things cost by it.
        pub rates: Vec<Rate>,
        /// When it begins to count.
        pub effective_from: Instant,
        /// When it was made.
        pub created_at: Instant,
    }

    /// What units cost for things with some attributes. Of those that match, the one that names most attributes
    /// counts; then the one with most exact ones; then the one whose texts are longest together.
    pub struct Rate {
        /// The attributes that it is for, at most 8, each exact or with a `*` at its end; `{}` is for all things.
        #[serde(rename = "match")]
        #[cfg_attr(feature = "server", schema(example = json!({"model": "claude-sonnet-4*"})))]
        pub pattern: BTreeMap<String, String>,
        /// Credits of `per` units: decimal numbers with at most nine digits after the point, for 1 to 32 units.
        #[serde(default)]
        #[cfg_attr(feature = "server", schema(example = json!({"input": "3", "cachedInput": "0.3", "output": "15"})))]
        pub unit_prices: BTreeMap<String, String>,
        /// A power of ten up to 10^9; 1 when left out.
        #[serde(default = "one")]
        #[cfg_attr(feature = "server", schema(minimum = 1, example = 1000))]
        pub per: u64,
        /// Prices for all that was used where the quantity of a unit passes a bound: the greatest that applies.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub above: Vec<PriceTier>,
        /// The least credits of a deduction or a whole settlement.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub minimum: Option<String>,
        /// Whether it costs nothing, which only this says.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub free: bool,
    }

    /// Prices of a rate above a quantity of one unit.
    pub struct PriceTier {
        /// The unit; `input` counts cached and written input as well.
        pub unit: String,
        /// The quantity that has to be passed.
        pub from: u64,
        /// Credits of `per` units. A unit that they leave out keeps its price.
        pub unit_prices: BTreeMap<String, String>,
    }

    /// A project's rate cards.
    pub struct RateCards {
        /// In the order of their names.
        pub rate_cards: Vec<RateCard>,
    }

    /// What a use would cost. Nothing is charged.
    pub struct Estimate {
        /// In whole credits, rounded up.
        pub amount: i64,
        /// Exactly, as a decimal number of credits.
        pub cost: String,
        /// The version of the card.
        pub rate_version: u32,
        /// What each unit contributes.
        pub lines: Vec<EstimateLine>,
        /// Credits of the wallet that can be spent now, if one is named.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub balance: Option<i64>,
        /// Whether they cover the amount.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub affordable: Option<bool>,
    }

    /// What one unit contributes to a cost.
    pub struct EstimateLine {
        /// The unit's name.
        pub unit: String,
        /// How much of it.
        pub quantity: u64,
        /// Credits of `per` units.
        pub unit_price: String,
        /// What the price is for.
        pub per: u64,
        /// Exactly, as a decimal number of credits.
        pub cost: String,
    }
}

const fn one() -> u64 {
    1
}
