//! The ids of objects that adapters created at providers, kept as notes in the journal.

use actors::{Handle, notes};
use async_trait::async_trait;
use dashmap::DashMap;
use domain::id::ProjectId;
use payments_port::{ObjectIds, Result};

actors::note_kinds! {
    /// The provider's id of an object that was created once, by the hash of what it is.
    pub struct ObjectIdNote: 4, "object made at the provider", (ProjectId, [u8; 16]) => String;
}

pub(super) struct StoredObjectIds {
    handle: Handle,
    made: DashMap<(ProjectId, [u8; 16]), String>,
}

impl StoredObjectIds {
    pub(super) fn new(handle: Handle) -> Result<Self, notes::Error> {
        let made = notes::all::<ObjectIdNote>(&handle)?.into_iter().collect();
        Ok(Self { handle, made })
    }

    async fn put(&self, notes: Vec<persistence::Note>) -> Result<()> {
        let put = notes::put_all(&self.handle, notes).await;
        put.map_err(payments_port::Error::unavailable)
    }
}

#[async_trait]
impl ObjectIds for StoredObjectIds {
    fn find(&self, project: ProjectId, what: [u8; 16]) -> Option<String> {
        self.made.get(&(project, what)).map(|id| id.clone())
    }

    async fn remember(&self, project: ProjectId, what: [u8; 16], id: String) -> Result<()> {
        let key = (project, what);
        let note = notes::put::<ObjectIdNote>(&key, &id);
        self.made.insert(key, id);
        self.put(vec![note]).await
    }

    async fn forget_all(&self, project: ProjectId) -> Result<()> {
        let keys: Vec<_> = self.made.iter().map(|entry| *entry.key()).collect();
        let of_project = keys.into_iter().filter(|(whose, _)| *whose == project);
        let notes = of_project.map(|key| {
            self.made.remove(&key);
            notes::forget::<ObjectIdNote>(&key)
        });
        self.put(notes.collect()).await
    }
}
