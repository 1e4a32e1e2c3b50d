//! Webhook endpoints of an account: where Stripe sends what happens.

use serde::Deserialize;

use super::{
    client::{API_VERSION, Client},
    error::Error,
    events::KINDS,
    form::Form,
    id::WebhookEndpointId,
    key::OperationKey,
    metadata,
};
use domain::id::ProjectId;

/// An endpoint, as it is now.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct WebhookEndpoint {
    /// Its identifier.
    pub id: WebhookEndpointId,
    /// Where it leads.
    pub url: String,
    /// `enabled` or `disabled`.
    pub status: String,
    /// What is sent there.
    #[serde(default)]
    pub enabled_events: Vec<String>,
    /// What we wrote on it.
    #[serde(default)]
    pub metadata: metadata::Metadata,
    /// What its webhooks are signed with; told only when it is made.
    pub secret: Option<String>,
}

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
    /// Whether it is sent all that is acted on.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let sent = |kind: &&str| {
            self.enabled_events
                .iter()
                .any(|sent| sent == kind || sent == "*")
        };
        self.status == "enabled" && KINDS.iter().all(sent)
    }
}

fn events(mut form: Form) -> Form {
    for (i, kind) in KINDS.iter().enumerate() {
        form = form.with(format!("enabled_events[{i}]"), kind);
    }
    form
}

impl Client {
    /// The account's endpoints: at most sixteen there can be.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn webhook_endpoints(&self) -> Result<Vec<WebhookEndpoint>, Error> {
        let query = Form::new().with("limit", 100);
        Ok(self.list(&["webhook_endpoints"], &query, &[]).await?.data)
    }

    /// Makes an endpoint of a project's; the answer has its secret.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn create_webhook_endpoint(
        &self,
        project: ProjectId,
        url: &str,
        key: &OperationKey,
    ) -> Result<WebhookEndpoint, Error> {
        let form = Form::new()
            .with("url", url)
            .with("api_version", API_VERSION)
            .with("description", "Made and looked after by Scrip")
            .with(format!("metadata[{}]", metadata::PROJECT), project);
        self.post(&["webhook_endpoints"], &events(form), key).await
    }

    /// Has an endpoint be sent all that is acted on, and be enabled.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn repair_webhook_endpoint(
        &self,
        id: &WebhookEndpointId,
        key: &OperationKey,
    ) -> Result<WebhookEndpoint, Error> {
        let form = events(Form::new().with("disabled", false));
        self.post(&["webhook_endpoints", id.as_str()], &form, key)
            .await
    }

    /// Removes an endpoint.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn delete_webhook_endpoint(
        &self,
        id: &WebhookEndpointId,
        key: &OperationKey,
    ) -> Result<(), Error> {
        let path = ["webhook_endpoints", id.as_str()];
        self.delete(&path, key).await.map(|_: serde_json::Value| ())
    }
}
