//! Where requests go: which cells there are, who leads them, and which of them has a project or an API key. A leader
//! knows by itself what is in its own log; what the others have they announce.
//!
//! With one cell there is nothing to know, and a request costs one look at that.

mod announcement;
mod neighbours;
mod refresh;
mod routing_key;
mod table;

use std::sync::{
    Arc,
    atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Release},
    },
};

use arc_swap::ArcSwap;
use tokio::sync::{Notify, watch};

use crate::front::{
    forward::{Forwarder, Link},
    origin::Origin,
};
pub use announcement::Announcement;
pub use neighbours::{Neighbours, Unreached};
pub(super) use routing_key::Placement;
pub use routing_key::{FindRoutingKey, RoutingKey};
pub use table::CellLeaders;
use table::RoutingTable;

/// What a process knows of the cells. Cheap to clone.
#[derive(Clone)]
pub struct Routes(Arc<Inner>);

struct Inner {
    own: Arc<Link>,
    forwarder: Forwarder,
    /// Whether there is more than one cell.
    is_several: AtomicBool,
    /// Whether the log that this process leads names others.
    names_others: AtomicBool,
    /// Whether this process leads the own one.
    leads: AtomicBool,
    /// Replaced by the refresher alone.
    table: ArcSwap<RoutingTable>,
    refreshes: Refreshes,
    /// Counts what may bring a request another destination: leaders and announcements.
    changes: watch::Sender<u64>,
    /// Counts these, and all answers of leaders.
    progress: watch::Sender<u64>,
}

/// The refreshes, by numbers that begin with 1.
#[derive(Default)]
struct Refreshes {
    /// Tells the refresher that a request waits for the next one.
    wanted: Notify,
    begun: AtomicU64,
    ended: AtomicU64,
    /// The latest in which the list of the cells was read.
    listed: AtomicU64,
}

impl Routes {
    /// The routes of a process of this cell, which knows of no others yet.
    pub(super) fn new(own: i16, forwarder: Forwarder) -> Self {
        let own = forwarder.link(own);
        let table = RoutingTable::new(Arc::clone(&own));
        Self(Arc::new(Inner {
            own,
            forwarder,
            is_several: AtomicBool::new(false),
            names_others: AtomicBool::new(false),
            leads: AtomicBool::new(false),
            table: ArcSwap::from_pointee(table),
            refreshes: Refreshes::default(),
            changes: watch::Sender::new(0),
            progress: watch::Sender::new(0),
        }))
    }

    /// Speaks to the leaders of the other cells.
    pub fn neighbours(&self) -> Neighbours {
        Neighbours::new(self.clone())
    }

    /// The log that this process is about to lead says that projects of it went to other cells: there are some, also
    /// before the list of them was read.
    pub fn others_are_named(&self) {
        self.0.names_others.store(true, Release);
        self.0.is_several.store(true, Release);
    }

    /// Waits for a refresh that begins after this call, which [`Routes::keep`] makes soon. `true`: it has read the list
    /// of the cells. A process waits for one before it takes requests, for until then it takes its cell for the only
    /// one, and the leader of a cell that divides waits for one before its projects go.
    pub async fn refreshed(&self) -> bool {
        let mut progress = self.progress();
        let refreshes = &self.0.refreshes;
        let number = self.ask_for_refresh();
        while refreshes.ended.load(Acquire) < number {
            // Its sender lives as long as this.
            drop(progress.changed().await);
        }
        refreshes.listed.load(Acquire) >= number
    }

    pub(super) fn own(&self) -> &Arc<Link> {
        &self.0.own
    }

    pub(super) fn is_several(&self) -> bool {
        self.0.is_several.load(Acquire)
    }

    /// Whether this process leads the own cell.
    pub(super) fn leads(&self) -> bool {
        self.0.leads.load(Acquire)
    }

    /// Says whether this process leads from now on, after a change that has this number and is made here.
    pub(super) fn set_leads(&self, leads: bool, change: impl FnOnce(u64)) {
        // One after the other, so that the latest change is the one with the latest number.
        self.0.changes.send_modify(|count| {
            *count = count.wrapping_add(1);
            change(*count);
            self.0.leads.store(leads, Release);
        });
        self.progressed();
    }

    /// The cell of what a request is about, as the leaders have announced it.
    pub(super) fn announced(&self, key: &RoutingKey) -> Option<i16> {
        self.0.table.load().place(key, self.leads())
    }

    pub(super) fn leader(&self, cell: i16) -> Option<(Arc<Link>, Origin)> {
        let table = self.0.table.load();
        let route = table.cell(cell)?;
        Some((Arc::clone(&route.link), route.leader.clone()?))
    }

    /// Has a refresh begin soon, and returns its number.
    pub(super) fn ask_for_refresh(&self) -> u64 {
        let number = self.0.refreshes.begun.load(Acquire).saturating_add(1);
        self.0.refreshes.wanted.notify_one();
        number
    }

    /// Whether all other leaders have answered in this refresh or a later one: what is nowhere now is in no cell.
    pub(super) fn have_all_answered(&self, refresh: u64) -> bool {
        self.0.table.load().has_answered(refresh, self.leads())
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    pub(super) fn progress(&self) -> watch::Receiver<u64> {
        self.0.progress.subscribe()
    }

    fn changed(&self) {
        self.0
            .changes
            .send_modify(|count| *count = count.wrapping_add(1));
        self.progressed();
    }

    fn progressed(&self) {
        self.0
            .progress
            .send_modify(|count| *count = count.wrapping_add(1));
    }
}
