//! Forwards events, signed like webhooks.

use std::time::{Duration, Instant};

use outbound::standard_webhooks::{ID, SIGNATURE, Secret, TIMESTAMP};
use serde::Serialize;
use serde_json::value::RawValue;
use url::Url;

use super::Event;
use crate::cli::{Failure, print, remote};

/// Timeout of a request, the same as a delivery's.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The address that events are forwarded to, and the secret that signs them.
pub(super) struct Forward {
    http: reqwest::Client,
    to: Url,
    secret: Secret,
}

/// A webhook's body, with the same bytes as the server would send.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    timestamp: &'a str,
    recorded_at: &'a str,
    data: &'a RawValue,
}

impl Forward {
    /// Uses this secret, or a new one that is printed.
    pub(super) fn open(to: Url, secret: Option<&str>) -> Result<Self, Failure> {
        let text = match secret.filter(|text| !text.is_empty()) {
            Some(text) => text.to_owned(),
            None => {
                let mut bytes = [0; 24];
                getrandom::fill(&mut bytes).map_err(Failure::new)?;
                let text = Secret::text(&bytes);
                // On standard error, as a program may read the events.
                print::error(&format!("events sent to {to} are signed with {text}"));
                text
            }
        };
        let secret = Secret::parse(&text).ok_or_else(|| {
            Failure::new(
                "--secret must be `whsec_` and 24 to 64 bytes in base64. Leave it out \
                 to get a new one",
            )
        })?;
        let http = remote::client(&to).timeout(TIMEOUT);
        let http = http.build().map_err(Failure::new)?;
        Ok(Self { http, to, secret })
    }

    /// Sends an event; returns the result in a few words.
    pub(super) async fn send(&self, event: &Event) -> String {
        let id = &event.id;
        // A webhook's body has no id: that is in a header. Serializing what was parsed cannot fail.
        let body = serde_json::to_string(&Body {
            kind: &event.kind,
            timestamp: &event.timestamp,
            recorded_at: &event.recorded_at,
            data: &event.data,
        });
        let body = body.unwrap_or_default();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seconds = now.map_or(0, |since| {
            i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
        });
        let signature = self.secret.sign(id, seconds, body.as_bytes());
        let began = Instant::now();
        let request = self
            .http
            .post(self.to.clone())
            .header("content-type", "application/json")
            .header(ID, id)
            .header(TIMESTAMP, seconds)
            .header(SIGNATURE, signature)
            .body(body);
        match request.send().await {
            Ok(answer) => format!("{} in {} ms", answer.status(), began.elapsed().as_millis()),
            Err(error) => format!("failed: {}", remote::root(&error)),
        }
    }
}
