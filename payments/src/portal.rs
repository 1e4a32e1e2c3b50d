//! The provider's portal, where customers see bills, change cards, switch tiers and cancel.

use actors::Address;
use domain::{
    Rejection,
    catalog::{Price, Product},
};

use super::{Error, Payments};
use uuid::Uuid;

use crate::{
    catalog::ProjectCatalog,
    provider::stripe::{
        self, Client, OperationKey,
        id::CustomerId,
        portal::{NewPortalSession, PortalSession},
    },
};

impl Payments {
    /// The address of a portal for a wallet's owner.
    pub async fn portal(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        return_url: Option<String>,
    ) -> Result<String, Error> {
        let handle = &self.0.handle;
        let customer = handle.customer(&project.scope, address).await?;
        let view = handle.read(&project.scope, address).await?;
        let client = self.0.accounts.client(project)?;
        let no_purchase = || Error::Wallet(Rejection::NoPurchase.into());
        let customer = CustomerId::new(customer.as_str()).ok_or_else(no_purchase)?;
        let subscribed = view.subscriptions.iter().map(|s| s.product);
        let mut products: Vec<_> = subscribed.collect();
        products.dedup();
        let offered: Vec<(&Product, &Price)> = products
            .iter()
            .filter_map(|id| project.product(id).filter(|product| product.active))
            .flat_map(|product| {
                let prices = project.active_prices(&product.id);
                prices.map(move |price| (product, price))
            })
            .filter(|(_, price)| price.interval != domain::catalog::Interval::OneTime)
            .collect();
        let session = NewPortalSession {
            customer,
            configuration: self
                .portal_configuration(&client, project, &offered)
                .await?,
            return_url,
        };
        match visit(&client, &session).await {
            Err(stripe::Error::Refused(refusal)) if refusal.is_missing() => {
                let about = refusal.param.as_deref().unwrap_or_default();
                if about == "customer" {
                    // Of a provider that the project had before.
                    return Err(no_purchase());
                }
                self.portal_anew(&client, project, &offered, session).await
            }
            other => Ok(other?.url),
        }
    }

    async fn portal_anew(
        &self,
        client: &Client,
        project: &ProjectCatalog,
        offered: &[(&Product, &Price)],
        mut session: NewPortalSession,
    ) -> Result<String, Error> {
        self.forget_portals(project.project.id).await?;
        for (_, price) in offered {
            self.forget_tier(price);
        }
        session.configuration = self.portal_configuration(client, project, offered).await?;
        Ok(visit(client, &session).await?.url)
    }
}

/// Each visit is one of its own.
async fn visit(
    client: &Client,
    session: &NewPortalSession,
) -> Result<PortalSession, stripe::Error> {
    let name = format!("portal/{}", Uuid::now_v7().simple());
    match OperationKey::new(&name) {
        Some(key) => client.create_portal_session(session, &key).await,
        None => Err(stripe::Error::Garbage("an operation without a name".into())),
    }
}
