//! What the catalog limits for all wallets of a project.

use domain::{
    id::ProductId,
    limit::{Limit, ProjectLimits},
};

use crate::ProjectCatalog;

impl ProjectCatalog {
    /// The limits of products and prices, each about the credits of one product.
    pub(crate) fn limits(&self) -> ProjectLimits {
        let prices = self.products().flat_map(|product| self.prices(&product.id));
        let limited = prices.filter(|price| !price.limits.is_empty());
        ProjectLimits {
            products: self
                .products()
                .flat_map(|product| about(product.id, &product.limits))
                .collect(),
            prices: limited
                .map(|price| {
                    let fills = price.credits_product.unwrap_or(price.product);
                    (price.id, about(fills, &price.limits).collect())
                })
                .collect(),
        }
    }
}

/// Limits that are about a product where they name none.
fn about(product: ProductId, limits: &[Limit]) -> impl Iterator<Item = Limit> {
    limits.iter().cloned().map(move |limit| Limit {
        product: limit.product.or(Some(product)),
        ..limit
    })
}
