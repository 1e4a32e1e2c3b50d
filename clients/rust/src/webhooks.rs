//! Verifies webhooks that Scrip sends to your server.

use api_types::event::Event;
use http::HeaderMap;
use standardwebhooks::Webhook;
use std::fmt;

/// Verifies signatures as in Standard Webhooks 1.0.
pub struct WebhookVerifier {
    webhook: Webhook,
}

/// A delivery that is not authentic, or a secret that is invalid.
#[derive(Debug, thiserror::Error)]
#[error("not a delivery of Scrip's: {0}")]
pub struct Unverified(String);

impl fmt::Debug for WebhookVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookVerifier").finish_non_exhaustive()
    }
}

impl WebhookVerifier {
    /// A verifier with the endpoint's secret, `whsec_…`.
    /// # Errors
    /// [`Unverified`] where the text is not a secret.
    pub fn new(secret: &str) -> Result<Self, Unverified> {
        // The library's error could contain the secret.
        let webhook = Webhook::new(secret).map_err(|_| Unverified("no such secret".to_owned()))?;
        Ok(Self { webhook })
    }

    /// Verifies a delivery and returns its event; needs the body's exact bytes and the headers. Respond with
    /// 2xx once you have stored the event; otherwise it is sent again, and may come twice in any case: see
    /// [`Event::id`].
    /// # Errors
    /// [`Unverified`] where the signature is not Scrip's, or is older than five minutes.
    pub fn verify(&self, body: &[u8], headers: &HeaderMap) -> Result<Event, Unverified> {
        self.webhook
            .verify(body, headers)
            .map_err(|error| Unverified(error.to_string()))?;
        let mut event: Event = serde_json::from_slice(body)
            .map_err(|error| Unverified(format!("signed, and no event: {error}")))?;
        let id = headers.get("webhook-id").and_then(|id| id.to_str().ok());
        event.id = id.unwrap_or_default().to_owned();
        Ok(event)
    }
}
