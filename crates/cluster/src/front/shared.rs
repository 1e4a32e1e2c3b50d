//! What all clones of a front share: who leads the own cell, and to whom a request goes.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use arc_swap::ArcSwap;
use axum::{
    Router,
    http::{HeaderMap, Uri},
    response::Response,
};
use tokio::time::timeout;
use wire::Error;

use crate::front::{
    credentials::FindOwner,
    forward::{Forwarder, Link},
    hold::{Counters, WaitingRoom},
    origin::Origin,
    refusal::refuse,
    routes::{FindRoutingKey, Placement, Routes, RoutingKey},
};

/// After another process came to lead: how much longer an answer of the former one is waited for, which may still be
/// true, and how long a stream of it goes on.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Who leads the own cell, as far as this process knows.
pub(super) enum Leader<R> {
    Unknown,
    Elsewhere(Origin),
    Here(Leading<R>),
}

/// What a process that leads answers with.
pub(super) struct Leading<R> {
    pub(super) service: R,
    /// Answers the other processes.
    pub(super) internal: Router,
    pub(super) place: Placement,
    /// Whose the credential in these headers is.
    pub(super) whose: FindOwner,
    /// Whether it still knows that it leads.
    pub(super) leads: Arc<dyn Fn() -> bool + Send + Sync>,
}

pub(super) struct Leadership<R> {
    /// Counts the changes.
    pub(super) term: u64,
    pub(super) leader: Leader<R>,
}

pub(super) struct Shared<R> {
    pub(super) state: ArcSwap<Leadership<R>>,
    pub(super) routes: Routes,
    pub(super) find: FindRoutingKey,
    pub(super) local: Router,
    pub(super) forwarder: Forwarder,
    pub(super) waiting: WaitingRoom,
    pub(super) counters: Arc<Counters>,
}

/// To whom a request goes.
pub(super) enum Destination {
    /// The service of this process.
    Here,
    /// The process that leads a cell.
    Leader(Arc<Link>, Origin),
    /// A cell without a known leader. `is_own`: who leads it will be in the log.
    NoLeader { is_own: bool },
    /// No cell is known to have what it is about.
    Nowhere,
}

impl<R> Shared<R> {
    /// What a request is about, where that matters.
    pub(super) fn routing_key(&self, uri: &Uri, headers: &HeaderMap) -> Option<RoutingKey> {
        match self.routes.is_several() {
            true => (self.find)(uri, headers),
            false => None,
        }
    }

    /// The cell that a project or an API key is in, by the own log of a process that leads.
    fn in_log(&self, key: &RoutingKey) -> Option<i16> {
        match (key, &self.state.load().leader) {
            (RoutingKey::Project(_) | RoutingKey::ApiKey(_), Leader::Here(leading)) => {
                (leading.place)(key)
            }
            _ => None,
        }
    }

    /// Whether the log of this process, which leads, says that what a request is about went to another cell.
    pub(super) fn has_moved_away(&self, key: Option<&RoutingKey>) -> bool {
        let cell = key.and_then(|key| self.in_log(key));
        cell.is_some_and(|cell| cell != self.routes.own().cell)
    }

    /// The cell that a request is for; `None`: none is known.
    pub(super) fn cell(&self, key: Option<&RoutingKey>) -> Option<i16> {
        let Some(key) = key else {
            return Some(self.routes.own().cell);
        };
        self.in_log(key).or_else(|| self.routes.announced(key))
    }

    /// To whom a request goes. What all cells were `asked` for in a refresh, and none has, goes to the own one, which
    /// refuses it.
    pub(super) fn destination(&self, key: Option<&RoutingKey>, asked: Option<u64>) -> Destination {
        let own = self.routes.own();
        let is_nowhere = || asked.is_some_and(|refresh| self.routes.have_all_answered(refresh));
        match self.cell(key) {
            Some(cell) if cell != own.cell => match self.routes.leader(cell) {
                Some((link, leader)) => Destination::Leader(link, leader),
                None => Destination::NoLeader { is_own: false },
            },
            None if !is_nowhere() => Destination::Nowhere,
            _ => match &self.state.load().leader {
                Leader::Unknown => Destination::NoLeader { is_own: true },
                Leader::Elsewhere(leader) => Destination::Leader(Arc::clone(own), leader.clone()),
                Leader::Here(_) => Destination::Here,
            },
        }
    }

    pub(super) fn is_at(&self, origin: &Origin) -> bool {
        matches!(&self.state.load().leader, Leader::Elsewhere(at) if at == origin)
    }

    /// Ends once `leader` no longer leads `cell`, or `cell` no longer has `key`, and nothing has changed for
    /// [`CHANGE_TIMEOUT`].
    pub(super) async fn superseded(
        self: Arc<Self>,
        cell: i16,
        leader: Origin,
        key: Option<RoutingKey>,
    ) {
        let mut changes = self.routes.changes();
        loop {
            changes.borrow_and_update();
            let leads = match cell == self.routes.own().cell {
                true => self.is_at(&leader),
                false => (self.routes.leader(cell)).is_some_and(|(_, origin)| origin == leader),
            };
            let has_key = || self.cell(key.as_ref()).is_none_or(|of_key| of_key == cell);
            if leads && (key.is_none() || has_key()) {
                drop(changes.changed().await);
            } else if timeout(CHANGE_TIMEOUT, changes.changed()).await.is_err() {
                return;
            }
        }
    }

    pub(super) fn refused(&self, error: &Error, headers: &HeaderMap) -> Response {
        self.counters.refused.fetch_add(1, Relaxed);
        refuse(error, headers)
    }
}
