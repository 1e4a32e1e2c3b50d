//! What the customer portal offers, and visits to it.

use serde_json::{Value, json};

use super::View;
use crate::core::{
    books::Books,
    records::{Configuration, PortalSession},
};

/// Where a customer looks after what they bought.
pub(crate) fn portal_url(books: &Books, id: &str) -> String {
    format!("{}/portal/{id}", books.base)
}

impl View for Configuration {
    fn view(&self, _: &Books) -> Value {
        let products: Vec<Value> = self
            .tiers
            .iter()
            .map(|tiers| {
                json!({
                    "product": tiers.product,
                    "prices": tiers.prices,
                    "adjustable_quantity": { "enabled": false, "maximum": null, "minimum": 1 },
                })
            })
            .collect();
        let conditions: Vec<Value> = self
            .conditions
            .iter()
            .map(|condition| json!({ "type": condition }))
            .collect();
        let mode = if self.cancel_at_end {
            "at_period_end"
        } else {
            "immediately"
        };
        json!({
            "id": self.head.id,
            "object": "billing_portal.configuration",
            "active": self.active,
            "application": null,
            "business_profile": {
                "headline": null, "privacy_policy_url": null, "terms_of_service_url": null,
            },
            "created": self.head.created,
            "default_return_url": self.default_return_url,
            "features": {
                "customer_update": { "allowed_updates": [], "enabled": false },
                "invoice_history": { "enabled": self.invoices },
                "payment_method_update": {
                    "enabled": self.payment_method, "payment_method_configuration": null,
                },
                "subscription_cancel": {
                    "cancellation_reason": { "enabled": false, "options": [] },
                    "enabled": self.cancel,
                    "mode": mode,
                    "proration_behavior": "none",
                },
                "subscription_update": {
                    "billing_cycle_anchor": null,
                    "default_allowed_updates": self.allowed_updates,
                    "enabled": self.switch,
                    "products": products,
                    "proration_behavior": self.proration,
                    "schedule_at_period_end": { "conditions": conditions },
                    "trial_update_behavior": "end_trial",
                },
            },
            "is_default": false,
            "livemode": false,
            "login_page": { "enabled": false, "url": null },
            "metadata": self.metadata,
            "name": self.name,
            "updated": self.updated,
        })
    }
}

impl View for PortalSession {
    fn view(&self, books: &Books) -> Value {
        json!({
            "id": self.head.id,
            "object": "billing_portal.session",
            "configuration": self.configuration,
            "created": self.head.created,
            "customer": self.customer,
            "customer_account": null,
            "flow": null,
            "livemode": false,
            "locale": null,
            "on_behalf_of": null,
            "return_url": self.return_url,
            "url": portal_url(books, &self.head.id),
        })
    }
}
