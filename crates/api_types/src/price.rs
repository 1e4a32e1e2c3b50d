//! A price: as its project's keys read it, and as an administrator does.

use crate::Limit;

records! {
    /// A price of a product; of a subscription, a tier.
    pub struct Price {
        /// The price's identifier: `price_…`
        pub id: String,
        /// The tier's name, for a subscription.
        pub label: Option<String>,
        /// In the currency's minor unit.
        pub amount_cents: i64,
        /// ISO 4217, upper case.
        pub currency: String,
        /// Credits that it grants; for a subscription tier, each cycle.
        pub credits_granted: i64,
        /// Features that it unlocks.
        pub features: Vec<String>,
        /// `one_time`, `month` or `year`
        #[cfg_attr(feature = "server", schema(example = "one_time"))]
        pub interval: String,
        /// The product whose balance it fills, where that is not its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub credits_product_id: Option<String>,
        /// Days until the credits expire; left out: never.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub credits_expire_after_days: Option<u32>,
        /// Whether a cycle's unused credits stay.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub rollover: bool,
        /// Days for which a subscription is free at first; left out: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trial_days: Option<u32>,
        /// Credits for those days; left out without them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trial_credits: Option<i64>,
        /// Whether a wallet that has bought what it unlocks may buy it again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub repeatable: bool,
    }

    /// A price of a product; of a subscription, a tier.
    #[cfg_attr(feature = "server", schema(as = Price))]
    pub struct AdminPrice {
        /// The price's identifier.
        #[cfg_attr(feature = "server", schema(example = "price_01jd3v8q6pf6r9x3v1m2k4c5d7"))]
        pub id: String,
        /// The product's identifier.
        pub product_id: String,
        /// The tier's name.
        pub label: Option<String>,
        /// In the currency's minor unit.
        pub amount_cents: i64,
        /// ISO 4217, upper case.
        pub currency: String,
        /// Credits that it grants; for a subscription in each cycle.
        pub credits_granted: i64,
        /// The product whose balance it fills; null: its own.
        pub credits_product_id: Option<String>,
        /// Days until the credits expire; null: never.
        pub credits_expire_after_days: Option<u32>,
        /// Whether a cycle's unused credits stay.
        pub rollover: bool,
        /// Features that it unlocks, sorted.
        pub features: Vec<String>,
        /// How often it is charged.
        #[cfg_attr(feature = "server", schema(value_type = crate::admin::Interval))]
        pub interval: String,
        /// Days for which a subscription is free at first; null: none.
        pub trial_days: Option<u32>,
        /// Credits for those days.
        pub trial_credits: i64,
        /// Whether a wallet that has bought what it unlocks may buy it again.
        pub repeatable: bool,
        /// How much may be used of a wallet while its subscription is active; of the credits that it fills where a limit
        /// names no product.
        #[serde(default)]
        pub limits: Vec<Limit>,
        /// Whether it is offered.
        pub active: bool,
        /// When it was made.
        pub created_at: String,
    }
}
