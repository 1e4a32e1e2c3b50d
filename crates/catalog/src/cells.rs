//! The projects of this process, if several logs (cells) share the work. A log keeps the wallets and documents of all
//! projects that it ever had, also after a split; the catalog shows only the projects of its own cell, so that nothing
//! is done for others.

use std::collections::HashMap;

use actors::{Handle, notes};
use domain::{catalog::Document, id::ProjectId};

use super::{
    Error,
    key_hash::{ByHash, KeyHash},
};

/// The most projects that one split may move, so that it fits one append of the log.
pub const MAX_MOVED: usize = 1_000;

actors::note_kinds! {
    /// The cell of a project; without such a note it is the first.
    pub struct ProjectCellNote: 2, "project's cell", ProjectId => i16;
    /// The cell of this log, if it is not the first. Its key is always zero.
    pub struct OwnCellNote: 3, "cell", u64 => i16;
}

/// The cell of the wallets' log. A process that leads a log passes the cell that it `leads`, which is stored after a
/// split.
/// # Errors
/// [`Error::OtherCell`] when the log is another cell's, [`Error::Stored`] or [`Error::Notes`] when it cannot be read,
/// [`Error::Wallets`] when the note cannot be written.
pub async fn own_cell(handle: &Handle, leads: Option<i16>) -> Result<i16, Error> {
    let own = notes::one::<OwnCellNote>(handle, &0)?.unwrap_or_default();
    let Some(leads) = leads.filter(|leads| *leads != own) else {
        return Ok(own);
    };
    let cells = notes::all::<ProjectCellNote>(handle)?;
    if !cells.iter().any(|(_, cell)| *cell == leads) && !handle.documents()?.is_empty() {
        return Err(Error::OtherCell { own, leads });
    }
    let note = notes::put::<OwnCellNote>(&0, &leads);
    handle.put_notes(vec![note]).await?;
    Ok(leads)
}

/// Projects of this log that moved to another cell, as far as it knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Elsewhere {
    projects: HashMap<ProjectId, i16>,
    keys: ByHash<i16>,
}

impl Elsewhere {
    /// Returns the documents of the cell's own projects.
    pub(super) fn part(
        documents: Vec<Document>,
        own: i16,
        cells: &HashMap<ProjectId, i16>,
    ) -> (Vec<Document>, Self) {
        let cell = |document: &Document| {
            let cell = cells.get(&document.project());
            cell.copied().unwrap_or_default()
        };
        let mut elsewhere = Self::default();
        let (mine, others): (Vec<_>, Vec<_>) = documents
            .into_iter()
            .partition(|document| cell(document) == own);
        for document in others {
            let cell = cell(&document);
            match document {
                Document::Project(project) => drop(elsewhere.projects.insert(project.id, cell)),
                Document::Key(key) if key.revoked_at.is_none() => {
                    elsewhere.keys.insert(KeyHash(key.hash), cell);
                }
                _ => {}
            }
        }
        (mine, elsewhere)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.projects.is_empty()
    }

    pub(super) fn project(&self, id: &ProjectId) -> Option<i16> {
        self.projects.get(id).copied()
    }

    pub(super) fn key(&self, sha256: &[u8; 32]) -> Option<i16> {
        self.keys.get(&KeyHash(*sha256)).copied()
    }
}
