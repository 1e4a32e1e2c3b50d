//! Opening Stripe's customer portal, under a configuration that lists what can be switched between.

use port::PortalRequest;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{Stripe, checkout::Refused, key};
use crate::{
    Refusal,
    id::ConfigurationId,
    portal::{MAX_PRODUCTS, NewConfiguration, NewPortalSession, PortalProduct},
};

/// Whether a refusal is about what is offered, and not about who visits.
fn is_about_the_offer(refusal: &Refusal) -> bool {
    let param = refusal.param.as_deref().unwrap_or_default();
    let listed = param.contains("products") || param.contains("prices");
    listed || refusal.is_missing() && param != "customer"
}

impl Stripe {
    pub(super) async fn portal(&self, request: &PortalRequest<'_>) -> Result<String, port::Error> {
        match self.visit(request).await {
            Err(Refused::ByStripe(refusal)) if is_about_the_offer(&refusal) => {
                tracing::warn!(error = %refusal, "What the portal offers is not all there any more; looking for it anew");
            }
            visited => return Ok(visited?),
        }
        // The configuration is gone, or something that it lists: archived or deleted.
        self.shared.memory.forget_all(self.project).await?;
        for (_, price) in &request.offered {
            self.forget_tier(price);
        }
        Ok(self.visit(request).await?)
    }

    async fn visit(&self, request: &PortalRequest<'_>) -> Result<String, Refused> {
        let session = NewPortalSession {
            customer: request.customer.clone(),
            configuration: self.configuration(request).await?,
            return_url: request.return_url.map(ToOwned::to_owned),
        };
        // Each visit is one of its own.
        let key = key(&format!("portal/{}", Uuid::new_v4().simple()))?;
        let visit = self.client.create_portal_session(&session, &key);
        Ok(visit.await?.url)
    }

    /// Named by what it says: another offer is another configuration, the same one is made once.
    async fn configuration(&self, request: &PortalRequest<'_>) -> Result<ConfigurationId, Refused> {
        let mut products = Vec::new();
        for (product, price) in request.offered.iter().take(MAX_PRODUCTS) {
            let stored = self.tier(product, price).await?;
            products.push(PortalProduct {
                product: stored.product.id().clone(),
                prices: vec![stored.id],
            });
        }
        let configuration = NewConfiguration { products };
        let mut offer = [0; 16];
        let hash = Sha256::digest(configuration.form().encode());
        offer.copy_from_slice(hash.split_at(16).0);
        let memory = &self.shared.memory;
        let known = memory.made(self.project, offer);
        if let Some(known) = known.and_then(ConfigurationId::new) {
            return Ok(known);
        }
        let name = Uuid::new_v4().simple();
        let key = key(&format!("portal/{}/{name}", self.project))?;
        let made = self.client.create_configuration(&configuration, &key);
        let made = made.await?.id;
        memory
            .remember(self.project, offer, made.as_str().to_owned())
            .await?;
        Ok(made)
    }
}
