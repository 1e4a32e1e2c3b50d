//! A semaphore whose permits are shared fairly, so that no project can use up those of another: a project may take
//! another permit while it holds fewer than are left. Alone it gets half of them; however many busy
//! projects there are, a new one finds as many free as each of them holds.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use actors::detached;
use domain::id::ProjectId;
use parking_lot::Mutex;

use super::Error;

/// A semaphore with `number` permits over all projects.
#[derive(Debug, Clone)]
pub(super) struct FairSemaphore {
    held: Arc<Mutex<HeldPermits>>,
    number: usize,
}

#[derive(Debug, Default)]
struct HeldPermits {
    /// Permits by the project that holds them.
    by_project: HashMap<ProjectId, usize>,
    all: usize,
}

/// One permit; released when it is dropped.
#[derive(Debug)]
struct FairPermit {
    project: ProjectId,
    held: Arc<Mutex<HeldPermits>>,
}

impl FairSemaphore {
    pub(super) fn new(number: usize) -> Self {
        Self {
            held: Arc::default(),
            number,
        }
    }

    /// Runs work under a permit, to its end even if the caller goes away.
    ///
    /// # Errors
    ///
    /// [`actors::Error::Overloaded`] when the project holds its share; else the error of the work.
    pub(super) async fn carry_out<T: Send + 'static>(
        &self,
        project: ProjectId,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = self.take(project).ok_or(actors::Error::Overloaded)?;
        let work = async move {
            let _permit = permit;
            work.await
        };
        detached(work)
            .await
            .unwrap_or(Err(Error::Wallet(actors::Error::Unavailable)))
    }

    /// A permit for this project; `None`: it holds its share.
    fn take(&self, project: ProjectId) -> Option<FairPermit> {
        let mut held = self.held.lock();
        let left = self.number.saturating_sub(held.all);
        let has = held.by_project.get(&project).copied().unwrap_or(0);
        if has >= left {
            return None;
        }
        held.by_project.insert(project, has.saturating_add(1));
        held.all = held.all.saturating_add(1);
        Some(FairPermit {
            project,
            held: Arc::clone(&self.held),
        })
    }
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        let mut held = self.held.lock();
        held.all = held.all.saturating_sub(1);
        if let Entry::Occupied(mut number) = held.by_project.entry(self.project) {
            *number.get_mut() = number.get().saturating_sub(1);
            if *number.get() == 0 {
                number.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(places: &FairSemaphore, project: u128) -> Vec<FairPermit> {
        std::iter::from_fn(|| places.take(ProjectId(project))).collect()
    }

    #[test]
    fn a_project_leaves_as_many_as_it_has() {
        let places = FairSemaphore::new(256);
        let first = all(&places, 1);
        let second = all(&places, 2);
        let third = all(&places, 3);
        assert_eq!((first.len(), second.len(), third.len()), (128, 64, 32));
        // Released permits go to projects that hold fewer.
        drop(first);
        assert_eq!(all(&places, 1).len(), 80);
        assert_eq!(all(&places, 3).len(), 64);
        drop((second, third));
        assert_eq!(places.held.lock().all, 0);
        assert!(places.held.lock().by_project.is_empty());
    }

    #[test]
    fn two_hundred_hungry_projects_leave_a_place_for_one_more() {
        let places = FairSemaphore::new(256);
        let mut held = Vec::new();
        // The projects take turns, as requests do.
        for _ in 0..256 {
            held.extend((0..200).filter_map(|project| places.take(ProjectId(project))));
        }
        assert!(places.take(ProjectId(1000)).is_some());
    }
}
