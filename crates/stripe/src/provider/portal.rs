//! Opens Stripe's customer portal, with a configuration that lists the prices to switch between.

use payments_port::PortalRequest;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::Stripe;
use crate::{Error, ErrorResponse, Form, id::ConfigurationId, key, prices::StoredPrice};

const MAX_PRODUCTS: usize = 10;

/// The form of a project's portal configuration. Subscriptions can be switched between these prices, at most
/// [`MAX_PRODUCTS`], each of its own product; without prices they cannot be switched.
fn configuration(tiers: &[StoredPrice]) -> Form {
    const UPDATE: &str = "features[subscription_update]";
    let mut form = Form::new()
        .with("features[invoice_history][enabled]", true)
        .with("features[payment_method_update][enabled]", true)
        .with("features[subscription_cancel][enabled]", true)
        .with("features[subscription_cancel][mode]", "at_period_end")
        .with(format!("{UPDATE}[enabled]"), !tiers.is_empty());
    if tiers.is_empty() {
        return form;
    }
    // Upgrades apply and are paid at once, as their credits come at once. Downgrades and shorter cycles apply at the
    // end of the paid cycle: granted credits are not taken back.
    let down = format!("{UPDATE}[schedule_at_period_end][conditions]");
    form = form
        .with(format!("{UPDATE}[default_allowed_updates][0]"), "price")
        .with(format!("{UPDATE}[proration_behavior]"), "always_invoice")
        .with(format!("{down}[0][type]"), "decreasing_item_amount")
        .with(format!("{down}[1][type]"), "shortening_interval");
    for (i, tier) in tiers.iter().enumerate() {
        let key = format!("{UPDATE}[products][{i}]");
        form = form
            .with(format!("{key}[product]"), tier.product.id())
            .with(format!("{key}[prices][0]"), &tier.id);
    }
    form
}

#[derive(Debug, Deserialize)]
struct Configuration {
    id: ConfigurationId,
}

/// A portal session. Anybody with its URL acts as the customer for a short time, so it is never logged or stored: the
/// type cannot be printed.
#[derive(Deserialize)]
struct PortalSession {
    url: String,
}

/// Whether a refusal is about the offered prices, not the customer.
fn is_about_the_offer(refusal: &ErrorResponse) -> bool {
    let param = refusal.param.as_deref().unwrap_or_default();
    let listed = param.contains("products") || param.contains("prices");
    listed || refusal.is_missing() && param != "customer"
}

impl Stripe {
    pub(super) async fn portal(&self, request: &PortalRequest<'_>) -> Result<String, Error> {
        match self.visit(request).await {
            Err(Error::Refused(refusal)) if is_about_the_offer(&refusal) => {
                tracing::warn!(error = %refusal, "The portal's configuration or prices are gone from the provider; setting them up again");
            }
            visited => return visited,
        }
        // The configuration, or a listed price or product, was archived or deleted.
        self.shared.memory.forget_all(self.project).await?;
        for (_, price) in &request.offered {
            self.uncache_price(price);
        }
        self.visit(request).await
    }

    async fn visit(&self, request: &PortalRequest<'_>) -> Result<String, Error> {
        let configuration = self.configuration(request).await?;
        let form = Form::new()
            .with("customer", &request.customer)
            .with("configuration", configuration)
            .with_some("return_url", request.return_url);
        let key = key::unique("portal")?;
        let path = ["billing_portal", "sessions"];
        let visit: PortalSession = self.client.post(&path, &form, &key).await?;
        Ok(visit.url)
    }

    /// The configuration for an offer, stored by a hash of its form, so that the same offer is created once.
    async fn configuration(&self, request: &PortalRequest<'_>) -> Result<ConfigurationId, Error> {
        let mut tiers = Vec::new();
        for (product, price) in request.offered.iter().take(MAX_PRODUCTS) {
            tiers.push(self.tier(product, price).await?);
        }
        let form = configuration(&tiers);
        let mut offer = [0; 16];
        let hash = Sha256::digest(form.encode());
        offer.copy_from_slice(hash.split_at(16).0);
        let memory = &self.shared.memory;
        let existing = memory.find(self.project, offer);
        if let Some(existing) = existing.and_then(|id| ConfigurationId::new(id).ok()) {
            return Ok(existing);
        }
        let key = key::unique(format_args!("portal/{}", self.project))?;
        let path = ["billing_portal", "configurations"];
        let Configuration { id } = self.client.post(&path, &form, &key).await?;
        memory
            .remember(self.project, offer, id.as_str().to_owned())
            .await?;
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::lines;

    const ALWAYS: [&str; 4] = [
        "features[invoice_history][enabled]=true",
        "features[payment_method_update][enabled]=true",
        "features[subscription_cancel][enabled]=true",
        "features[subscription_cancel][mode]=at_period_end",
    ];

    #[test]
    fn tiers_can_be_switched_up_at_once_and_down_at_the_end() {
        let tier = |price: &str, product: &str| {
            let json = format!(r#"{{"id":"{price}","product":"{product}"}}"#);
            serde_json::from_str(&json).unwrap()
        };
        let tiers = [tier("price_1", "prod_a"), tier("price_3", "prod_b")];
        let mut expected = ALWAYS.to_vec();
        expected.extend([
            "features[subscription_update][enabled]=true",
            "features[subscription_update][default_allowed_updates][0]=price",
            "features[subscription_update][proration_behavior]=always_invoice",
            "features[subscription_update][schedule_at_period_end][conditions][0][type]=decreasing_item_amount",
            "features[subscription_update][schedule_at_period_end][conditions][1][type]=shortening_interval",
            "features[subscription_update][products][0][product]=prod_a",
            "features[subscription_update][products][0][prices][0]=price_1",
            "features[subscription_update][products][1][product]=prod_b",
            "features[subscription_update][products][1][prices][0]=price_3",
        ]);
        assert_eq!(lines(&configuration(&tiers)), expected);
    }

    #[test]
    fn without_tiers_there_is_nothing_to_switch() {
        let mut expected = ALWAYS.to_vec();
        expected.push("features[subscription_update][enabled]=false");
        assert_eq!(lines(&configuration(&[])), expected);
    }
}
