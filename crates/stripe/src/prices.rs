//! Prices of Stripe's catalog, which bill subscriptions. One is created for each of our recurring prices; neither can
//! be changed afterwards.
//!
//! Each has its own product, because the customer portal offers the tiers of one subscription as several products, and
//! takes two prices of one product only if their intervals differ.

use domain::{
    catalog::{Interval, Price, Product},
    id::PriceId,
};
use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{StripePriceId, StripeProductId},
    metadata::{self, Metadata},
    object::{Expandable, object},
};

/// The form that creates Stripe's price for one of ours, with its lookup key, and the name that the buyer sees.
pub fn form(product: &Product, price: &Price) -> Form {
    let name = match &price.label {
        Some(label) if *label != product.name => format!("{} {label}", product.name),
        _ => product.name.clone(),
    };
    let ours = price.id;
    Form::new()
        .with("currency", price.currency.to_ascii_lowercase())
        // In the minor unit as Stripe counts it, which is ours.
        .with("unit_amount", price.amount_cents)
        .with("recurring[interval]", cycle(price))
        .with("lookup_key", ours)
        // Takes the key from an archived price.
        .with("transfer_lookup_key", true)
        .with(format!("metadata[{}]", metadata::PRICE), ours)
        .with("product_data[name]", name)
        .with(format!("product_data[metadata][{}]", metadata::PRICE), ours)
}

/// How often a price of ours is charged, as Stripe's interval.
const fn cycle(price: &Price) -> &'static str {
    match price.interval {
        Interval::Year => "year",
        Interval::Month | Interval::OneTime => "month",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredPrice {
    pub id: StripePriceId,
    pub product: Expandable<StripeProductId>,
    #[serde(default)]
    pub currency: String,
    pub unit_amount: Option<i64>,
    /// How often it is charged; `None` for once.
    pub recurring: Option<Recurring>,
    #[serde(default)]
    pub metadata: Metadata,
}

object!(StripePriceId => StoredPrice, "prices", []);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredProduct {
    id: StripeProductId,
    active: bool,
}

object!(StripeProductId => StoredProduct, "products", []);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Recurring {
    interval: String,
    #[serde(default = "one")]
    interval_count: i64,
}

const fn one() -> i64 {
    1
}

impl StoredPrice {
    /// How often it is charged; `None` unless monthly or yearly.
    pub(super) fn interval(&self) -> Option<Interval> {
        let recurring = self.recurring.as_ref();
        let each = recurring.filter(|recurring| recurring.interval_count == 1)?;
        match each.interval.as_str() {
            "month" => Some(Interval::Month),
            "year" => Some(Interval::Year),
            _ => None,
        }
    }

    /// Whether its cycles are counted in years.
    pub(super) fn is_yearly(&self) -> bool {
        let recurring = self.recurring.as_ref();
        recurring.is_some_and(|recurring| recurring.interval == "year")
    }

    /// Whether it can be sold and charges what ours does: a lookup key may be moved to another price, and a price stays
    /// active when its product is archived.
    fn sells(&self, ours: &Price) -> bool {
        self.product.object().is_none_or(|product| product.active)
            && self.unit_amount == Some(ours.amount_cents)
            && self.currency.eq_ignore_ascii_case(&ours.currency)
            && self.interval() == Some(ours.interval)
    }
}

impl Client {
    /// Stripe's price for one of ours, if one can be sold and charges the same.
    /// # Errors
    /// See [`Error`].
    pub async fn find_price(&self, price: &Price) -> Result<Option<StoredPrice>, Error> {
        let query = find_form(price.id);
        let prices = self.list::<StripePriceId>(&query, &[]).await?;
        let stored = prices.data.into_iter().next();
        Ok(stored.filter(|stored| stored.sells(price)))
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

    fn pro(interval: Interval) -> Price {
        Price {
            id: PriceId(3),
            amount_cents: 1900,
            interval,
            ..crate::tests::price()
        }
    }

    #[test]
    fn a_price_is_made_with_its_product() {
        let product = crate::tests::product("Pro");
        assert_eq!(
            lines(&form(&product, &pro(Interval::Month))),
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
        let yearly = lines(&form(&product, &pro(Interval::Year)));
        assert!(yearly.contains(&"recurring[interval]=year".into()));
        for (label, name) in [("Team", "Pro Team"), ("Pro", "Pro")] {
            let price = Price {
                label: Some(label.into()),
                ..pro(Interval::Month)
            };
            let name = format!("product_data[name]={name}");
            assert!(lines(&form(&product, &price)).contains(&name), "{label}");
        }
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

    /// The key may have been moved to another price.
    #[test]
    fn a_price_that_charges_otherwise_is_none_of_ours() {
        let meant = pro(Interval::Month);
        let stored = |currency: &str, cents: i64, cycle: &str, count: i64| {
            let price = format!(
                r#"{{"id":"price_x","product":"prod_x","active":true,"currency":"{currency}",
                "unit_amount":{cents},"recurring":{{"interval":"{cycle}","interval_count":{count}}},
                "metadata":{{"scrip_price_id":"{PRICE}"}}}}"#
            );
            serde_json::from_str::<StoredPrice>(&price).unwrap()
        };
        let same = stored("eur", 1900, "month", 1);
        assert_eq!(same.metadata.price, Some(PriceId(3)));
        assert!(same.sells(&meant));
        let archived = serde_json::from_str(r#"{"id":"prod_x","active":false}"#).unwrap();
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
