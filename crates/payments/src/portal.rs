//! The provider's portal, where customers see invoices, change cards, switch tiers and cancel.

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    Rejection,
    catalog::{Price, Product},
    id::{PriceId, PublicSubscriptionId},
};
use payments_port::PortalRequest;

use super::{Error, Payments};

impl Payments {
    /// Opens a portal page for a wallet's owner, that of this subscription's customer or of the current one's; its URL.
    /// # Errors
    /// [`Rejection::SubscriptionNotFound`]; [`Rejection::NoPurchase`] when the provider has no such customer; else see [`Error`].
    pub async fn open_portal(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        of: Option<PublicSubscriptionId>,
        return_url: Option<String>,
    ) -> Result<String, Error> {
        let handle = &self.0.context.handle;
        let customer = handle.customer(&project.scope, address, of).await?;
        let view = handle.read(&project.scope, address).await?;
        let held = view.subscriptions.iter().map(|s| s.price);
        let offered = offered(project, held);
        let request = PortalRequest {
            project: project.project.id,
            customer,
            offered,
            return_url: return_url.as_deref(),
        };
        match self
            .0
            .context
            .providers
            .of(project)?
            .open_portal(&request)
            .await
        {
            // A customer of the project's former provider.
            Err(payments_port::Error::Missing(_)) => {
                Err(Error::Wallet(Rejection::NoPurchase.into()))
            }
            opened => Ok(opened?),
        }
    }
}

/// The tiers that subscriptions may be switched to, nearest first, since providers limit their number. Several products
/// alternate, so that none is left out.
fn offered(
    project: &ProjectCatalog,
    held: impl Iterator<Item = PriceId>,
) -> Vec<(&Product, &Price)> {
    let mut ladders: Vec<_> = held
        .filter_map(|held| ladder(project, project.any_price(&held)?))
        .collect();
    let mut offered: Vec<(&Product, &Price)> = Vec::new();
    while !ladders.is_empty() {
        ladders.retain_mut(|(product, prices)| match prices.pop() {
            Some(price) if offered.iter().all(|(_, other)| other.id != price.id) => {
                offered.push((product, price));
                true
            }
            other => other.is_some(),
        });
    }
    offered
}

/// The tiers that one tier can be switched to, the nearest by amount last.
fn ladder<'a>(
    project: &'a ProjectCatalog,
    held: &'a Price,
) -> Option<(&'a Product, Vec<&'a Price>)> {
    let product = project.product(&held.product)?;
    let prices = project.active_prices(&product.id);
    let mut prices: Vec<_> = prices.filter(|price| held.can_become(price)).collect();
    let far = |price: &Price| {
        let distance = price.amount_cents.abs_diff(held.amount_cents);
        (price.id != held.id, distance, price.id)
    };
    prices.sort_by_key(|price| std::cmp::Reverse(far(price)));
    product.active.then_some((product, prices))
}
