//! Webhook endpoints: creates, changes and deletes them, rotates their secrets, sends test events.

use catalog::{EndpointChange, MintedEndpoint, NewEndpoint};
use domain::{
    Timestamp,
    catalog::Endpoint,
    id::{DeliveryId, EndpointId},
};
use edge::audit::AuditEvent;
use outbound::webhooks::{Delivery, TestOutcome};
use serde_json::{Value, json};
use wire::{Error, ErrorCode};

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, Operator, changes::changes,
};

needs!(Support: ReplayDelivery, ReplayEvents);
needs!(Manage: CreateEndpoint, DeleteEndpoint, RotateSecret, TestEndpoint, UpdateEndpoint);

/// Creates an endpoint.
#[derive(Debug)]
pub struct CreateEndpoint(pub NewEndpoint);

/// Changes an endpoint, enables or disables it. The caller holds the lock for saving.
#[derive(Debug)]
pub struct UpdateEndpoint(pub EndpointId, pub EndpointChange);

/// Replaces an endpoint's secret; the present one is valid for 24 hours more.
#[derive(Debug)]
pub struct RotateSecret(pub EndpointId);

/// Deletes an endpoint with the record of its deliveries.
#[derive(Debug)]
pub struct DeleteEndpoint(pub EndpointId);

/// Sends the event of a delivery again.
#[derive(Debug)]
pub struct ReplayDelivery(pub EndpointId, pub DeliveryId);

/// Sends all events since an instant again.
#[derive(Debug)]
pub struct ReplayEvents(pub EndpointId, pub Timestamp);

/// Sends an endpoint an event that did not happen.
#[derive(Debug)]
pub struct TestEndpoint(pub EndpointId, pub &'static str);

fn stored<'a>(by: &'a Operator<'_>, id: EndpointId) -> Result<&'a Endpoint, Error> {
    let endpoint = by.project.endpoint(&id);
    endpoint.ok_or_else(|| Error::new(ErrorCode::WebhookNotFound))
}

fn fields(endpoint: &Endpoint) -> Value {
    json!({
        "url": endpoint.url,
        "events": endpoint.events,
        "active": endpoint.is_active(),
    })
}

/// The question before something that takes a part of an endpoint away.
fn question(endpoint: &Endpoint, title: &str, happens: String) -> Option<Confirmation> {
    let facts = vec![
        ("Endpoint", Fact::Id(endpoint.url.clone())),
        ("What happens", happens.into()),
    ];
    let title = title.into();
    Some(Confirmation { title, facts })
}

impl Action for CreateEndpoint {
    type Answer = MintedEndpoint;

    async fn execute(self, by: &Operator<'_>) -> Execution<MintedEndpoint> {
        let minted = by.app.catalog.create_endpoint(by.id(), self.0).await?;
        let (id, url) = (minted.stored.id, &minted.stored.url);
        let what = format!("Created webhook endpoint {id} of {}: {url}", by.id());
        Ok((minted, AuditEvent::Did(what)))
    }
}

impl Action for UpdateEndpoint {
    type Answer = Endpoint;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let endpoint = stored(by, self.0)?;
        if self.1.active != Some(false) || !endpoint.is_active() {
            return Ok(None);
        }
        let happens = "It gets no events until it is enabled again; then it continues where it stopped. Events are kept for 30 days.";
        Ok(question(endpoint, "Disable this endpoint?", happens.into()))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<Endpoint> {
        let Self(id, change) = self;
        let before = fields(stored(by, id)?);
        let after = by.app.catalog.update_endpoint(by.id(), id, change).await?;
        let changed = changes(&before, &fields(&after));
        let event = AuditEvent::changed(&format!("webhook endpoint {id}"), changed);
        Ok((after, event))
    }
}

impl Action for RotateSecret {
    type Answer = MintedEndpoint;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let happens = "A new secret is shown once. The present one stops working in 24 hours: your server has to know the new one by then.";
        let endpoint = stored(by, self.0)?;
        Ok(question(endpoint, "Rotate the secret?", happens.into()))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<MintedEndpoint> {
        let minted = by.app.catalog.rotate_endpoint(by.id(), self.0).await?;
        let what = format!(
            "Rotated the secret of webhook endpoint {} of {}",
            self.0,
            by.id()
        );
        Ok((minted, AuditEvent::Did(what)))
    }
}

impl Action for DeleteEndpoint {
    type Answer = ();

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let pending = match by.app.webhooks.health(self.0).waiting {
            0 => "None is pending.".into(),
            waiting => format!("{waiting} pending deliveries are lost."),
        };
        let happens = format!(
            "It gets no more events, and the record of its deliveries is deleted. {pending} This cannot be undone."
        );
        let endpoint = stored(by, self.0)?;
        Ok(question(endpoint, "Delete this endpoint?", happens))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        by.app.catalog.delete_endpoint(by.id(), self.0).await?;
        let what = format!("Deleted webhook endpoint {} of {}", self.0, by.id());
        Ok(((), AuditEvent::Did(what)))
    }
}

impl Action for TestEndpoint {
    type Answer = TestOutcome;

    async fn execute(self, by: &Operator<'_>) -> Execution<TestOutcome> {
        let Self(id, kind) = self;
        let outcome = by
            .app
            .webhooks
            .test(&by.project, stored(by, id)?, kind)
            .await?;
        let what = format!("Sent a test event to webhook endpoint {id}");
        Ok((outcome, AuditEvent::Did(what)))
    }
}

impl Action for ReplayDelivery {
    type Answer = Delivery;

    async fn execute(self, by: &Operator<'_>) -> Execution<Delivery> {
        let id = stored(by, self.0)?.id;
        let delivery = by.app.webhooks.again(id, self.1).await?;
        let what = format!("Sent delivery {} again to {id}", delivery.id);
        Ok((delivery, AuditEvent::Did(what)))
    }
}

impl Action for ReplayEvents {
    type Answer = u64;

    async fn execute(self, by: &Operator<'_>) -> Execution<u64> {
        let id = stored(by, self.0)?.id;
        let count = by.app.webhooks.again_since(&by.project, id, self.1).await?;
        let what = format!("Sent {count} events again to {id}");
        let event = match count {
            0 => AuditEvent::DidNothing,
            _ => AuditEvent::Did(what),
        };
        Ok((count, event))
    }
}
