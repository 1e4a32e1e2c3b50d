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
    key::OperationKey,
    metadata::{self, Metadata},
    read::Page,
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

/// How often a subscription is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cycle {
    /// Each month.
    Month,
    /// Each year.
    Year,
}

impl NewPrice {
    /// What is sent.
    #[must_use]
    pub fn form(&self) -> Form {
        let cycle = match self.cycle {
            Cycle::Month => "month",
            Cycle::Year => "year",
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
    pub product: StripeProductId,
    /// Whether new subscriptions may use it.
    pub active: bool,
    /// Lower case.
    pub currency: String,
    /// In the minor unit.
    pub unit_amount: Option<i64>,
    /// What we wrote on it.
    #[serde(default)]
    pub metadata: Metadata,
}

impl Client {
    /// Makes a price and its product.
    ///
    /// # Errors
    ///
    /// See [`Error`]; refused where there is one for our price already.
    pub async fn create_price(
        &self,
        price: &NewPrice,
        key: &OperationKey,
    ) -> Result<StoredPrice, Error> {
        self.post(&["prices"], &price.form(), key).await
    }

    /// Reads a price.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn price(&self, id: &StripePriceId) -> Result<StoredPrice, Error> {
        self.get(&["prices", id.as_str()], &Form::new()).await
    }

    /// The price that was made for one of ours and may be used, if any.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn find_price(&self, price: PriceId) -> Result<Option<StoredPrice>, Error> {
        let Page { data } = self.get(&["prices"], &find_form(price)).await?;
        Ok(data.into_iter().next())
    }
}

fn find_form(price: PriceId) -> Form {
    Form::new()
        .with("lookup_keys[0]", price)
        .with("active", true)
        .with("limit", 1)
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
                "limit=1".into()
            ]
        );
        let page: Page<StoredPrice> = serde_json::from_str(&format!(
            r#"{{"object":"list","has_more":false,"data":[{{"id":"price_x","product":"prod_x",
            "active":true,"currency":"eur","unit_amount":1900,"lookup_key":"{PRICE}",
            "metadata":{{"scrip_price_id":"{PRICE}"}}}}]}}"#
        ))
        .unwrap();
        assert_eq!(page.data[0].metadata.price, Some(PriceId(3)));
    }
}
