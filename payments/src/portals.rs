//! The provider's portal, where customers see bills, change cards, switch tiers and cancel.

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    Rejection,
    catalog::{Interval, Price, Product},
};
use port::PortalRequest;

use super::{Error, Ground};

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Portals(Ground);

impl Portals {
    pub(crate) const fn new(ground: Ground) -> Self {
        Self(ground)
    }

    /// The address of a portal for a wallet's owner.
    ///
    /// # Errors
    ///
    /// [`Rejection::NoPurchase`] where the provider knows no such customer; else see [`Error`].
    pub async fn open(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        return_url: Option<String>,
    ) -> Result<String, Error> {
        let handle = &self.0.handle;
        let customer = handle.customer(&project.scope, address).await?;
        let view = handle.read(&project.scope, address).await?;
        let mut products: Vec<_> = view.subscriptions.iter().map(|s| s.product).collect();
        products.dedup();
        let offered: Vec<(&Product, &Price)> = products
            .iter()
            .filter_map(|id| project.product(id).filter(|product| product.active))
            .flat_map(|product| {
                let prices = project.active_prices(&product.id);
                prices.map(move |price| (product, price))
            })
            .filter(|(_, price)| price.interval != Interval::OneTime)
            .collect();
        let request = PortalRequest {
            project: project.project.id,
            customer,
            offered,
            return_url: return_url.as_deref(),
        };
        match self.0.providers.of(project)?.open_portal(&request).await {
            // Of a provider that the project had before.
            Err(port::Error::Missing(_)) => Err(Error::Wallet(Rejection::NoPurchase.into())),
            opened => Ok(opened?),
        }
    }
}
