//! Since when a project's provider has not answered any request. A refusal or an error about one object counts as an
//! answer; a rejected key does not.

use std::sync::Arc;

use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};

/// The first failure since the last answer, by project. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outages(Arc<DashMap<ProjectId, Timestamp>>);

impl Outages {
    pub(crate) fn note<T>(
        &self,
        project: ProjectId,
        now: Timestamp,
        answer: &Result<T, payments_port::Error>,
    ) {
        match answer {
            Err(error) if error.is_unanswered() => drop(self.0.entry(project).or_insert(now)),
            _ => drop(self.0.remove(&project)),
        }
    }

    /// The first unanswered request; `None` if the last one was answered.
    pub(crate) fn since(&self, project: ProjectId) -> Option<Timestamp> {
        self.0.get(&project).map(|since| *since)
    }
}
