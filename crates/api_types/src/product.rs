//! A product: as its project's keys read it, and as an administrator does.

use crate::{Limit, admin, price::AdminPrice, price::Price};

records! {
    /// A product with its active prices.
    pub struct Product {
        /// The product's identifier: `prod_…`
        pub id: String,
        /// The product's name.
        pub name: String,
        /// A sentence about it.
        pub description: Option<String>,
        /// `credits`, `subscription` or `one_time`
        #[serde(rename = "type")]
        #[cfg_attr(feature = "server", schema(example = "credits"))]
        pub kind: String,
        /// What its credits are called; null when it holds none.
        pub credit_unit: Option<String>,
        /// Credits that every wallet gets each period; null when there are none.
        pub free_grant: Option<FreeGrant>,
        /// Its active prices.
        pub prices: Vec<Price>,
    }

    /// Credits that are granted for free.
    pub struct FreeGrant {
        /// Credits of each grant.
        pub credits: i64,
        /// `once`, `daily`, `weekly`, `monthly` or `yearly`
        #[cfg_attr(feature = "server", schema(example = "monthly"))]
        pub period: String,
    }

    /// A product with all of its prices.
    #[cfg_attr(feature = "server", schema(as = Product))]
    pub struct AdminProduct {
        /// The product's identifier.
        #[cfg_attr(feature = "server", schema(example = "prod_01jd3v8q6pf6r9x3v1m2k4c5d7"))]
        pub id: String,
        /// The product's name.
        pub name: String,
        /// A sentence about it.
        pub description: Option<String>,
        /// What the product is.
        #[serde(rename = "type")]
        #[cfg_attr(feature = "server", schema(value_type = admin::ProductType))]
        pub kind: String,
        /// What its credits are called; null: it holds none.
        pub credit_unit: Option<String>,
        /// Credits that every wallet gets for free; null: none.
        pub free_grant: Option<admin::FreeGrant>,
        /// A balance that falls to this many credits or fewer is reported as low; null: none is.
        pub low_balance: Option<i64>,
        /// The most credits that one external wallet may owe, unless it has a limit of its own.
        pub debt_limit: i64,
        /// How much may be used of every wallet; of its own credits where a limit names no product.
        #[serde(default)]
        pub limits: Vec<Limit>,
        /// Whether it is offered.
        pub active: bool,
        /// When it was made.
        pub created_at: String,
        /// All of its prices, oldest first, inactive ones too.
        pub prices: Vec<AdminPrice>,
    }
}
