//! Which open attempts to top up are left alone for a while.

use std::collections::HashMap;

use dashmap::DashMap;
use domain::{
    Timestamp,
    id::{ProjectId, WalletKey},
};

const MAX_PAUSE_SECONDS: i64 = 3600;

/// Open attempts that are not asked about before an instant of their project's clock, and how often they were.
#[derive(Default)]
pub(crate) struct Pauses(DashMap<ProjectId, HashMap<WalletKey, (Timestamp, u32)>>);

type Of = (ProjectId, WalletKey);

impl Pauses {
    pub(crate) fn is_over(&self, (project, wallet): Of, now: Timestamp) -> bool {
        let pauses = self.0.get(&project);
        let pause = pauses.and_then(|pauses| pauses.get(&wallet).copied());
        pause.is_none_or(|(until, _)| until <= now)
    }

    pub(crate) fn double(&self, (project, wallet): Of, now: Timestamp) {
        let mut pauses = self.0.entry(project).or_default();
        let pause = pauses.entry(wallet).or_insert((now, 0));
        let seconds = 1_i64.checked_shl(pause.1).unwrap_or(MAX_PAUSE_SECONDS);
        pause.0 = now.plus_seconds(seconds.clamp(1, MAX_PAUSE_SECONDS));
        pause.1 = pause.1.saturating_add(1);
    }

    /// Forgets those of a project's attempts that ended by another way.
    pub(crate) fn forget_old(&self, project: ProjectId, now: Timestamp) {
        let since = now.plus_seconds(-MAX_PAUSE_SECONDS);
        let is_over = |_: &ProjectId, pauses: &mut HashMap<_, (Timestamp, u32)>| {
            pauses.retain(|_, (until, _)| *until > since);
            pauses.is_empty()
        };
        self.0.remove_if_mut(&project, is_over);
    }

    pub(crate) fn set(&self, (project, wallet): Of, until: Timestamp) {
        let mut pauses = self.0.entry(project).or_default();
        pauses.insert(wallet, (until, 0));
    }

    pub(crate) fn end(&self, (project, wallet): Of) {
        if let Some(mut pauses) = self.0.get_mut(&project) {
            pauses.remove(&wallet);
        }
    }
}
