//! This process' part in a cluster, for its metrics, the administration and the dashboard: what it knows of itself and
//! of the others, and the way to hand the log over.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use persistence::postgres::{ClusterState, Examiner, MemberState, Standing};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, text::encode},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};
use tokio::{sync::Notify, time::sleep};

/// How often the database is asked.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Requests that passed by the front of this process, since its start.
#[derive(Debug, Clone, Copy, Default)]
pub struct FrontCounts {
    /// That wait for a leader now.
    pub held: u64,
    /// That the leader answered.
    pub forwarded: u64,
    /// That were refused: too many waited, or they waited for too long.
    pub refused: u64,
    /// Of which it is not known what became of them.
    pub unknown: u64,
}

/// See the module.
pub struct ClusterPart {
    /// Where the others reach this process.
    address: Box<str>,
    examiner: Arc<Examiner>,
    standing: Arc<Standing>,
    front: Box<dyn Fn() -> FrontCounts + Send + Sync>,
    leads: AtomicBool,
    seen: Mutex<Option<Arc<ClusterState>>>,
    handing_over: Notify,
}

impl fmt::Debug for ClusterPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterPart").finish_non_exhaustive()
    }
}

/// Why the log is not handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NobodyFollows;

impl ClusterPart {
    /// Of a process that follows, which others reach at `address`. `front` counts what passed by its front.
    #[must_use]
    pub fn new(
        address: Box<str>,
        examiner: Examiner,
        standing: Arc<Standing>,
        front: impl Fn() -> FrontCounts + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            address,
            examiner: Arc::new(examiner),
            standing,
            front: Box::new(front),
            leads: AtomicBool::new(false),
            seen: Mutex::default(),
            handing_over: Notify::new(),
        })
    }

    /// Says that this process leads.
    pub fn leads(&self) {
        self.leads.store(true, Ordering::Release);
    }

    /// The cluster as it was seen a few seconds ago; `None` where the database has not answered lately.
    #[must_use]
    pub fn seen(&self) -> Option<Arc<ClusterState>> {
        self.seen.lock().clone()
    }

    /// Asks the database, again and again.
    pub async fn watch(self: Arc<Self>) {
        loop {
            self.look().await;
            sleep(LOOK_EVERY).await;
        }
    }

    /// Ends this process' lead in order, so that another takes over.
    ///
    /// # Errors
    ///
    /// [`NobodyFollows`] when no other process that could was seen within the last 10 s.
    pub async fn hand_over(&self) -> Result<(), NobodyFollows> {
        let state = self.look().await.ok_or(NobodyFollows)?;
        let able = |member: &&MemberState| member.is_present() && member.joins.is_none();
        let present = state.members.iter().filter(able);
        // A former run of this process may have been there a moment ago.
        let mut others = present.filter(|member| *member.address != *self.address);
        others.next().ok_or(NobodyFollows)?;
        self.handing_over.notify_one();
        Ok(())
    }

    /// Returns once the log is to be handed over.
    pub async fn is_to_hand_over(&self) {
        self.handing_over.notified().await;
    }

    /// All metrics of a process that follows, as Prometheus reads them.
    ///
    /// # Errors
    ///
    /// [`fmt::Error`] when one cannot be encoded.
    pub fn render(self: &Arc<Self>) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix("scrip");
        registry.register_collector(Box::new(ClusterMetrics(Arc::clone(self))));
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }

    async fn look(&self) -> Option<Arc<ClusterState>> {
        let examiner = Arc::clone(&self.examiner);
        let looked = tokio::task::spawn_blocking(move || examiner.cluster()).await;
        let state = match looked {
            Ok(Ok(state)) => state.map(Arc::new),
            _ => None,
        };
        self.seen.lock().clone_from(&state);
        state
    }
}

/// The metrics of a process in a cluster.
#[derive(Debug)]
pub struct ClusterMetrics(pub Arc<ClusterPart>);

impl Collector for ClusterMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let part = &self.0;
        let signed = |figure: u64| i64::try_from(figure).unwrap_or(i64::MAX);
        let mut gauge = |name: &str, help: &str, value: i64| {
            let gauge = ConstGauge::new(value);
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
        };
        let leads = part.leads.load(Ordering::Acquire);
        gauge("cluster_leads", "Whether this process leads", leads.into())?;
        let head = part.standing.head();
        gauge(
            "cluster_head_frame",
            "The last frame of the log that this process has read or written",
            signed(head),
        )?;
        gauge(
            "cluster_folded_frame",
            "The last frame in this process' books",
            signed(part.standing.folded()),
        )?;
        if let Some(state) = part.seen() {
            gauge(
                "cluster_leader_known",
                "Whether any process leads, as the database shows; missing while it does not answer",
                state.leader.is_some().into(),
            )?;
            gauge(
                "cluster_lag_frames",
                "Frames in the database that this process has not read; missing while the database does not answer",
                signed(state.head.saturating_sub(head)),
            )?;
            let present = state.members.iter().filter(|member| member.is_present());
            gauge(
                "cluster_members",
                "Processes seen within 10 s",
                i64::try_from(present.count()).unwrap_or(i64::MAX),
            )?;
            gauge(
                "cluster_snapshots",
                "Snapshots of the books in the database",
                i64::try_from(state.snapshots.len()).unwrap_or(i64::MAX),
            )?;
            if let Some(age) = state.snapshot_age() {
                gauge(
                    "cluster_snapshot_age_seconds",
                    "Seconds since the newest snapshot was made; missing where there is none",
                    signed(age.as_secs()),
                )?;
            }
        }
        let front = (part.front)();
        gauge(
            "cluster_requests_held",
            "Requests that wait for a leader",
            signed(front.held),
        )?;
        let mut counter = |name: &str, help: &str, value: u64| {
            let counter = ConstCounter::new(value);
            counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)
        };
        counter(
            "cluster_openings",
            "Times that this process opened the log: once to lead, then once for each lost connection to the database",
            part.standing.openings(),
        )?;
        counter(
            "cluster_requests_forwarded",
            "Requests that this process passed on and the leader answered",
            front.forwarded,
        )?;
        counter(
            "cluster_requests_refused",
            "Requests that this process refused because no leader was found in time or too many waited",
            front.refused,
        )?;
        counter(
            "cluster_requests_unknown",
            "Requests that were passed on and of which it is not known what became of them",
            front.unknown,
        )
    }
}
