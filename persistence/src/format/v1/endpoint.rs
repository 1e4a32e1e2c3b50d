//! Where a project's own servers are told what happens; its secrets are encrypted.

use domain::{
    Timestamp, catalog,
    id::{EndpointId, ProjectId},
};
use serde::{Deserialize, Serialize};

use super::provider::WebhookSecret;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Endpoint<'a> {
    id: u128,
    project: u128,
    url: &'a str,
    events: Option<Vec<&'a str>>,
    #[serde(borrow)]
    secrets: Vec<WebhookSecret<'a>>,
    told_after: u64,
    status: Status,
    created_at: i64,
}

/// Numbered by the order in which they stand here.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Status {
    Active,
    Off,
    Gone,
    Failing,
    Deleted,
}

impl<'a> From<&'a catalog::Endpoint> for Endpoint<'a> {
    fn from(from: &'a catalog::Endpoint) -> Self {
        let catalog::Endpoint {
            id,
            project,
            url,
            events,
            secrets,
            told_after,
            status,
            created_at,
        } = from;
        let events = events.as_ref();
        Self {
            id: id.0,
            project: project.0,
            url,
            events: events.map(|events| events.iter().map(String::as_str).collect()),
            secrets: secrets.iter().map(WebhookSecret::from).collect(),
            told_after: *told_after,
            status: (*status).into(),
            created_at: created_at.0,
        }
    }
}

impl From<Endpoint<'_>> for catalog::Endpoint {
    fn from(from: Endpoint<'_>) -> Self {
        let events = from.events;
        let secrets = from.secrets.into_iter();
        Self {
            id: EndpointId(from.id),
            project: ProjectId(from.project),
            url: from.url.into(),
            events: events.map(|events| events.into_iter().map(str::to_owned).collect()),
            secrets: secrets.map(catalog::WebhookSecret::from).collect(),
            told_after: from.told_after,
            status: from.status.into(),
            created_at: Timestamp(from.created_at),
        }
    }
}

impl From<catalog::EndpointStatus> for Status {
    fn from(from: catalog::EndpointStatus) -> Self {
        match from {
            catalog::EndpointStatus::Active => Self::Active,
            catalog::EndpointStatus::Off => Self::Off,
            catalog::EndpointStatus::Gone => Self::Gone,
            catalog::EndpointStatus::Failing => Self::Failing,
            catalog::EndpointStatus::Deleted => Self::Deleted,
        }
    }
}

impl From<Status> for catalog::EndpointStatus {
    fn from(from: Status) -> Self {
        match from {
            Status::Active => Self::Active,
            Status::Off => Self::Off,
            Status::Gone => Self::Gone,
            Status::Failing => Self::Failing,
            Status::Deleted => Self::Deleted,
        }
    }
}
