//! Opening Stripe's customer portal, under a configuration that lists what can be switched between.

use port::PortalRequest;
use sha2::{Digest as _, Sha256};

use super::Stripe;
use crate::{
    Error, Form, Refusal,
    id::ConfigurationId,
    key,
    portal::{self, Configuration, MAX_PRODUCTS, PortalSession},
};

/// Whether a refusal is about what is offered, and not about who visits.
fn is_about_the_offer(refusal: &Refusal) -> bool {
    let param = refusal.param.as_deref().unwrap_or_default();
    let listed = param.contains("products") || param.contains("prices");
    listed || refusal.is_missing() && param != "customer"
}

impl Stripe {
    pub(super) async fn portal(&self, request: &PortalRequest<'_>) -> Result<String, Error> {
        match self.visit(request).await {
            Err(Error::Refused(refusal)) if is_about_the_offer(&refusal) => {
                tracing::warn!(error = %refusal, "What the portal offers is not all there any more; looking for it anew");
            }
            visited => return visited,
        }
        // The configuration is gone, or something that it lists: archived or deleted.
        self.shared.memory.forget_all(self.project).await?;
        for (_, price) in &request.offered {
            self.forget_tier(price);
        }
        self.visit(request).await
    }

    async fn visit(&self, request: &PortalRequest<'_>) -> Result<String, Error> {
        let configuration = self.configuration(request).await?;
        let form = Form::new()
            .with("customer", &request.customer)
            .with("configuration", configuration)
            .with_some("return_url", request.return_url);
        // Each visit is one of its own.
        let key = key::anew("portal")?;
        let path = ["billing_portal", "sessions"];
        let visit: PortalSession = self.client.post(&path, &form, &key).await?;
        Ok(visit.url)
    }

    /// Named by what it says: another offer is another configuration, the same one is made once.
    async fn configuration(&self, request: &PortalRequest<'_>) -> Result<ConfigurationId, Error> {
        let mut tiers = Vec::new();
        for (product, price) in request.offered.iter().take(MAX_PRODUCTS) {
            tiers.push(self.tier(product, price).await?);
        }
        let form = portal::configuration(&tiers);
        let mut offer = [0; 16];
        let hash = Sha256::digest(form.encode());
        offer.copy_from_slice(hash.split_at(16).0);
        let memory = &self.shared.memory;
        let known = memory.made(self.project, offer);
        if let Some(known) = known.and_then(ConfigurationId::new) {
            return Ok(known);
        }
        let key = key::anew(format_args!("portal/{}", self.project))?;
        let path = ["billing_portal", "configurations"];
        let made: Configuration = self.client.post(&path, &form, &key).await?;
        let made = made.id;
        memory
            .remember(self.project, offer, made.as_str().to_owned())
            .await?;
        Ok(made)
    }
}
