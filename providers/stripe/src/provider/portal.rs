//! Opening Stripe's customer portal, under a configuration that lists what can be switched between.

use port::PortalRequest;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{Stripe, key};
use crate::{
    Error,
    id::ConfigurationId,
    portal::{MAX_PRODUCTS, NewConfiguration, NewPortalSession, PortalProduct},
};

impl Stripe {
    pub(super) async fn portal(&self, request: &PortalRequest<'_>) -> Result<String, port::Error> {
        let mut session = NewPortalSession {
            customer: request.customer.clone(),
            configuration: self.configuration(request).await?,
            return_url: request.return_url.map(ToOwned::to_owned),
        };
        match self.visit(&session).await {
            Err(Error::Refused(refusal)) if refusal.is_missing() => {
                let param = refusal.param.as_deref().unwrap_or_default();
                if param == "customer" {
                    return Err((*refusal).into());
                }
            }
            visited => return Ok(visited?),
        }
        // The configuration is gone, or something that it lists.
        self.shared.memory.forget_all(self.project).await?;
        for (_, price) in &request.offered {
            self.forget_tier(price);
        }
        session.configuration = self.configuration(request).await?;
        Ok(self.visit(&session).await?)
    }

    /// Each visit is one of its own.
    async fn visit(&self, session: &NewPortalSession) -> Result<String, Error> {
        let name = format!("portal/{}", Uuid::new_v4().simple());
        let key = crate::OperationKey::new(&name);
        let key = key.ok_or_else(|| Error::Garbage("an operation without a name".into()))?;
        Ok(self.client.create_portal_session(session, &key).await?.url)
    }

    /// Named by what it says: another offer is another configuration, the same one is made once.
    async fn configuration(
        &self,
        request: &PortalRequest<'_>,
    ) -> Result<ConfigurationId, port::Error> {
        let mut products = Vec::new();
        for (product, price) in request.offered.iter().take(MAX_PRODUCTS) {
            let stored = self.tier(product, price).await?;
            products.push(PortalProduct {
                product: stored.product,
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
