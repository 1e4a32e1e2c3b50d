//! A payment provider for trying things out: a part of Stripe's API with its hosted pages and its
//! signed webhooks, served by this program itself and reached by the same client as Stripe. No money
//! moves, and nothing of it is a security boundary between a shop and its own buyers: whoever has a
//! page's address may pay there, which gives credits away. It must therefore answer for no project
//! that did not choose it.
//!
//! `core` decides and is pure; `till` keeps a project's books, one request at a time and durable
//! before anybody hears of a change; `courier` delivers webhooks; `http` and `pages` are the surface.
//! `unkind` is what Stripe does to its callers on top of that.

use std::{future::Future, pin::Pin, sync::Arc};

use axum::Router;
use domain::{id::ProjectId, time::Timestamp};

use stripe::signature::SigningSecret;

pub mod account;
mod core;
mod courier;
mod http;
mod pages;
mod till;
pub mod unkind;

/// What is answered later.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What the sandbox needs of the service around it. Asked often: must not block.
pub trait World: Send + Sync + 'static {
    /// `None`: there is no such project, or its provider is another one: all of it is 404.
    fn settings(&self, project: ProjectId) -> Option<Settings>;
    /// The present instant by the project's own clock.
    fn now(&self, project: ProjectId) -> Timestamp;
    /// The present instant by the clock that webhooks are signed by, whatever a project's says.
    fn wall_clock(&self) -> Timestamp;
    /// What callers prove themselves with, and what webhooks are signed with; `None`: nobody is let
    /// in and nothing is sent.
    fn keys(&self, project: ProjectId) -> Option<Keys>;
    /// Where people reach this server, such as `http://127.0.0.1:8787`, without a trailing slash.
    fn public_url(&self) -> String;
    /// Where the project's webhooks are delivered.
    fn webhook_url(&self, project: ProjectId) -> String;
}

/// How a project's sandbox behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The shop's name, as pages show it.
    pub name: String,
    /// Seconds of the project's clock between an event and its delivery.
    pub delay_seconds: u32,
    /// Deliveries of each event beyond the first.
    pub duplicates: u32,
    /// Whether events that are due together go out in another order than they happened.
    pub shuffle: bool,
}

/// A project's secrets. Never printed.
#[derive(Clone)]
pub struct Keys {
    /// What the API is called with.
    pub secret_key: String,
    /// What webhooks are signed with.
    pub webhook_secret: SigningSecret,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(..)")
    }
}

/// Where the sandbox keeps its objects.
pub trait Notebook: Send + Sync + 'static {
    /// All that was saved of a project: identifiers and JSON, in any order.
    fn load(
        &self,
        project: ProjectId,
    ) -> BoxFuture<'static, Result<Vec<(String, String)>, NotebookError>>;
    /// Keeps notes, or forgets those that are `None`. All of one call survives together, and does
    /// once this answers. A call has less than 40 KB.
    fn save(
        &self,
        project: ProjectId,
        notes: Vec<(String, Option<String>)>,
    ) -> BoxFuture<'static, Result<(), NotebookError>>;
}

/// The notebook cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotebookError(pub String);

/// Whether a note is an object under its own identifier, or why not.
///
/// # Errors
///
/// What is wrong with it, in words; never what it says.
pub fn check_object(id: &str, json: &str) -> Result<(), String> {
    let object = serde_json::from_str::<core::objects::Note>(json);
    let object = object.map_err(|error| format!("its body is no object: {error}"))?;
    if object.head().id == id {
        Ok(())
    } else {
        Err("its body is another object".into())
    }
}

/// The sandbox cannot answer. Never contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What it keeps cannot be read or written. Whether a change was made is unknown.
    #[error("the sandbox's objects cannot be read or saved: {0}")]
    Notebook(#[from] NotebookError),
    /// The system has no randomness, or the sandbox itself is defective.
    #[error("the sandbox cannot go on: {0}")]
    Broken(String),
}

/// All projects' sandboxes. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox(Arc<till::Tills>);

impl Sandbox {
    /// Over what is saved already, each project's as unkind as this until a script says otherwise. Reads
    /// nothing before it is asked.
    #[must_use]
    pub fn new(
        world: Arc<dyn World>,
        notebook: Arc<dyn Notebook>,
        unkindness: unkind::Unkindness,
    ) -> Self {
        Self(Arc::new(till::Tills::new(world, notebook, unkindness)))
    }

    /// Serves everything under `/sandbox/{projectId}/`.
    pub fn router(&self) -> Router {
        http::router(self.clone())
    }

    /// How unkind a project's is now.
    #[must_use]
    pub fn unkindness(&self, project: ProjectId) -> unkind::Unkindness {
        self.0.till(project).unkind.lock().settings().clone()
    }

    /// Makes a project's as unkind as this, until it is switched again or the server starts anew.
    pub fn set_unkindness(&self, project: ProjectId, unkindness: unkind::Unkindness) {
        let now = self.0.now(project);
        self.0.till(project).unkind.lock().switch(unkindness, now);
    }

    /// The next instant of the project's clock at which something is due by itself: a session closes,
    /// a cycle renews, a payment is tried again, a subscription ends, a webhook goes out. For stepping
    /// a test clock. `None` also where the project has no sandbox.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn next_due(&self, project: ProjectId) -> Result<Option<Timestamp>, Error> {
        let Some(settings) = self.0.world.settings(project) else {
            return Ok(None);
        };
        let work = move |books: &mut core::books::Books| {
            Ok(core::due::next(books, settings.delay_seconds))
        };
        let next = self
            .0
            .at(project, work)
            .await
            .map_err(till::Failure::plain)?;
        let debit = self.0.till(project).unkind.lock().next_debit();
        let next = next.into_iter().chain(debit).min();
        Ok(next.map(|seconds| Timestamp(seconds.saturating_mul(1000))))
    }

    /// Does what is due by the project's clock now, and delivers the webhooks that are due; returns
    /// once they are delivered, or given up for now.
    ///
    /// # Errors
    ///
    /// See [`Error`]. A webhook that is not taken is none: it is tried again.
    pub async fn run_due(&self, project: ProjectId) -> Result<(), Error> {
        if self.0.world.settings(project).is_none() {
            return Ok(());
        }
        self.0
            .catch_up(project)
            .await
            .map_err(till::Failure::plain)?;
        courier::deliver(&self.0, project).await
    }
}

#[cfg(test)]
mod tests;
