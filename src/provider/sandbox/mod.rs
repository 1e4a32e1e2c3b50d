//! What the sandbox needs and offers; it serves nothing yet.
#![allow(missing_docs, dead_code)]
use super::signature::SigningSecret;
use domain::{Timestamp, id::ProjectId};
use futures_util::future::BoxFuture;
use std::sync::Arc;
pub trait World: Send + Sync + 'static {
    fn settings(&self, project: ProjectId) -> Option<Settings>;
    fn now(&self, project: ProjectId) -> Timestamp;
    fn keys(&self, project: ProjectId) -> Option<Keys>;
    fn public_url(&self) -> String;
    fn webhook_url(&self, project: ProjectId) -> String;
}
pub struct Settings {
    pub name: String,
    pub delay_seconds: u32,
    pub duplicates: u32,
    pub shuffle: bool,
}
pub struct Keys {
    pub secret_key: String,
    pub webhook_secret: SigningSecret,
}
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotebookError(pub String);
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);
pub trait Notebook: Send + Sync + 'static {
    fn load(
        &self,
        project: ProjectId,
    ) -> BoxFuture<'static, Result<Vec<(String, String)>, NotebookError>>;
    fn save(
        &self,
        project: ProjectId,
        notes: Vec<(String, Option<String>)>,
    ) -> BoxFuture<'static, Result<(), NotebookError>>;
}
#[derive(Clone)]
pub struct Sandbox;
impl Sandbox {
    pub fn new(_world: Arc<dyn World>, _notebook: Arc<dyn Notebook>) -> Self {
        Self
    }
    pub fn router(&self) -> axum::Router {
        axum::Router::new()
    }
    pub async fn next_due(&self, _project: ProjectId) -> Result<Option<Timestamp>, Error> {
        Ok(None)
    }
    pub async fn run_due(&self, _project: ProjectId) -> Result<(), Error> {
        Ok(())
    }
}
