//! Webhook endpoints, which receive a project's events: a URL, the kinds of events to send, and the secrets that sign
//! deliveries. Secrets arrive here encrypted.

use super::{Refusal, WebhookSecret, provider, rules};
use crate::{
    catalog::Ciphertext,
    id::{EndpointId, ProjectId},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};

/// Endpoints that a project may have at once.
pub const MAX_ENDPOINTS: usize = 20;
const MAX_URL: usize = 2048;
/// Kinds of events that an endpoint may name: more than there are.
pub const MAX_EVENTS: usize = 50;
const MAX_EVENT: usize = 40;

/// A URL of a project's own servers to send events to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Endpoint {
    pub id: EndpointId,
    pub project: ProjectId,
    /// Its URL: `https`, or `http` where the operator allows it.
    pub url: String,
    /// The kinds of events that it receives; `None` for all. This crate does not know which kinds exist.
    pub events: Option<Vec<String>>,
    /// The secrets that deliveries are signed with, the newest first.
    pub secrets: Vec<WebhookSecret>,
    /// Only events with a larger log number are sent to it.
    pub events_after: u64,
    pub status: EndpointStatus,
    pub created_at: Timestamp,
}

/// Whether events are sent to an endpoint, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndpointStatus {
    /// Events are sent.
    Active,
    /// An operator disabled it.
    Off,
    /// It answered 410 Gone, so nothing more is sent.
    Gone,
    /// It accepted nothing for days.
    Failing,
    /// It was deleted; nothing else is kept.
    Deleted,
}

/// A request to create an endpoint.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of Endpoint")]
pub struct NewEndpoint {
    pub url: String,
    pub events: Option<Vec<String>>,
}

/// A change of an endpoint; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of Endpoint")]
pub struct EndpointChange {
    pub url: Option<String>,
    pub events: Option<Option<Vec<String>>>,
    pub active: Option<bool>,
}

impl NewEndpoint {
    /// The new endpoint. It receives events with a log number above `events_after`.
    /// # Errors
    /// [`Refusal::Invalid`] for the first input that breaks a rule.
    pub fn decide(
        self,
        (project, id): (ProjectId, EndpointId),
        secret: Ciphertext,
        events_after: u64,
        now: Timestamp,
    ) -> Result<Endpoint, Refusal> {
        let secret = WebhookSecret {
            secret,
            until: None,
        };
        let endpoint = Endpoint {
            id,
            project,
            url: self.url,
            events: self.events,
            secrets: vec![secret],
            events_after,
            status: EndpointStatus::Active,
            created_at: now,
        };
        endpoint.check()?;
        Ok(endpoint)
    }
}

impl EndpointChange {
    /// The endpoint after the change.
    /// # Errors
    /// [`Refusal::Invalid`] for the first input that breaks a rule.
    pub fn decide(self, old: &Endpoint) -> Result<Endpoint, Refusal> {
        let status = match self.active {
            Some(true) => EndpointStatus::Active,
            // It keeps the reason for which it was disabled before.
            Some(false) if old.is_active() => EndpointStatus::Off,
            Some(false) | None => old.status,
        };
        let endpoint = Endpoint {
            url: self.url.unwrap_or_else(|| old.url.clone()),
            events: self.events.unwrap_or_else(|| old.events.clone()),
            status,
            ..old.clone()
        };
        endpoint.check()?;
        Ok(endpoint)
    }
}

impl Endpoint {
    /// Whether events are sent to it.
    pub const fn is_active(&self) -> bool {
        matches!(self.status, EndpointStatus::Active)
    }

    /// Whether it wants events of this kind.
    pub fn wants(&self, kind: &str) -> bool {
        let listed = |events: &Vec<String>| events.iter().any(|event| event == kind);
        self.events.as_ref().is_none_or(listed)
    }

    /// The endpoint with a new secret. The former one also signs for another day.
    #[must_use]
    pub fn rotated(&self, secret: Ciphertext, now: Timestamp) -> Self {
        let former = self.secrets.clone();
        Self {
            secrets: provider::rotate(former, secret, |_| true, now),
            ..self.clone()
        }
    }

    /// The endpoint disabled for this reason; `None` if it is disabled already.
    #[must_use]
    pub fn disabled(&self, why: EndpointStatus) -> Option<Self> {
        self.is_active().then(|| Self {
            status: why,
            ..self.clone()
        })
    }

    /// The endpoint after its deletion: only the fact that it existed is kept.
    #[must_use]
    pub fn deleted(&self) -> Self {
        Self {
            url: String::new(),
            events: None,
            secrets: Vec::new(),
            status: EndpointStatus::Deleted,
            ..self.clone()
        }
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.status == EndpointStatus::Deleted {
            return Ok(());
        }
        url(&self.url)?;
        if let Some(events) = &self.events {
            kinds(events)?;
        }
        provider::check_secrets("secrets", &self.secrets)?;
        let message = "An endpoint needs a secret.";
        rules::ensure(!self.secrets.is_empty(), "secrets", message)
    }
}

fn url(url: &str) -> Result<(), Refusal> {
    let schemes = ["https://", "http://"].iter();
    let has_host = schemes
        .filter_map(|scheme| url.strip_prefix(scheme))
        .any(|rest| !rest.is_empty() && !rest.starts_with('/'));
    let fits = url.len() <= MAX_URL && url.bytes().all(|byte| byte.is_ascii_graphic());
    let message = format!("url is an https address of at most {MAX_URL} characters.");
    rules::ensure(has_host && fits, "url", message)
}

fn kinds(events: &[String]) -> Result<(), Refusal> {
    let message = "events is a list of at least one kind; null means all.";
    rules::ensure((1..=MAX_EVENTS).contains(&events.len()), "events", message)?;
    let letters = |byte: u8| byte.is_ascii_lowercase() || b"._".contains(&byte);
    for (at, event) in events.iter().enumerate() {
        let is_kind = (1..=MAX_EVENT).contains(&event.len()) && event.bytes().all(letters);
        let message = "There is no such kind of event.";
        rules::ensure(is_kind, &format!("events[{at}]"), message)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn sealed(byte: u8) -> Ciphertext {
        Ciphertext(Box::new([byte]))
    }

    fn made(url: &str, events: Option<Vec<String>>) -> Result<Endpoint, Refusal> {
        let new = NewEndpoint {
            url: url.into(),
            events,
        };
        new.decide((ProjectId(1), EndpointId(2)), sealed(1), 7, NOW)
    }

    fn endpoint() -> Endpoint {
        made("https://shop.example/hooks", None).unwrap()
    }

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        assert!(endpoint().is_active());
        for bad in [
            "",
            "shop.example",
            "ftp://shop.example",
            "https://",
            "https:///x",
            "https://a b",
        ] {
            assert!(made(bad, None).is_err(), "{bad}");
        }
        assert!(made(&format!("https://{}", "a".repeat(2041)), None).is_err());
    }

    #[test]
    fn kinds_are_wanted_as_they_are_listed() {
        let some = made("https://a", Some(vec!["order.paid".into()])).unwrap();
        assert!(some.wants("order.paid") && !some.wants("order.failed"));
        assert!(endpoint().wants("order.failed"));
        assert!(made("https://a", Some(Vec::new())).is_err());
        assert!(made("https://a", Some(vec!["Order Paid".into()])).is_err());
    }

    #[test]
    fn a_replaced_secret_signs_for_a_day_more() {
        let rotated = endpoint().rotated(sealed(2), NOW);
        let day = NOW.plus_seconds(24 * 3600);
        let existing: Vec<_> = rotated
            .secrets
            .iter()
            .map(|it| (it.secret.clone(), it.until))
            .collect();
        assert_eq!(existing, [(sealed(2), None), (sealed(1), Some(day))]);
        let later = rotated.rotated(sealed(3), day);
        assert_eq!(later.secrets.len(), 2, "the first one has ended");
        assert!(later.check().is_ok());
    }

    #[test]
    fn it_is_off_until_it_is_set_active_again() {
        let gone = endpoint().disabled(EndpointStatus::Gone).unwrap();
        assert!(!gone.is_active() && gone.disabled(EndpointStatus::Failing).is_none());
        let set = |active| EndpointChange {
            active: Some(active),
            ..EndpointChange::default()
        };
        assert_eq!(
            set(false).decide(&gone).unwrap().status,
            EndpointStatus::Gone
        );
        assert_eq!(set(true).decide(&gone).unwrap(), endpoint());
        assert_eq!(
            set(false).decide(&endpoint()).unwrap().status,
            EndpointStatus::Off
        );
    }

    #[test]
    fn nothing_is_kept_of_a_deleted_one() {
        let deleted = endpoint().deleted();
        assert!(deleted.check().is_ok() && !deleted.is_active());
        assert!(deleted.url.is_empty() && deleted.secrets.is_empty());
    }
}
