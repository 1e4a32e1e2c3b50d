//! Connects the sandbox to the service: settings and clocks from the catalog, derived keys, and notes in the journal
//! for its objects. Also advances its clock for an administrator, step by step, so that everything happens at its own
//! instant.

use std::sync::Arc;

use ::sandbox::{
    Host, Keys, NoteStore, NoteStoreError, Sandbox, Settings, fault_profile::FaultProfile,
};
use actors::{
    Handle,
    notes::{self, NoteKind},
};
use async_trait::async_trait;
use domain::{
    Timestamp,
    catalog::{Advance, Refusal},
    id::ProjectId,
};
use payments::Payments;
use serde_json::value::RawValue;
use stripe::signature::SigningSecret;
use tokio::sync::Mutex;

use super::accounts::Accounts;

/// The most events of a sandbox's clock in one move, such as renewals.
const MAX_STEPS: usize = 10_000;

/// The sandboxes of all projects. Cheap to clone.
#[derive(Clone)]
pub struct Sandboxes {
    sandbox: Sandbox,
    handle: Handle,
    accounts: Arc<Accounts>,
    /// One move at a time.
    turn: Arc<Mutex<()>>,
}

/// Why a sandbox's clock could not be moved on.
#[derive(Debug, Clone, thiserror::Error)]
#[expect(missing_docs, reason = "the variants say what they are")]
pub enum AdvanceError {
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    #[error(transparent)]
    Sandbox(#[from] ::sandbox::Error),
    #[error(transparent)]
    Payments(#[from] payments::Error),
}

impl Sandboxes {
    /// Starts the sandboxes, with a fault profile if there is one, and connects them to the projects' accounts.
    #[must_use]
    pub fn start(handle: &Handle, accounts: &Arc<Accounts>, faults: bool) -> Self {
        let host = SandboxHost {
            handle: handle.clone(),
            accounts: Arc::clone(accounts),
        };
        let fault_profile = match faults {
            true => FaultProfile::as_stripe(),
            false => FaultProfile::default(),
        };
        let notes = Arc::new(Notes(handle.clone()));
        let sandbox = Sandbox::new(Arc::new(host), notes, fault_profile);
        accounts.set_sandbox(sandbox.clone());
        Self {
            sandbox,
            handle: handle.clone(),
            accounts: Arc::clone(accounts),
            turn: Arc::default(),
        }
    }

    /// The server of its pages and its API.
    pub const fn server(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Advances a sandbox's clock by so many seconds, and returns its new instant. All that falls due on the way has
    /// happened by then.
    /// # Errors
    /// See [`AdvanceError`]; the clock may have moved in part.
    pub async fn advance(
        &self,
        payments: &Payments,
        project: ProjectId,
        seconds: i64,
    ) -> Result<Timestamp, AdvanceError> {
        let by = Advance::new(seconds).map_err(catalog::Error::from)?;
        let _turn = self.turn.lock().await;
        let catalog = self.accounts.catalog();
        let start = catalog.project(project)?;
        if start.sandbox().is_none() {
            return Err(catalog::Error::from(Refusal::NoSandbox).into());
        }
        let by_millis = by.seconds().saturating_mul(1000);
        let target = start.scope.ahead_millis.saturating_add(by_millis);
        for _ in 0..MAX_STEPS {
            let next = self.sandbox.next_due(project).await?;
            let now = self.handle.now();
            let ahead = next.map(|next| next.0.saturating_sub(now.0));
            let Some(ahead) = ahead.filter(|ahead| *ahead < target) else {
                break;
            };
            catalog.advance_sandbox(project, ahead).await?;
            self.sandbox.run_due(project).await?;
        }
        catalog.advance_sandbox(project, target).await?;
        self.sandbox.run_due(project).await?;
        let moved = catalog.project(project)?;
        payments.catch_up(&moved).await?;
        Ok(self.handle.now_in(&moved.scope))
    }
}

struct SandboxHost {
    handle: Handle,
    accounts: Arc<Accounts>,
}

impl Host for SandboxHost {
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

/// An object of a project's sandbox, by its identifier.
#[derive(Debug)]
pub struct SandboxNote;

impl NoteKind for SandboxNote {
    const NUMBER: u8 = 5;
    const NAME: &'static str = "sandbox object";
    type Key = (ProjectId, String);
    type Body = Box<RawValue>;

    fn check((_, id): &Self::Key, object: &Box<RawValue>) -> Result<(), String> {
        ::sandbox::check_object(id, object.get())
    }
}

struct Notes(Handle);

#[async_trait]
impl NoteStore for Notes {
    async fn load(&self, project: ProjectId) -> Result<Vec<(String, String)>, NoteStoreError> {
        let objects = notes::of::<SandboxNote, _, _>(&self.0, &project);
        let objects = objects.map_err(|error| NoteStoreError(error.to_string()))?;
        let objects = objects.into_iter();
        Ok(objects
            .map(|((_, id), json)| (id, json.get().to_owned()))
            .collect())
    }

    async fn save(
        &self,
        project: ProjectId,
        notes: Vec<(String, Option<String>)>,
    ) -> Result<(), NoteStoreError> {
        let notes = notes.into_iter().map(|(id, json)| {
            let key = (project, id);
            let Some(json) = json else {
                return Ok(notes::forget::<SandboxNote>(&key));
            };
            let json = RawValue::from_string(json);
            let json = json.map_err(|error| NoteStoreError(error.to_string()))?;
            Ok(notes::put::<SandboxNote>(&key, &json))
        });
        let saved = self.0.put_notes(notes.collect::<Result<_, _>>()?).await;
        saved.map_err(|error| NoteStoreError(error.to_string()))
    }
}
