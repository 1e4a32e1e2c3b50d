//! What adapters made at providers, kept as notes in the journal.

use actors::Handle;
use dashmap::DashMap;
use domain::id::ProjectId;
use payments::notes::{self, Key, Note};
use port::{Asked, Memory};

/// See the module.
pub(super) struct Kept {
    handle: Handle,
    made: DashMap<(ProjectId, [u8; 16]), String>,
}

impl Kept {
    pub(super) fn new(handle: Handle, stored: &[Note]) -> Self {
        let made = DashMap::new();
        for note in stored {
            if let Note::Made { project, what, id } = note {
                made.insert((*project, *what), id.clone());
            }
        }
        Self { handle, made }
    }

    fn put(&self, notes: Vec<persistence::Note>) -> Asked<'static, ()> {
        let handle = self.handle.clone();
        Box::pin(async move {
            let put = handle.put_notes(notes).await;
            put.map_err(|error| port::Error::Unavailable {
                reason: error.to_string(),
                retry_after_seconds: None,
            })
        })
    }
}

impl Memory for Kept {
    fn made(&self, project: ProjectId, what: [u8; 16]) -> Option<String> {
        self.made.get(&(project, what)).map(|id| id.clone())
    }

    fn remember(&self, project: ProjectId, what: [u8; 16], id: String) -> Asked<'static, ()> {
        self.made.insert((project, what), id.clone());
        self.put(vec![Note::Made { project, what, id }.put()])
    }

    fn forget_all(&self, project: ProjectId) -> Asked<'static, ()> {
        let keys: Vec<_> = self.made.iter().map(|entry| *entry.key()).collect();
        let of_project = keys.into_iter().filter(|(whose, _)| *whose == project);
        let notes = of_project.map(|(project, what)| {
            self.made.remove(&(project, what));
            Key::made(project, &what).forget()
        });
        let (handle, notes) = (self.handle.clone(), notes.collect::<Vec<_>>());
        Box::pin(async move {
            let put = notes::put_all(&handle, notes).await;
            put.map_err(|error| port::Error::Unavailable {
                reason: error.to_string(),
                retry_after_seconds: None,
            })
        })
    }
}
