//! Webhook endpoints of an account: the URLs that Stripe sends events to.

use serde::{Deserialize, de::IgnoredAny};

use super::{
    client::{API_VERSION, Client},
    error::Error,
    events::KINDS,
    form::Form,
    id::WebhookEndpointId,
    key, metadata,
    object::object,
};
use domain::id::ProjectId;

#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct WebhookEndpoint {
    pub id: WebhookEndpointId,
    pub url: String,
    /// `enabled` or `disabled`.
    pub status: String,
    /// Event types that are sent there; `*`: all.
    #[serde(default)]
    pub enabled_events: Vec<String>,
    #[serde(default)]
    pub metadata: metadata::Metadata,
    /// Signing secret, only in the response that creates it.
    pub secret: Option<String>,
}

object!(WebhookEndpointId => WebhookEndpoint, "webhook_endpoints", []);

impl std::fmt::Debug for WebhookEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookEndpoint")
            .field("id", &self.id)
            .field("url", &self.url)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl WebhookEndpoint {
    /// Whether it is enabled and receives every event that Scrip acts on.
    pub fn is_whole(&self) -> bool {
        let sent = |kind: &&str| {
            self.enabled_events
                .iter()
                .any(|sent| sent == kind || sent == "*")
        };
        self.status == "enabled" && KINDS.iter().all(sent)
    }
}

impl Client {
    /// The account's endpoints; Stripe allows sixteen.
    /// # Errors
    /// See [`Error`].
    pub async fn webhook_endpoints(&self) -> Result<Vec<WebhookEndpoint>, Error> {
        let query = Form::new().with("limit", 100);
        Ok(self.list::<WebhookEndpointId>(&query, &[]).await?.data)
    }

    /// Creates a project's endpoint; the answer contains its signing secret.
    /// # Errors
    /// See [`Error`].
    pub async fn create_webhook_endpoint(
        &self,
        project: ProjectId,
        url: &str,
    ) -> Result<WebhookEndpoint, Error> {
        let form = Form::new()
            .with("url", url)
            .with("api_version", API_VERSION)
            .with("description", "Created and maintained by Scrip")
            .with(format!("metadata[{}]", metadata::PROJECT), project)
            .with_each("enabled_events", &KINDS);
        self.post(&["webhook_endpoints"], &form, &key::unique("endpoint")?)
            .await
    }

    /// Enables an endpoint and subscribes it to every event that Scrip acts on.
    /// # Errors
    /// See [`Error`].
    pub async fn repair_webhook_endpoint(
        &self,
        id: &WebhookEndpointId,
    ) -> Result<WebhookEndpoint, Error> {
        let form = Form::new()
            .with("disabled", false)
            .with_each("enabled_events", &KINDS);
        let path = ["webhook_endpoints", id.as_str()];
        self.post(&path, &form, &key::unique("endpoint")?).await
    }

    /// Removes an endpoint.
    /// # Errors
    /// See [`Error`].
    pub async fn delete_webhook_endpoint(&self, id: &WebhookEndpointId) -> Result<(), Error> {
        let path = ["webhook_endpoints", id.as_str()];
        self.delete::<IgnoredAny>(&path, &key::unique("endpoint")?)
            .await?;
        Ok(())
    }
}
