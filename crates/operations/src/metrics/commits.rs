//! How long the log's commits take, for Prometheus: counted by the log itself, so that it never waits for a
//! reader.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use persistence::latency::{BOUNDS_MICROS, Commits};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet},
    metrics::MetricType,
};

/// The counts when the metrics were last read.
#[derive(Debug, Clone, Default)]
pub(super) struct CommitLatency(Arc<Mutex<Commits>>);

impl CommitLatency {
    pub(super) fn set(&self, commits: Commits) {
        *self.0.lock() = commits;
    }
}

impl Collector for CommitLatency {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let commits = *self.0.lock();
        let bounds = BOUNDS_MICROS.iter().map(|micros| seconds(*micros));
        let bounds = bounds.chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> = bounds.zip(commits.counts).collect();
        let mut metric = encoder.encode_descriptor(
            "journal_commit_duration_seconds",
            "Seconds from a group commit's first write to when all of it would survive a power cut",
            None,
            MetricType::Histogram,
        )?;
        let sum = seconds(commits.micros);
        metric.encode_histogram::<NoLabelSet>(sum, commits.all(), &buckets, None)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a figure to look at; exact for two hundred years of waiting"
)]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
