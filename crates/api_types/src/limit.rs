//! Limits of what may be used of a wallet.

use crate::Instant;

records! {
    /// How much may be used of a wallet, by whom, for what, in which time.
    pub struct Limit {
        /// Whose use counts together, or for what: `wallet`, `member:alice`, `member:*` (each), `feature:image`,
        /// `feature:*`, `key:key_…`, `key:*`.
        #[cfg_attr(feature = "server", schema(example = "member:*"))]
        pub scope: String,
        /// The most that may be used in a window.
        pub amount: i64,
        /// In which time.
        #[cfg_attr(feature = "server", schema(example = "month"))]
        pub window: String,
        /// What is counted: `credits` or `operations`.
        #[serde(default = "credits")]
        #[cfg_attr(feature = "server", schema(example = "credits"))]
        pub unit: String,
        /// Where its calendar is.
        #[serde(default = "utc")]
        #[cfg_attr(feature = "server", schema(example = "UTC"))]
        pub time_zone: String,
        /// The product whose credits count; of all where it is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub product_id: Option<String>,
        /// At which percentages of the amount to alert.
        #[serde(default)]
        pub alerts_at: Vec<u8>,
    }

    /// A limit with what its window counts so far.
    pub struct LimitState {
        /// What it allows, and whom.
        #[serde(flatten)]
        pub limit: Limit,
        /// Where it comes from: `wallet`, `subscription` or `product`.
        pub source: String,
        /// What was used in the window. A pattern by itself has none.
        pub used: i64,
        /// What open holds set aside.
        pub held: i64,
        /// How much more may be used.
        pub remaining: i64,
        /// When the window began; null for `lifetime`.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub window_start: Option<Instant>,
        /// When the next one begins; null for `lifetime`.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub resets_at: Option<Instant>,
    }

    /// A wallet's limits.
    pub struct Limits {
        /// Those in force: its own, those of its subscriptions, those of products.
        pub limits: Vec<LimitState>,
    }
}

fn credits() -> String {
    "credits".into()
}

fn utc() -> String {
    "UTC".into()
}
