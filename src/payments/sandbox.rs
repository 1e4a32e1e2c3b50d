//! What the sandbox needs of the service: settings and clocks out of the catalog, derived keys, and
//! notes in the journal to keep its objects in.

use std::sync::Arc;

use actors::Handle;
use domain::{Timestamp, id::ProjectId};

use super::accounts::Accounts;
use crate::{
    notes::{self, Key, Note},
    provider::{
        sandbox::{BoxFuture, Keys, Notebook, NotebookError, Sandbox, Settings, World},
        signature::SigningSecret,
    },
};

pub(super) fn start(handle: &Handle, accounts: &Arc<Accounts>) -> Sandbox {
    let world = Outside {
        handle: handle.clone(),
        accounts: Arc::clone(accounts),
    };
    Sandbox::new(Arc::new(world), Arc::new(Notes(handle.clone())))
}

struct Outside {
    handle: Handle,
    accounts: Arc<Accounts>,
}

impl World for Outside {
    fn settings(&self, project: ProjectId) -> Option<Settings> {
        let project = self.accounts.catalog().project(project).ok()?;
        let sandbox = project.sandbox()?;
        Some(Settings {
            name: project.project.name.clone(),
            delay_seconds: sandbox.delay_seconds,
            duplicates: sandbox.duplicates,
            shuffle: sandbox.shuffle,
        })
    }

    fn now(&self, project: ProjectId) -> Timestamp {
        match self.accounts.catalog().project(project) {
            Ok(project) => self.handle.now_in(&project.scope),
            Err(_) => self.handle.now(),
        }
    }

    fn wall_clock(&self) -> Timestamp {
        self.handle.now()
    }

    fn keys(&self, project: ProjectId) -> Option<Keys> {
        let keys = self.accounts.sandbox_keys(project);
        Some(Keys {
            secret_key: keys.secret_key,
            webhook_secret: SigningSecret::new(&keys.webhook_secret)?,
        })
    }

    fn public_url(&self) -> String {
        self.accounts.place().public_url.clone()
    }

    fn webhook_url(&self, project: ProjectId) -> String {
        format!(
            "{}/webhooks/stripe/{project}",
            self.accounts.place().own_url
        )
    }
}

struct Notes(Handle);

impl Notebook for Notes {
    fn load(
        &self,
        project: ProjectId,
    ) -> BoxFuture<'static, Result<Vec<(String, String)>, NotebookError>> {
        let handle = self.0.clone();
        Box::pin(async move {
            notes::of_sandbox(&handle, project).map_err(|error| NotebookError(error.to_string()))
        })
    }

    fn save(
        &self,
        project: ProjectId,
        notes: Vec<(String, Option<String>)>,
    ) -> BoxFuture<'static, Result<(), NotebookError>> {
        let handle = self.0.clone();
        Box::pin(async move {
            let notes = notes.into_iter().map(|(id, json)| match json {
                Some(json) => Note::Sandbox { project, id, json }.put(),
                None => Key::Sandbox(project, id).forget(),
            });
            let saved = handle.put_notes(notes.collect()).await;
            saved.map_err(|error| NotebookError(error.to_string()))
        })
    }
}
