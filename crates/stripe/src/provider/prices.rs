//! Recurring prices in Stripe's catalog, created when first bought, and found by our id as lookup key.

use domain::catalog::{Price, Product};

use super::Stripe;
use crate::{
    Error, key,
    prices::{self, StoredPrice},
};

impl Stripe {
    pub(super) async fn tier(
        &self,
        product: &Product,
        price: &Price,
    ) -> Result<StoredPrice, Error> {
        let ours = (price.project, price.id);
        if let Some(cached) = self.shared.prices.get(&ours) {
            return Ok(cached.clone());
        }
        let _turn = self.shared.making.lock().await;
        if let Some(cached) = self.shared.prices.get(&ours) {
            return Ok(cached.clone());
        }
        match self.client.find_price(price).await? {
            Some(stored) => Ok(self.cache_price(price, stored)),
            None => self.make_tier(product, price).await,
        }
    }

    /// A new Stripe price in place of one that was archived or deleted, or whose product was.
    pub(super) async fn recreate_price(
        &self,
        product: &Product,
        price: &Price,
    ) -> Result<StoredPrice, Error> {
        let _turn = self.shared.making.lock().await;
        self.make_tier(product, price).await
    }

    /// Always with a unique idempotency key: under an old one Stripe would replay its answer for a day, even a failure,
    /// or after the price was archived.
    async fn make_tier(&self, product: &Product, price: &Price) -> Result<StoredPrice, Error> {
        let key = key::unique(format_args!("price/{}", price.id))?;
        let form = prices::form(product, price);
        let stored = self.client.post(&["prices"], &form, &key).await?;
        Ok(self.cache_price(price, stored))
    }

    fn cache_price(&self, price: &Price, stored: StoredPrice) -> StoredPrice {
        let ours = (price.project, price.id);
        self.shared.prices.insert(ours, stored.clone());
        let theirs = (self.project, stored.id.clone());
        self.shared.ours.insert(theirs, Some(price.id));
        stored
    }

    pub(super) fn uncache_price(&self, price: &Price) {
        self.shared.prices.remove(&(price.project, price.id));
    }
}
