//! Webhook endpoints and deliveries as the administrator sees them.

use catalog::MintedEndpoint;
use domain::catalog::{Endpoint, EndpointStatus};
use outbound::webhooks;
use serde::Serialize;
use utoipa::ToSchema;
use wire::{
    field::EventTypeText,
    view::{Instant, instant},
};

/// An endpoint that a project's events are sent to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Webhook {
    /// The endpoint's identifier.
    #[schema(example = "wh_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    id: String,
    /// The address that events are sent to.
    #[schema(example = "https://shop.example/hooks")]
    url: String,
    /// The kinds of events that it wants; null: all.
    #[schema(value_type = Option<Vec<EventTypeText>>)]
    events: Option<Vec<String>>,
    /// Whether events are sent to it.
    active: bool,
    /// Why it was switched off automatically: `gone` (it answered 410) or `failing` (five days of nothing
    /// but failures); otherwise null.
    disabled_reason: Option<&'static str>,
    /// When it was made.
    created_at: Instant,
    /// How it does; null where it was made or changed just now.
    health: Option<WebhookHealth>,
}

/// How an endpoint does.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WebhookHealth {
    /// The last attempts of the last 24 hours, 100 at most.
    attempts: u64,
    /// Those of them that it accepted.
    succeeded: u64,
    /// When it last accepted one; null: never, as far as deliveries are kept.
    last_success_at: Option<Instant>,
    /// The last attempt that it did not accept.
    last_failure: Option<DeliveryAttempt>,
    /// Since when it has accepted nothing; null: it accepted the last attempt, or there was none.
    failing_since: Option<Instant>,
    /// Events that wait to be sent to it.
    pending: u64,
}

/// How an endpoint took a test event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TestedWebhook {
    /// The request's `webhook-id`; no event has it.
    #[schema(example = "evt_00000000000000007k3v1m2k4c5d7")]
    event_id: String,
    /// How it was taken.
    attempt: DeliveryAttempt,
    /// The beginning of the answer's body; null: there was no answer.
    body: Option<String>,
}

/// An endpoint that was just made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreatedWebhook {
    #[serde(flatten)]
    webhook: Webhook,
    /// The secret that deliveries are signed with. Shown only now.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    secret: String,
}

/// The secret that deliveries are signed with from now on. Shown only now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WebhookSecret {
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    secret: String,
}

/// All endpoints of a project.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Webhooks {
    /// The endpoints, oldest first.
    pub(super) webhooks: Vec<Webhook>,
}

/// The status of a delivery.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum DeliveryStatus {
    /// It will be tried again.
    Pending,
    /// It was accepted.
    Succeeded,
    /// The last attempt failed.
    Failed,
}

/// One event on its way to one endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Delivery {
    /// The delivery's identifier.
    #[schema(example = "dlv_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    id: String,
    /// The event that was sent; the request's `webhook-id`.
    #[schema(example = "evt_00000f4vj0e8h7k3v1m2k4c5d7")]
    event_id: String,
    /// The type of the event.
    #[serde(rename = "type")]
    #[schema(value_type = EventTypeText)]
    kind: &'static str,
    /// The delivery's status.
    status: DeliveryStatus,
    /// The attempts, oldest first.
    attempts: Vec<DeliveryAttempt>,
    /// When a pending delivery is tried again; null while the endpoint is not active.
    next_attempt_at: Option<Instant>,
}

/// One attempt to deliver.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeliveryAttempt {
    /// When it was made.
    at: Instant,
    /// The HTTP status of the answer; null: there was none.
    status_code: Option<u16>,
    /// What went wrong; null: it was accepted.
    error: Option<String>,
    /// How long it took.
    duration_ms: u32,
}

/// Deliveries, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Deliveries {
    pub(super) deliveries: Vec<Delivery>,
    /// Pass as `cursor` for the next page; null: this is the last one.
    pub(super) next_cursor: Option<String>,
}

/// How many events are sent again.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Replayed {
    /// The number of events.
    pub(super) count: u64,
}

impl From<&Endpoint> for Webhook {
    fn from(endpoint: &Endpoint) -> Self {
        Self {
            id: endpoint.id.to_string(),
            url: endpoint.url.clone(),
            events: endpoint.events.clone(),
            active: endpoint.is_active(),
            disabled_reason: match endpoint.status {
                EndpointStatus::Active | EndpointStatus::Off | EndpointStatus::Deleted => None,
                EndpointStatus::Gone => Some("gone"),
                EndpointStatus::Failing => Some("failing"),
            },
            created_at: instant(endpoint.created_at),
            health: None,
        }
    }
}

impl Webhook {
    /// An endpoint, and how it does.
    pub(super) fn watched(endpoint: &Endpoint, webhooks: &outbound::Webhooks) -> Self {
        let health = webhooks.health(endpoint.id);
        Self {
            health: Some(WebhookHealth {
                attempts: health.attempts,
                succeeded: health.succeeded,
                last_success_at: health.last_success_at.map(instant),
                last_failure: health.last_failure.as_ref().map(DeliveryAttempt::from),
                failing_since: health.failing_since.map(instant),
                pending: health.waiting,
            }),
            ..endpoint.into()
        }
    }
}

impl From<&webhooks::Attempt> for DeliveryAttempt {
    fn from(attempt: &webhooks::Attempt) -> Self {
        Self {
            at: instant(attempt.at),
            status_code: attempt.status_code,
            error: attempt.error.as_deref().map(str::to_owned),
            duration_ms: attempt.millis,
        }
    }
}

impl From<webhooks::TestOutcome> for TestedWebhook {
    fn from(outcome: webhooks::TestOutcome) -> Self {
        Self {
            event_id: outcome.event,
            attempt: (&outcome.attempt).into(),
            body: outcome.body.map(Into::into),
        }
    }
}

impl From<MintedEndpoint> for CreatedWebhook {
    fn from(minted: MintedEndpoint) -> Self {
        Self {
            webhook: (&minted.stored).into(),
            secret: minted.plain,
        }
    }
}

impl From<MintedEndpoint> for WebhookSecret {
    fn from(minted: MintedEndpoint) -> Self {
        Self {
            secret: minted.plain,
        }
    }
}

impl Delivery {
    pub(super) fn of(delivery: &webhooks::Delivery, endpoint: &Endpoint) -> Self {
        let next = delivery.next_at.filter(|_| endpoint.is_active());
        let attempts = delivery.attempts.iter();
        Self {
            id: delivery.id.to_string(),
            event_id: delivery.event.to_string(),
            kind: delivery.kind.as_str(),
            status: match delivery.status {
                webhooks::Status::Pending => DeliveryStatus::Pending,
                webhooks::Status::Succeeded => DeliveryStatus::Succeeded,
                webhooks::Status::Failed => DeliveryStatus::Failed,
            },
            attempts: attempts.map(DeliveryAttempt::from).collect(),
            next_attempt_at: next.map(instant),
        }
    }
}
