//! Figures of the process and of its disk, under the names that Prometheus' own clients use, read when they are asked for.
//! One that cannot be read is missing.

use std::{fmt, fs, path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};
use rustix::{
    process::{Resource, getrlimit},
    time::{ClockId, clock_gettime},
};

use crate::data_dir::verified::VerifyResult;

/// What the operating system knows of this process.
#[derive(Debug)]
pub(super) struct ProcessMetrics {
    started_at: u64,
}

impl ProcessMetrics {
    pub(super) fn new() -> Self {
        let now = clock_gettime(ClockId::Realtime).tv_sec;
        Self {
            started_at: u64::try_from(now).unwrap_or(0),
        }
    }
}

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        #[expect(
            clippy::cast_precision_loss,
            reason = "a figure to look at; exact for a hundred days"
        )]
        let seconds = used.tv_sec as f64 + used.tv_nsec as f64 / 1e9;
        let seconds = ConstCounter::new(seconds);
        let help = "Seconds of processor time that the process has used";
        let metric =
            encoder.encode_descriptor("process_cpu_seconds", help, None, seconds.metric_type())?;
        seconds.encode(metric)?;
        let memory = fs::read_to_string("/proc/self/statm").ok();
        let page = u64::try_from(rustix::param::page_size()).unwrap_or(0);
        let pages = |place: usize| {
            let figure = memory.as_ref()?.split_whitespace().nth(place)?;
            figure.parse::<u64>().ok()?.checked_mul(page)
        };
        let open = fs::read_dir("/proc/self/fd").ok();
        let open = open.and_then(|open| u64::try_from(open.count()).ok());
        let all = [
            (
                "process_virtual_memory_bytes",
                "Bytes of memory that are reserved",
                pages(0),
            ),
            (
                "process_resident_memory_bytes",
                "Bytes of memory that are in use",
                pages(1),
            ),
            ("process_open_fds", "Open files and connections", open),
            (
                "process_max_fds",
                "Files and connections that may be open",
                getrlimit(Resource::Nofile).current,
            ),
            (
                "process_start_time_seconds",
                "When the process started, in seconds since 1970",
                Some(self.started_at),
            ),
        ];
        for (name, help, figure) in all {
            encode(&mut encoder, name, help, figure)?;
        }
        Ok(())
    }
}

/// What is known of the data directory.
#[derive(Debug)]
pub(super) struct DataMetrics(pub(super) PathBuf);

impl Collector for DataMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let disk = rustix::fs::statvfs(&self.0).ok();
        let free = disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        let help = "Bytes that are free on the data's disk";
        encode(&mut encoder, "disk_free_bytes", help, free)?;
        let found = VerifyResult::read(&self.0).ok().flatten();
        let help = "Problems that the last scrip verify found; missing where there was none";
        let problems = found.map(|found| found.problems);
        encode(&mut encoder, "verify_problems", help, problems)
    }
}

/// Gauges as they were last read.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures(Arc<Mutex<Vec<(&'static str, u64)>>>);

impl Figures {
    pub(super) fn set(&self, all: Vec<(&'static str, u64)>) {
        *self.0.lock() = all;
    }
}

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for (name, value) in &*self.0.lock() {
            let mut lines = super::GAUGES
                .lines()
                .filter_map(|line| line.split_once(": "));
            let help = lines.find_map(|(known, help)| (known == *name).then_some(help));
            encode(&mut encoder, name, help.unwrap_or_default(), Some(*value))?;
        }
        Ok(())
    }
}

fn encode(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    figure: Option<u64>,
) -> Result<(), fmt::Error> {
    let Some(figure) = figure else { return Ok(()) };
    let gauge = ConstGauge::new(i64::try_from(figure).unwrap_or(i64::MAX));
    let metric = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
    gauge.encode(metric)
}
