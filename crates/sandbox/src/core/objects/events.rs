//! Events, webhook endpoints, and the answers that idempotency keys keep.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stripe::API_VERSION;

use crate::core::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Event {
    #[serde(flatten)]
    pub(crate) head: Head,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The object at that time.
    pub(crate) snapshot: ObjectSnapshot,
    /// Copies that the project's own URL accepted.
    pub(crate) delivered: u32,
    pub(crate) request: Request,
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

    fn shown(&self, db: &Database) -> Value {
        json!({
            "api_version": API_VERSION,
            "data": { "object": self.snapshot.view(db) },
            "pending_webhooks": self.targets.len(),
        })
    }
}

/// The request that caused an event; both fields are empty without one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) id: Option<String>,
    #[serde(rename = "idempotency_key")]
    pub(crate) key: Option<String>,
}

/// An object at an event, in its stored form: a third of the visible size, kept as one text, since there may be many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectSnapshot(String);

impl ObjectSnapshot {
    pub(crate) fn new(note: &Note) -> Self {
        Self(note.text())
    }

    pub(crate) fn view(&self, db: &Database) -> Value {
        let note = serde_json::from_str::<Note>(&self.0);
        note.map_or(Value::Null, |note| note.view(db))
    }
}

impl Serialize for ObjectSnapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: Value = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ObjectSnapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Value::deserialize(deserializer)?.to_string()))
    }
}

/// Seconds for which Stripe keeps events.
pub(crate) const EVENT_SECONDS: i64 = 30 * 24 * 3600;
/// Seconds for which Stripe keeps idempotency keys.
const OPERATION_SECONDS: i64 = 24 * 3600;

/// The response stored for an idempotency key; not an object of Stripe's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Operation {
    #[serde(flatten)]
    pub(crate) head: Head,
    /// Hash of method, path and parameters.
    pub(crate) digest: String,
    pub(crate) status: u16,
    /// The body as a text, to keep its nulls.
    pub(crate) body: String,
}

impl Object for Operation {
    fn forget_at(&self) -> Option<i64> {
        Some(self.head.created.saturating_add(OPERATION_SECONDS))
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) url: String,
    /// Signing secret of its webhooks, shown only when it is created.
    pub(crate) secret: String,
    #[serde(rename = "enabled_events")]
    pub(crate) kinds: Vec<String>,
    pub(crate) enabled: bool,
    pub(crate) description: Option<String>,
    pub(crate) metadata: Metadata,
    pub(crate) api_version: Option<String>,
}

impl Object for Endpoint {
    fn shown(&self, _: &Database) -> Value {
        json!({ "status": if self.enabled { "enabled" } else { "disabled" } })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    /// An endpoint that the shop registered; `None` for the project's own URL.
    pub(crate) endpoint: Option<String>,
    pub(crate) failures: u32,
    /// After a failure, the second of the next attempt.
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
