//! Since when a project's provider answers nothing at all: not that it refuses a question or fails over one
//! thing, but that none of what is asked gets an answer.

use std::sync::Arc;

use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};

/// See the module. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Silence(Arc<DashMap<ProjectId, Timestamp>>);

impl Silence {
    /// Takes down what came of a question.
    pub(crate) fn note<T>(
        &self,
        project: ProjectId,
        now: Timestamp,
        answer: &Result<T, port::Error>,
    ) {
        match answer {
            Err(error) if error.is_silence() => drop(self.0.entry(project).or_insert(now)),
            _ => drop(self.0.remove(&project)),
        }
    }

    /// Since when nothing was answered; `None`: the last question was.
    pub(crate) fn since(&self, project: ProjectId) -> Option<Timestamp> {
        self.0.get(&project).map(|since| *since)
    }
}
