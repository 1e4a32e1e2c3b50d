//! Portal configurations and portal sessions.

use serde::{Deserialize, Serialize};

use crate::core::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Configuration {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) updated: i64,
    pub(crate) active: bool,
    pub(crate) name: Option<String>,
    pub(crate) default_return_url: Option<String>,
    pub(crate) metadata: Metadata,
    /// Stripe's fields; absent ones have their defaults.
    pub(crate) features: Value,
}

impl Configuration {
    /// The text of a feature's field, for example `/subscription_cancel/mode`.
    fn word(&self, path: &str) -> Option<&str> {
        self.features.pointer(path)?.as_str()
    }

    fn list(&self, path: &str) -> impl Iterator<Item = &Value> {
        let list = self.features.pointer(path).and_then(Value::as_array);
        list.into_iter().flatten()
    }

    pub(crate) fn offers(&self, feature: &str) -> bool {
        let enabled = self.features.pointer(&format!("/{feature}/enabled"));
        enabled == Some(&Value::Bool(true))
    }

    /// Whether a cancellation takes effect at once.
    pub(crate) fn cancels_now(&self) -> bool {
        self.word("/subscription_cancel/mode") == Some("immediately")
    }

    pub(crate) fn prices(&self) -> impl Iterator<Item = &str> {
        let products = self.list("/subscription_update/products");
        let prices = products.filter_map(|product| product.get("prices")?.as_array());
        prices.flatten().filter_map(Value::as_str)
    }

    /// Stripe's `proration_behavior` of a switch.
    pub(crate) fn proration(&self) -> &str {
        let word = self.word("/subscription_update/proration_behavior");
        word.unwrap_or("none")
    }

    /// Whether a switch under this condition waits for the period's end.
    pub(crate) fn waits(&self, condition: &str) -> bool {
        let mut all = self.list("/subscription_update/schedule_at_period_end/conditions");
        all.any(|one| one.get("type").and_then(Value::as_str) == Some(condition))
    }
}

impl Object for Configuration {
    fn shown(&self, _: &Database) -> Value {
        let quantity = json!({ "enabled": false, "maximum": null, "minimum": 1 });
        let mut update = json!({ "subscription_update": self.features.get("subscription_update") });
        let products = update.pointer_mut("/subscription_update/products");
        for product in products.and_then(Value::as_array_mut).into_iter().flatten() {
            shape::set(product, json!({ "adjustable_quantity": quantity }));
        }
        json!({ "features": update })
    }
}

const VISIT_SECONDS: i64 = 3600;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PortalSession {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) customer: String,
    pub(crate) configuration: String,
    pub(crate) return_url: Option<String>,
}

impl PortalSession {
    pub(crate) const fn closes_at(&self) -> i64 {
        self.head.created.saturating_add(VISIT_SECONDS)
    }
}

impl Object for PortalSession {
    fn forget_at(&self) -> Option<i64> {
        Some(self.closes_at())
    }

    fn shown(&self, db: &Database) -> Value {
        json!({ "url": portal_url(db, &self.head.id) })
    }
}

pub(crate) fn portal_url(db: &Database, id: &str) -> String {
    format!("{}/portal/{id}", db.base)
}
