//! Recurring prices in Stripe's catalog, made there the first time that they are bought. Each is found
//! by ours, which is written on it.

use domain::catalog::{Price, Product};

use super::Stripe;
use crate::{
    Error, key,
    prices::{self, StoredPrice},
};

impl Stripe {
    /// Stripe's price for one of ours that recurs.
    pub(super) async fn tier(
        &self,
        product: &Product,
        price: &Price,
    ) -> Result<StoredPrice, Error> {
        let ours = (price.project, price.id);
        if let Some(known) = self.shared.prices.get(&ours) {
            return Ok(known.clone());
        }
        let _turn = self.shared.making.lock().await;
        if let Some(known) = self.shared.prices.get(&ours) {
            return Ok(known.clone());
        }
        match self.client.find_price(price).await? {
            Some(found) => Ok(self.keep_tier(price, found)),
            None => self.make_tier(product, price).await,
        }
    }

    /// A new one in place of one that cannot be sold any more: somebody archived or deleted it, or its
    /// product.
    pub(super) async fn tier_anew(
        &self,
        product: &Product,
        price: &Price,
    ) -> Result<StoredPrice, Error> {
        let _turn = self.shared.making.lock().await;
        self.make_tier(product, price).await
    }

    /// Each time under a name of its own: Stripe repeats for a day what it answered under a name, also
    /// that a price is there which was archived since, also that it failed.
    async fn make_tier(&self, product: &Product, price: &Price) -> Result<StoredPrice, Error> {
        let key = key::anew(format_args!("price/{}", price.id))?;
        let form = prices::form(product, price);
        let made = self.client.post(&["prices"], &form, &key).await;
        Ok(self.keep_tier(price, made?))
    }

    fn keep_tier(&self, price: &Price, stored: StoredPrice) -> StoredPrice {
        let ours = (price.project, price.id);
        self.shared.prices.insert(ours, stored.clone());
        let theirs = (self.project, stored.id.clone());
        self.shared.ours.insert(theirs, Some(price.id));
        stored
    }

    /// Forgets what was remembered of a price.
    pub(super) fn forget_tier(&self, price: &Price) {
        self.shared.prices.remove(&(price.project, price.id));
    }
}
