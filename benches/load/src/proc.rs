//! Memory and processor time of a process, from /proc.

use std::time::{Duration, Instant};

use super::{
    error::{Context, Error, Result},
    stop,
};

/// Cores that other processes may use before a round is called disturbed.
const QUIET: f64 = 0.15;

/// Resident memory in bytes.
pub(crate) fn resident(pid: u32) -> Result<u64> {
    memory(pid, "VmRSS:")
}

/// Resident memory once it has not changed much for a while and `is_idle` holds, or after `within` at the latest.
pub(crate) fn settled_memory(
    pid: u32,
    within: Duration,
    is_idle: impl Fn() -> Result<bool>,
) -> Result<u64> {
    const STILL: Duration = Duration::from_secs(15);
    let started = Instant::now();
    let (mut since, mut reference) = (started, resident(pid)?);
    loop {
        std::thread::sleep(Duration::from_millis(500));
        stop::check()?;
        let now = resident(pid)?;
        if now.abs_diff(reference) > 2 << 20 {
            (since, reference) = (Instant::now(), now);
        }
        let is_settled = since.elapsed() >= STILL && is_idle()?;
        if is_settled || started.elapsed() >= within {
            return Ok(now);
        }
    }
}

/// Resets what [`peak`] reports.
pub(crate) fn forget_peak(pid: u32) -> Result<()> {
    // See `/proc/pid/clear_refs` in proc(5).
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").context("the server's /proc entry")
}

/// The highest resident memory since the reset, in bytes.
pub(crate) fn peak(pid: u32) -> Result<u64> {
    memory(pid, "VmHWM:")
}

fn memory(pid: u32, name: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))
        .context("the server's /proc entry")?;
    status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| {
            rest.trim()
                .trim_end_matches("kB")
                .trim()
                .parse::<u64>()
                .ok()
        })
        .map(|kibibytes| kibibytes * 1024)
        .ok_or_else(|| Error(format!("/proc/PID/status has no {name}")))
}

/// Processor time used so far, in all threads.
pub(crate) fn processor_time(pid: u32) -> Result<Duration> {
    let stat =
        std::fs::read_to_string(format!("/proc/{pid}/stat")).context("the server's /proc entry")?;
    // The name in parentheses may contain anything; user and system time are the 14th and 15th field of the
    // line, the 12th and 13th after it.
    let ticks = stat.rsplit_once(')').and_then(|(_, rest)| {
        let mut fields = rest.split_whitespace().skip(11);
        let user: u64 = fields.next()?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        Some(user + system)
    });
    let ticks = ticks.ok_or_else(|| Error("/proc/PID/stat is not as expected".into()))?;
    Ok(in_ticks(ticks))
}

fn in_ticks(ticks: u64) -> Duration {
    Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second().max(1) as u32
}

/// Measures how busy the machine is, to tell a slow phase of the machine from a slow program.
pub(crate) struct Watch {
    server: u32,
    started: Instant,
    machine: Duration,
    ours: Duration,
    generator: Duration,
}

/// Cores in use on average over a time.
pub(crate) struct Load {
    /// By the server.
    pub(crate) server: f64,
    /// By the load generator.
    pub(crate) generator: f64,
    /// By other processes on this machine, and by other guests of its processor.
    pub(crate) others: f64,
}

impl Load {
    /// Whether others used so much that rates and latencies are not reliable.
    pub(crate) fn disturbed(&self) -> bool {
        self.others > QUIET
    }
}

impl Watch {
    /// Starts to measure.
    pub(crate) fn start(server: u32) -> Result<Self> {
        Ok(Self {
            server,
            started: Instant::now(),
            machine: machine_time()?,
            ours: processor_time(server)?,
            generator: processor_time(std::process::id())?,
        })
    }

    /// Stops and returns the load since the start.
    pub(crate) fn stop(&self) -> Result<Load> {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let cores = |after: Duration, before: Duration| {
            after.saturating_sub(before).as_secs_f64() / seconds
        };
        let server = cores(processor_time(self.server)?, self.ours);
        let generator = cores(processor_time(std::process::id())?, self.generator);
        let others = (cores(machine_time()?, self.machine) - server - generator).max(0.0);
        Ok(Load {
            server,
            generator,
            others,
        })
    }
}

/// Processor time on all cores that was not idle. Stolen time counts as busy.
fn machine_time() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/stat").context("/proc/stat")?;
    let line = stat.lines().next().unwrap_or_default();
    let times: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .take(8)
        .filter_map(|time| time.parse().ok())
        .collect();
    let all: u64 = times.iter().sum();
    // The fourth and fifth field are idle and waiting for the disk.
    let idle: u64 = times.iter().skip(3).take(2).sum();
    Ok(in_ticks(all - idle))
}
