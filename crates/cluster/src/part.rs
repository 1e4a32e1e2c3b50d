//! This process' part in a cluster, for its metrics, the administration and the dashboard: what it knows of itself and
//! of the others, and the way to hand the log over.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::http::HeaderMap;
use domain::id::ProjectId;
use parking_lot::Mutex;
use prometheus_client::{encoding::text::encode, registry::Registry};
use serde::de::DeserializeOwned;
use tokio::{sync::Notify, time::sleep};

use crate::{
    front::{FrontFigures, FrontLink},
    metrics::ClusterMetrics,
    postgres::{CellState, ClusterState, Examiner, MemberState, Standing},
};

/// A process that is to become a cell may lag by less when it is made.
const NEAR_FRAMES: u64 = 1_000;
/// How often it is looked whether the disk is full, and how many times it has to be.
const FULL_POLL_INTERVAL: Duration = Duration::from_secs(1);
const FULL_POLLS: u32 = 10;
/// How often the database is asked.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// See the module.
pub struct ClusterPart {
    /// Where the others reach this process.
    address: Box<str>,
    cell: i16,
    /// Set once the process has a front.
    front: Arc<OnceLock<FrontLink>>,
    examiner: Arc<Examiner>,
    pub(crate) standing: Arc<Standing>,
    pub(crate) leads: AtomicBool,
    seen: Mutex<Option<Arc<ClusterState>>>,
    ending: Mutex<Option<Ending>>,
    to_end: Notify,
}

/// Why a process ends that leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Another takes its place.
    HandOver,
    /// A part of its projects goes on in another cell.
    Split {
        /// The projects that go.
        projects: Vec<ProjectId>,
        /// The cell that they go to.
        to: i16,
    },
}

/// Why a cell is not split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitRefusal {
    /// The database does not answer.
    Unreachable,
    /// There is such a cell already.
    Exists,
    /// No process follows this cell to become that one.
    NoJoiner,
    /// The process that does has read too little yet.
    Behind,
}

impl fmt::Debug for ClusterPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterPart").finish_non_exhaustive()
    }
}

/// Why the log is not handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoFollower;

impl ClusterPart {
    /// Of a process that follows, which others reach at `address`.
    pub(crate) fn new(
        (cell, address): (i16, Box<str>),
        examiner: Examiner,
        standing: Arc<Standing>,
        front: Arc<OnceLock<FrontLink>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            address,
            cell,
            front,
            examiner: Arc::new(examiner),
            standing,
            leads: AtomicBool::new(false),
            seen: Mutex::default(),
            ending: Mutex::default(),
            to_end: Notify::new(),
        })
    }

    /// Marks this process as the leader.
    pub fn leads(&self) {
        self.leads.store(true, Ordering::Release);
    }

    /// The cluster as it was seen a few seconds ago; `None` where the database has not answered lately.
    pub fn seen(&self) -> Option<Arc<ClusterState>> {
        self.seen.lock().clone()
    }

    /// Asks the database, again and again.
    pub async fn watch(self: Arc<Self>) {
        loop {
            self.look().await;
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Ends this process' lead in order, so that another takes over.
    /// # Errors
    /// [`NoFollower`] when no other process that could was seen within the last 10 s.
    pub async fn hand_over(&self) -> Result<(), NoFollower> {
        let state = self.look().await.ok_or(NoFollower)?;
        let able = |member: &&MemberState| member.is_present() && member.joins.is_none();
        let present = state.members.iter().filter(able);
        // A former run of this process may have been there a moment ago.
        let mut others = present.filter(|member| *member.address != *self.address);
        others.next().ok_or(NoFollower)?;
        self.end(Ending::HandOver);
        Ok(())
    }

    /// Ends this process' lead in order, as a part of its projects goes on in a new cell, which a process that follows
    /// becomes.
    /// # Errors
    /// [`SplitRefusal`].
    pub async fn split(&self, projects: Vec<ProjectId>, to: i16) -> Result<(), SplitRefusal> {
        let cells = self.cells().await.ok_or(SplitRefusal::Unreachable)?;
        if cells.iter().any(|cell| cell.cell == to) {
            return Err(SplitRefusal::Exists);
        }
        let state = self.look().await.ok_or(SplitRefusal::Unreachable)?;
        let joining = state.members.iter();
        let joining = joining.filter(|member| member.is_present() && member.joins == Some(to));
        let lag = joining.map(|member| state.lag(member)).min();
        match lag {
            None => Err(SplitRefusal::NoJoiner),
            Some(NEAR_FRAMES..) => Err(SplitRefusal::Behind),
            Some(_) => {
                self.end(Ending::Split { projects, to });
                Ok(())
            }
        }
    }

    /// Hands the log over, again and again, while the disk of this process has been full for a while: another one may have
    /// room.
    pub async fn leave_full_disk(&self, is_full: impl Fn() -> bool) {
        let mut since = 0_u32;
        loop {
            sleep(FULL_POLL_INTERVAL).await;
            since = match is_full() {
                true => since.saturating_add(1),
                false => 0,
            };
            if since >= FULL_POLLS {
                since = 0;
                if self.hand_over().await.is_ok() {
                    tracing::warn!("The disk is full: the log is handed over");
                }
            }
        }
    }

    fn end(&self, why: Ending) {
        *self.ending.lock() = Some(why);
        self.to_end.notify_one();
    }

    /// Returns once this process is to end, and why.
    pub async fn is_to_end(&self) -> Ending {
        loop {
            self.to_end.notified().await;
            if let Some(why) = self.ending.lock().take() {
                return why;
            }
        }
    }

    /// The cells in the database, with the addresses of their leaders; `None` where it does not answer.
    pub async fn cells(&self) -> Option<Vec<CellState>> {
        self.examine(Examiner::cells).await
    }

    /// The number of this process' cell.
    pub const fn cell(&self) -> i16 {
        self.cell
    }

    /// The numbers of the other cells, in order.
    pub fn others(&self) -> Vec<i16> {
        let leaders = self.front.get().map(|front| front.neighbours.leaders());
        let leaders = leaders.unwrap_or_default().into_iter();
        leaders.map(|(cell, _)| cell).collect()
    }

    /// The lowest cell, which keeps users and sessions, if that is another one.
    pub fn lowest(&self) -> Option<i16> {
        let lowest = self.others().first().copied();
        lowest.filter(|lowest| *lowest < self.cell)
    }

    /// What the leader of another cell answers to a request between processes, which has a path below `/cluster/`;
    /// `None` where it does not.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        cell: i16,
        path: &str,
        headers: HeaderMap,
        client: IpAddr,
    ) -> Option<T> {
        let path = format!("/cluster/{path}").parse().ok()?;
        let client = SocketAddr::new(client, 0);
        let neighbours = &self.front.get()?.neighbours;
        let answer = neighbours.get(cell, path, headers, client).await;
        let answer = answer.ok().filter(|answer| answer.status().is_success())?;
        serde_json::from_slice(answer.body()).ok()
    }

    /// The answer of each other cell, with its number.
    pub async fn ask_others<T: DeserializeOwned>(
        &self,
        path: &str,
        client: IpAddr,
    ) -> Vec<(i16, Option<T>)> {
        let mut all = Vec::new();
        for cell in self.others() {
            let answer = self.ask(cell, path, HeaderMap::new(), client).await;
            all.push((cell, answer));
        }
        all
    }

    /// What the front has done so far.
    pub(crate) fn figures(&self) -> FrontFigures {
        let front = self.front.get();
        front.map_or_else(FrontFigures::default, |front| front.counters.read())
    }

    /// All metrics of a process that follows, as Prometheus reads them.
    /// # Errors
    /// [`fmt::Error`] when one cannot be encoded.
    pub fn render(self: &Arc<Self>) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix("scrip");
        registry.register_collector(Box::new(ClusterMetrics(Arc::clone(self))));
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }

    /// What the database shows; `None` where it does not answer.
    async fn examine<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Examiner) -> Result<T, persistence::Error> + Send + 'static,
    ) -> Option<T> {
        let examiner = Arc::clone(&self.examiner);
        let looked = tokio::task::spawn_blocking(move || look(&examiner)).await;
        looked.ok().and_then(Result::ok)
    }

    async fn look(&self) -> Option<Arc<ClusterState>> {
        let state = self.examine(Examiner::cluster).await;
        let state = state.flatten().map(Arc::new);
        self.seen.lock().clone_from(&state);
        state
    }
}
