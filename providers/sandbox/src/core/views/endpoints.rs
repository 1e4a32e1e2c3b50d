//! Webhook endpoints. Their secrets are shown by who makes them, once.

use serde_json::{Value, json};

use super::View;
use crate::core::{books::Books, records::Endpoint};

impl View for Endpoint {
    fn view(&self, _: &Books) -> Value {
        json!({
            "id": self.head.id,
            "object": "webhook_endpoint",
            "api_version": self.api_version,
            "application": null,
            "created": self.head.created,
            "description": self.description,
            "enabled_events": self.kinds,
            "livemode": false,
            "metadata": self.metadata,
            "status": if self.enabled { "enabled" } else { "disabled" },
            "url": self.url,
        })
    }
}
