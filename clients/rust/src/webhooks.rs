//! What Scrip tells your own server, once its signature is checked.

use crate::types::Event;
use http::HeaderMap;
use standardwebhooks::Webhook;
use std::fmt;

/// Checks signatures after Standard Webhooks 1.0.
pub struct WebhookVerifier {
    webhook: Webhook,
}

/// A delivery that is not to be believed.
#[derive(Debug, thiserror::Error)]
#[error("not a delivery of Scrip's: {0}")]
pub struct Unverified(String);

impl fmt::Debug for WebhookVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookVerifier").finish_non_exhaustive()
    }
}

impl WebhookVerifier {
    /// By the endpoint's secret, `whsec_…`.
    ///
    /// # Errors
    ///
    /// Where that is none.
    pub fn new(secret: &str) -> Result<Self, Unverified> {
        // The library's words could have the secret in them.
        let webhook = Webhook::new(secret).map_err(|_| Unverified("no such secret".to_owned()))?;
        Ok(Self { webhook })
    }

    /// The event in a delivery, from its body as it came, byte by byte, and its headers. Answer 2xx once
    /// it is safe with you; it comes again otherwise, and can come twice in any case: see [`Event::id`].
    ///
    /// # Errors
    ///
    /// Where the signature is not Scrip's, or is older than five minutes.
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
