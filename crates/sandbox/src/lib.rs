//! A payment provider for demos and tests: a part of Stripe's API with hosted pages and signed webhooks, served
//! by this program itself and called by the same client as Stripe. No money moves: anybody who has a page's URL
//! may pay there, which gives credits away. So it must answer only for projects that chose it.
//!
//! `core` decides and is pure; `store` keeps each project's objects, one request at a time, and saves a change
//! before it is answered; `webhooks` delivers webhooks; `http` and `pages` are the surface. `fault_profile` adds what
//! Stripe does to callers beyond answering: limits, delays, refusals.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use domain::{id::ProjectId, time::Timestamp};

use stripe::signature::SigningSecret;

#[cfg(feature = "test-util")]
#[path = "tests/account.rs"]
pub mod account;
mod core;
pub mod fault_profile;
mod http;
mod pages;
mod store;
mod webhooks;

/// What the sandbox needs from the service. Called often, so it must not block.
pub trait Host: Send + Sync + 'static {
    /// A project's settings; `None` without a sandbox: all its routes answer 404.
    fn settings(&self, project: ProjectId) -> Option<Settings>;
    /// The present instant by the project's own clock.
    fn now(&self, project: ProjectId) -> Timestamp;
    /// The real instant, which signs webhooks, since receivers check their age.
    fn wall_clock(&self) -> Timestamp;
    /// A project's secrets; without them its API answers 404 and no webhooks are sent.
    fn keys(&self, project: ProjectId) -> Option<Keys>;
    /// This server's public base URL, for example `http://127.0.0.1:8787`, without a trailing slash.
    fn public_url(&self) -> String;
    /// The URL that the project's webhooks are sent to.
    fn webhook_url(&self, project: ProjectId) -> String;
}

/// The settings of a project's sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The shop's name, as pages show it.
    pub name: String,
    /// Seconds of the project's clock between an event and its delivery.
    pub delay_seconds: u32,
    /// Deliveries of each event beyond the first.
    pub duplicates: u32,
    /// Whether events that are due together are sent out of order.
    pub shuffle: bool,
}

/// A project's secrets. Never printed.
#[derive(Clone)]
pub struct Keys {
    /// The key that API callers authenticate with.
    pub secret_key: String,
    /// The secret that webhooks are signed with.
    pub webhook_secret: SigningSecret,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(..)")
    }
}

/// The store of the sandbox's objects.
#[async_trait]
pub trait NoteStore: Send + Sync + 'static {
    /// All saved objects of a project: pairs of id and JSON, in any order.
    async fn load(&self, project: ProjectId) -> Result<Vec<(String, String)>, NoteStoreError>;
    /// Saves objects, or deletes those that are `None`. One call is atomic and durable once it returns, and has less
    /// than 40 KB.
    async fn save(
        &self,
        project: ProjectId,
        notes: Vec<(String, Option<String>)>,
    ) -> Result<(), NoteStoreError>;
}

/// Why notes cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoteStoreError(pub String);

/// Checks that a saved note is an object under its own id.
/// # Errors
/// What is wrong with it, in words; never its content.
pub fn check_object(id: &str, json: &str) -> Result<(), String> {
    let object = serde_json::from_str::<core::objects::Note>(json);
    let object = object.map_err(|error| format!("its body is not a valid object: {error}"))?;
    if object.head().id == id {
        Ok(())
    } else {
        Err("its body has another object's id".into())
    }
}

/// Why the sandbox cannot answer. Never contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Its objects cannot be read or saved. The outcome is unknown.
    #[error("the sandbox's objects cannot be read or saved: {0}")]
    Notes(#[from] NoteStoreError),
    /// The system has no randomness, or the sandbox itself is defective.
    #[error("the sandbox cannot go on: {0}")]
    Broken(String),
}

/// All projects' sandboxes. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox(Arc<store::Store>);

impl Sandbox {
    /// All projects' sandboxes over the saved objects, with this initial fault profile. Reads nothing before the first
    /// request.
    #[must_use]
    pub fn new(
        host: Arc<dyn Host>,
        note_store: Arc<dyn NoteStore>,
        fault_profile: fault_profile::FaultProfile,
    ) -> Self {
        Self(Arc::new(store::Store::new(host, note_store, fault_profile)))
    }

    /// Serves everything under `/sandbox/{projectId}/`.
    pub fn router(&self) -> Router {
        http::router(self.clone())
    }

    /// A project's current fault profile.
    pub fn fault_profile(&self, project: ProjectId) -> fault_profile::FaultProfile {
        let project_state = self.0.project_state(project);
        project_state.injector.lock().settings().clone()
    }

    /// Sets a project's fault profile until the server restarts.
    pub fn set_fault_profile(
        &self,
        project: ProjectId,
        fault_profile: fault_profile::FaultProfile,
    ) {
        let (now, project_state) = (self.0.now(project), self.0.project_state(project));
        project_state.injector.lock().switch(fault_profile, now);
    }

    /// The next instant of the project's clock at which something is due: a session closes, a cycle renews, a payment
    /// is retried, a subscription ends, a webhook is sent. For stepping a test clock. `None` also without a sandbox.
    /// # Errors
    /// See [`Error`].
    pub async fn next_due(&self, project: ProjectId) -> Result<Option<Timestamp>, Error> {
        let Some(settings) = self.0.host.settings(project) else {
            return Ok(None);
        };
        let delay = settings.delay_seconds;
        let work = move |db: &mut core::database::Database| Ok(core::due::next(db, delay));
        let next = self.0.at(project, work).await;
        let next = next.map_err(store::Failure::plain)?;
        let debit = self.0.project_state(project).injector.lock().next_debit();
        let next = next.into_iter().chain(debit).min();
        Ok(next.map(|seconds| Timestamp(seconds.saturating_mul(1000))))
    }

    /// Does what is due by the project's clock, and delivers due webhooks; returns once they are delivered or have
    /// failed for now.
    /// # Errors
    /// See [`Error`]. A rejected webhook is no error: it is retried.
    pub async fn run_due(&self, project: ProjectId) -> Result<(), Error> {
        if self.0.host.settings(project).is_none() {
            return Ok(());
        }
        let caught_up = self.0.catch_up(project).await;
        caught_up.map_err(store::Failure::plain)?;
        webhooks::deliver(&self.0, project).await
    }
}

#[cfg(test)]
mod tests;
