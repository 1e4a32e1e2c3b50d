//! The metrics of one process of several.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};

use crate::part::ClusterPart;

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
            signed(part.standing.applied()),
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
        let front = part.figures();
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
            part.standing.term_starts(),
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
