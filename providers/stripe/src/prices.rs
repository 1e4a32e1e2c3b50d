//! Prices of Stripe's catalog: what a subscription is billed by. One is made for each of our
//! recurring prices, once; it cannot be changed afterwards, and neither can ours.
//!
//! Each has a product of its own: the customer portal offers the tiers of one subscription as several
//! products, and is only sure to take two prices of one product if their intervals differ.

use domain::id::PriceId;
use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{StripePriceId, StripeProductId},
    metadata::{self, Metadata},
    object::{object, words},
};

/// A price to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPrice {
    /// Our price: the key to find it by, and what is written on it.
    pub price: PriceId,
    /// What the buyer sees on bills and in the portal.
    pub name: String,
    /// ISO 4217, in either case.
    pub currency: String,
    /// In the currency's minor unit as Stripe counts it; see
    /// [`Item::Once`](super::checkout_sessions::Item::Once).
    pub amount_cents: i64,
    /// How often.
    pub cycle: Cycle,
}

words! {
    /// How often a subscription is billed.
    Cycle {
        /// Each month.
        Month,
        /// Each year.
        Year,
    }
}

impl NewPrice {
    /// What is sent.
    #[must_use]
    pub fn form(&self) -> Form {
        let cycle = match self.cycle {
            Cycle::Year => "year",
            Cycle::Month | Cycle::Other => "month",
        };
        let price = self.price;
        Form::new()
            .with("currency", self.currency.to_ascii_lowercase())
            .with("unit_amount", self.amount_cents)
            .with("recurring[interval]", cycle)
            .with("lookup_key", price)
            // One that was archived there gives the key up.
            .with("transfer_lookup_key", true)
            .with(format!("metadata[{}]", metadata::PRICE), price)
            .with("product_data[name]", &self.name)
            .with(
                format!("product_data[metadata][{}]", metadata::PRICE),
                price,
            )
    }
}

/// A price, as far as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredPrice {
    /// Its identifier.
    pub id: StripePriceId,
    /// What it is a price of.
    pub product: ProductOfPrice,
    /// Lower case.
    pub currency: String,
    /// In the minor unit.
    pub unit_amount: Option<i64>,
    /// How often it is charged, of one that recurs.
    pub recurring: Option<Recurring>,
    /// What we wrote on it.
    #[serde(default)]
    pub metadata: Metadata,
}

object!(StripePriceId => StoredPrice, "prices", []);

/// What a price is of, by name or as it is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ProductOfPrice {
    /// Its name alone.
    Id(StripeProductId),
    /// As it is now.
    Object {
        /// Its identifier.
        id: StripeProductId,
        /// Whether it may be sold.
        active: bool,
    },
}

impl ProductOfPrice {
    /// Its identifier.
    #[must_use]
    pub const fn id(&self) -> &StripeProductId {
        match self {
            Self::Id(id) | Self::Object { id, .. } => id,
        }
    }
}

/// How often a price is charged.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Recurring {
    /// The unit.
    pub interval: Cycle,
    /// How many of them lie between two bills.
    #[serde(default = "one")]
    pub interval_count: i64,
}

const fn one() -> i64 {
    1
}

impl StoredPrice {
    /// Whether it can be sold and charges what was meant: a lookup key is free for all to move to another
    /// price, and a price stays active when its product is archived.
    #[must_use]
    pub fn sells(&self, meant: &NewPrice) -> bool {
        let each = |recurring: &Recurring| {
            recurring.interval == meant.cycle && recurring.interval_count == 1
        };
        let archived = matches!(self.product, ProductOfPrice::Object { active: false, .. });
        !archived
            && self.unit_amount == Some(meant.amount_cents)
            && self.currency.eq_ignore_ascii_case(&meant.currency)
            && self.recurring.as_ref().is_some_and(each)
    }
}

impl Client {
    /// The price that was made for one of ours, may be used and charges the same, if any.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn find_price(&self, price: &NewPrice) -> Result<Option<StoredPrice>, Error> {
        let query = find_form(price.price);
        let prices = self.list::<StoredPrice>(&["prices"], &query, &[]).await?;
        let found = prices.data.into_iter().next();
        Ok(found.filter(|found| found.sells(price)))
    }
}

fn find_form(price: PriceId) -> Form {
    Form::new()
        .with("lookup_keys[0]", price)
        .with("active", true)
        .with("limit", 1)
        .with("expand[0]", "data.product")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::lines;

    const PRICE: &str = "price_00000000000000000000000003";

    #[test]
    fn a_price_is_made_with_its_product() {
        let price = NewPrice {
            price: PriceId(3),
            name: "Pro".into(),
            currency: "EUR".into(),
            amount_cents: 1900,
            cycle: Cycle::Month,
        };
        assert_eq!(
            lines(&price.form()),
            [
                "currency=eur",
                "unit_amount=1900",
                "recurring[interval]=month",
                &format!("lookup_key={PRICE}"),
                "transfer_lookup_key=true",
                &format!("metadata[scrip_price_id]={PRICE}"),
                "product_data[name]=Pro",
                &format!("product_data[metadata][scrip_price_id]={PRICE}"),
            ]
        );
        let yearly = NewPrice {
            cycle: Cycle::Year,
            ..price
        };
        assert!(lines(&yearly.form()).contains(&"recurring[interval]=year".into()));
    }

    #[test]
    fn a_price_is_found_by_ours() {
        assert_eq!(
            lines(&find_form(PriceId(3))),
            [
                format!("lookup_keys[0]={PRICE}"),
                "active=true".into(),
                "limit=1".into(),
                "expand[0]=data.product".into()
            ]
        );
    }

    /// Somebody may have moved the key to another price, or changed nothing but what it costs there.
    #[test]
    fn a_price_that_charges_otherwise_is_none_of_ours() {
        let meant = NewPrice {
            price: PriceId(3),
            name: "Pro".into(),
            currency: "EUR".into(),
            amount_cents: 1900,
            cycle: Cycle::Month,
        };
        let stored = |currency: &str, cents: i64, cycle: &str, count: i64| {
            let price = format!(
                r#"{{"id":"price_x","product":"prod_x","active":true,"currency":"{currency}",
                "unit_amount":{cents},"recurring":{{"interval":"{cycle}","interval_count":{count}}},
                "metadata":{{"scrip_price_id":"{PRICE}"}}}}"#
            );
            serde_json::from_str::<StoredPrice>(&price).unwrap()
        };
        let same = stored("eur", 1900, "month", 1);
        assert_eq!(same.metadata.price(), Some(PriceId(3)));
        assert!(same.sells(&meant));
        let archived = ProductOfPrice::Object {
            id: StripeProductId::new("prod_x").unwrap(),
            active: false,
        };
        for other in [
            StoredPrice {
                product: archived,
                ..same.clone()
            },
            stored("usd", 1900, "month", 1),
            stored("eur", 19, "month", 1),
            stored("eur", 1900, "year", 1),
            stored("eur", 1900, "week", 1),
            stored("eur", 1900, "month", 3),
            StoredPrice {
                recurring: None,
                ..same
            },
        ] {
            assert!(!other.sells(&meant), "{other:?}");
        }
    }
}
