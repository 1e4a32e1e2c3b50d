//! What happened, who is to hear of it, and what was done under which key.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stripe::API_VERSION;

use crate::core::prelude::*;

/// Something that happened, and how far the telling is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Event {
    #[serde(flatten)]
    pub(crate) head: Head,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The object as it was then.
    pub(crate) told: Told,
    /// Copies that the project's own address took.
    pub(crate) delivered: u32,
    pub(crate) request: Request,
    /// Who was not reached yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) targets: Vec<Target>,
}

impl Object for Event {
    fn is_outgoing(&self) -> bool {
        !self.targets.is_empty()
    }

    fn forget_at(&self) -> Option<i64> {
        (!self.is_outgoing()).then(|| self.head.created.saturating_add(EVENT_SECONDS))
    }

    fn shown(&self, books: &Books) -> Value {
        json!({
            "api_version": API_VERSION,
            "data": { "object": self.told.view(books) },
            "pending_webhooks": self.targets.len(),
        })
    }
}

/// The request that something was done by; of neither where it happened by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) id: Option<String>,
    #[serde(rename = "idempotency_key")]
    pub(crate) key: Option<String>,
}

/// An object as it was when something happened to it: its note, which is a third of what callers see.
/// One text, since there may be many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told(String);

impl Told {
    pub(crate) fn new(note: &Note) -> Self {
        Self(note.text())
    }

    /// As callers see it.
    pub(crate) fn view(&self, books: &Books) -> Value {
        let note = serde_json::from_str::<Note>(&self.0);
        note.map_or(Value::Null, |note| note.view(books))
    }
}

impl Serialize for Told {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: Value = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Told {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Value::deserialize(deserializer)?.to_string()))
    }
}

/// Stripe keeps events for so long.
pub(crate) const EVENT_SECONDS: i64 = 30 * 24 * 3600;
/// And operation keys for so long.
const OPERATION_SECONDS: i64 = 24 * 3600;

/// An operation that was done under a key of the caller's: no object of Stripe's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Operation {
    #[serde(flatten)]
    pub(crate) head: Head,
    /// Of method, path and parameters.
    pub(crate) digest: String,
    pub(crate) status: u16,
    /// What was answered, as a text: it has nulls that count.
    pub(crate) body: String,
}

impl Object for Operation {
    fn forget_at(&self) -> Option<i64> {
        Some(self.head.created.saturating_add(OPERATION_SECONDS))
    }
}

/// An address that a shop registered.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) url: String,
    /// What its webhooks are signed with. Shown by who makes it, once.
    pub(crate) secret: String,
    #[serde(rename = "enabled_events")]
    pub(crate) kinds: Vec<String>,
    pub(crate) enabled: bool,
    pub(crate) description: Option<String>,
    pub(crate) metadata: Metadata,
    pub(crate) api_version: Option<String>,
}

impl Object for Endpoint {
    fn shown(&self, _: &Books) -> Value {
        json!({ "status": if self.enabled { "enabled" } else { "disabled" } })
    }
}

/// An event on its way to somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    /// One that the shop registered; `None`: the project's own address.
    pub(crate) endpoint: Option<String>,
    /// Deliveries that failed.
    pub(crate) failures: u32,
    /// After a failure: not before this second.
    pub(crate) retry_at: Option<i64>,
}

impl Target {
    pub(crate) const fn new(endpoint: Option<String>) -> Self {
        Self {
            endpoint,
            failures: 0,
            retry_at: None,
        }
    }
}
