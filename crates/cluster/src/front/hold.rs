//! Requests that wait for a leader, or until it is known which cell they are for: a bounded number, of which each project
//! and client has its share, each for a bounded time, with their bodies unread where nobody was known to lead when they came.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use actors::Shares;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use wire::Error;

use crate::front::{
    credentials::{Holder, Places},
    refusal::{overloaded, unavailable},
};

/// How long a request may wait in all.
pub(super) const HOLD_TIMEOUT: Duration = Duration::from_secs(8);
/// Requests that may wait for a leader at once, and as many until it is known which cell they are for.
pub(super) const MAX_HELD: usize = 1_000;
/// The first pause before a leader that did not take a request is asked again; each is twice the one before.
const MIN_BACKOFF: Duration = Duration::from_millis(50);
/// The longest such pause.
const MAX_BACKOFF: Duration = Duration::from_millis(500);

/// What a front has done so far, for the process' metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrontFigures {
    /// Requests that wait now, for a leader or until it is known which cell they are for.
    pub held: u64,
    /// Requests that the leader answered.
    pub forwarded: u64,
    /// Times that a request was not taken, by a process that does not lead or cannot be reached.
    pub not_taken: u64,
    /// Requests of which it is not known what became of them.
    pub unknown: u64,
    /// Requests that were refused because too many waited or were under way, or because they waited for too long.
    pub refused: u64,
}

/// The same while it is counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(super) held: AtomicU64,
    pub(super) forwarded: AtomicU64,
    pub(super) not_taken: AtomicU64,
    pub(super) unknown: AtomicU64,
    pub(super) refused: AtomicU64,
}

impl Counters {
    pub(crate) fn read(&self) -> FrontFigures {
        FrontFigures {
            held: self.held.load(Relaxed),
            forwarded: self.forwarded.load(Relaxed),
            not_taken: self.not_taken.load(Relaxed),
            unknown: self.unknown.load(Relaxed),
            refused: self.refused.load(Relaxed),
        }
    }
}

/// Room for those that wait. Unknown keys cost others no place.
#[derive(Debug)]
pub(super) struct WaitingRoom {
    for_leader: Places,
    for_route: Places,
}

impl Default for WaitingRoom {
    fn default() -> Self {
        Self {
            for_leader: Shares::new(MAX_HELD),
            for_route: Shares::new(MAX_HELD),
        }
    }
}

/// One request's wait.
pub(super) struct Hold<'a> {
    room: &'a WaitingRoom,
    held: &'a AtomicU64,
    holder: Holder,
    /// When it times out: counted from the first time that it has to wait.
    until: Option<Instant>,
    pause: Duration,
}

/// Counts a request for as long as it waits, also where its client leaves.
struct Counted<'a>(&'a AtomicU64);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl<'a> Hold<'a> {
    pub(super) const fn new(room: &'a WaitingRoom, held: &'a AtomicU64, holder: Holder) -> Self {
        Self {
            room,
            held,
            holder,
            until: None,
            pause: MIN_BACKOFF,
        }
    }

    /// Waits until another process leads.
    /// # Errors
    /// `overloaded` where too many wait, `unavailable` when the time is up.
    pub(super) async fn for_change(
        &mut self,
        changes: &mut watch::Receiver<u64>,
    ) -> Result<(), Error> {
        self.wait(&self.room.for_leader, changes, None).await
    }

    /// Waits until more is known of where requests go.
    /// # Errors
    /// As for [`Hold::for_change`].
    pub(super) async fn for_route(
        &mut self,
        progress: &mut watch::Receiver<u64>,
    ) -> Result<(), Error> {
        self.wait(&self.room.for_route, progress, None).await
    }

    /// Waits until another process leads, or for a little while: the one that leads may not be ready yet.
    /// # Errors
    /// As for [`Hold::for_change`].
    pub(super) async fn for_a_while(
        &mut self,
        changes: &mut watch::Receiver<u64>,
    ) -> Result<(), Error> {
        let pause = self.pause;
        self.pause = pause.saturating_mul(2).min(MAX_BACKOFF);
        self.wait(&self.room.for_leader, changes, Some(pause)).await
    }

    async fn wait(
        &mut self,
        places: &Places,
        changes: &mut watch::Receiver<u64>,
        pause: Option<Duration>,
    ) -> Result<(), Error> {
        let now = Instant::now();
        let end = now.checked_add(HOLD_TIMEOUT).unwrap_or(now);
        let end = *self.until.get_or_insert(end);
        if end <= now {
            return Err(unavailable());
        }
        let _place = self.holder.take(places).ok_or_else(overloaded)?;
        self.held.fetch_add(1, Relaxed);
        let _counted = Counted(self.held);
        let again = pause.and_then(|pause| now.checked_add(pause));
        let wake = again.map_or(end, |again| again.min(end));
        match timeout_at(wake, changes.changed()).await {
            Ok(_) => Ok(()),
            Err(_) if wake < end => Ok(()),
            Err(_) => Err(unavailable()),
        }
    }
}
