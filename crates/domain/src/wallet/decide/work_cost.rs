//! What a request says that work costs, as decisions ask for it.

use super::ProductRef;
use crate::{
    Rejection,
    id::ProductId,
    rate_card::{Cost, MeteredUse, RatedUse, Rating, Unrated, WorkCost},
    wallet::state::Wallet,
};

impl<A> WorkCost<A> {
    /// The product whose credits it takes.
    /// # Errors
    /// [`Rejection::Unrated`], [`Rejection::ProductRequired`].
    pub(crate) fn product(&self, named: ProductRef) -> Result<ProductId, Rejection> {
        if let Self::Metered(used) = self {
            used.rating()?;
        }
        named.resolve()
    }
}

impl MeteredUse {
    /// The rating.
    /// # Errors
    /// [`Rejection::Unrated`].
    fn rating(&self) -> Result<Rating, Rejection> {
        self.rating.clone().map_err(Rejection::Unrated)
    }

    /// The rating, for credits of this product.
    /// # Errors
    /// [`Rejection::Unrated`].
    pub(super) fn rating_in(&self, product: ProductId) -> Result<Rating, Rejection> {
        let rating = self.rating()?;
        match rating.product == product {
            true => Ok(rating),
            false => Err(Rejection::Unrated(Unrated::OtherProduct)),
        }
    }
}

impl Wallet {
    /// The whole credits that a use takes of a product, after what was used `before` and with what is carried.
    pub(super) fn charge_for(
        &self,
        used: MeteredUse,
        product: ProductId,
        cost: impl FnOnce(&Rating) -> Cost,
        before: Cost,
    ) -> Result<(i64, Option<Box<RatedUse>>), Rejection> {
        let rating = used.rating_in(product)?;
        let cost = cost(&rating);
        let (credits, left) = self.carried(product).charge(cost, before);
        Ok((credits, Some(used.at(rating.version, cost, left))))
    }
}
