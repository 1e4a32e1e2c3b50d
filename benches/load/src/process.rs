//! Memory and processor time of a process, from /proc.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use super::{
    error::{Context, Result},
    stop,
};

/// Cores that other processes may use before a round is called disturbed.
const MAX_OTHERS: f64 = 0.15;

/// What figures depend on: the processor, the kernel, and the disk of a folder.
pub(crate) fn machine(folder: &Path) -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (cpuinfo, mounts) = (read("/proc/cpuinfo"), read("/proc/mounts"));
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| Some(line.split_once(": ")?.1));
    let folder = folder.canonicalize().unwrap_or_default();
    let mounts = mounts.lines().map(|line| {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap_or_default();
        (word(), word(), word())
    });
    // Of mounts over each other the last counts.
    let disk = mounts.filter(|(_, at, _)| folder.starts_with(at));
    let disk = disk.max_by_key(|(_, at, _)| at.len());
    let (device, _, kind) = disk.unwrap_or(("an unknown disk", "", "unknown"));
    format!(
        "{}, Linux {}, {kind} on {device}",
        model.unwrap_or("unknown processor"),
        read("/proc/sys/kernel/osrelease").trim_end()
    )
}

/// Resident memory in bytes.
pub(crate) fn resident(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"));
    let status = status.context("the server's /proc entry")?;
    let kibibytes = status.lines().find_map(|line| {
        let rest = line.strip_prefix("VmRSS:")?.trim();
        rest.strip_suffix(" kB")?.parse::<u64>().ok()
    });
    Ok(kibibytes.context("VmRSS in /proc/PID/status")? * 1024)
}

/// Resident memory once it has not changed much for a while and `is_idle` holds, or after `limit` at the latest.
pub(crate) fn steady_memory(
    pid: u32,
    limit: Duration,
    is_idle: impl Fn() -> Result<bool>,
) -> Result<u64> {
    const STEADY: Duration = Duration::from_secs(15);
    let started = Instant::now();
    let (mut since, mut reference) = (started, resident(pid)?);
    loop {
        std::thread::sleep(Duration::from_millis(500));
        stop::check()?;
        let now = resident(pid)?;
        if now.abs_diff(reference) > 2 << 20 {
            (since, reference) = (Instant::now(), now);
        }
        let is_steady = since.elapsed() >= STEADY && is_idle()?;
        if is_steady || started.elapsed() >= limit {
            return Ok(now);
        }
    }
}

/// Processor time used so far, in all threads.
pub(crate) fn processor_time(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    let stat = stat.context("the server's /proc entry")?;
    // The name in parentheses may contain anything; user and system time are the 14th and 15th field of the
    // line, the 12th and 13th after it.
    let ticks = stat.rsplit_once(')').and_then(|(_, rest)| {
        let mut fields = rest.split_whitespace().skip(11);
        let user: u64 = fields.next()?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        Some(user + system)
    });
    Ok(in_ticks(ticks.context("the time in /proc/PID/stat")?))
}

/// Processor time on all cores that was not idle. Stolen time counts as busy.
fn machine_time() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/stat").context("/proc/stat")?;
    let line = stat.lines().next().unwrap_or_default();
    let times = line.split_whitespace().skip(1).take(8);
    // The fourth and fifth field are idle and waiting for the disk.
    let busy = times
        .enumerate()
        .filter(|(field, _)| ![3, 4].contains(field));
    Ok(in_ticks(
        busy.filter_map(|(_, time)| time.parse::<u64>().ok()).sum(),
    ))
}

fn in_ticks(ticks: u64) -> Duration {
    Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second().max(1) as u32
}

/// Measures how busy the machine is, to tell a slow phase of the machine from a slow program.
pub(crate) struct Watch {
    server: u32,
    started: Instant,
    /// Processor time of the server, of this process and of the machine.
    before: [Duration; 3],
}

/// Cores in use on average over a time.
pub(crate) struct Usage {
    pub(crate) server: f64,
    /// By this process.
    pub(crate) generator: f64,
    /// By other processes on this machine, and by other guests of its processor.
    others: f64,
}

impl Watch {
    pub(crate) fn start(server: u32) -> Result<Self> {
        Ok(Self {
            server,
            started: Instant::now(),
            before: times(server)?,
        })
    }

    /// Stops and returns the usage since the start.
    pub(crate) fn stop(&self) -> Result<Usage> {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let mut cores = times(self.server)?;
        for (time, before) in cores.iter_mut().zip(self.before) {
            *time = time.saturating_sub(before);
        }
        let [server, generator, machine] = cores.map(|time| time.as_secs_f64() / seconds);
        Ok(Usage {
            server,
            generator,
            others: (machine - server - generator).max(0.0),
        })
    }
}

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            server,
            generator,
            others,
        } = self;
        let disturbed = match *others > MAX_OTHERS {
            true => ", a disturbed round",
            false => "",
        };
        write!(
            f,
            "cores: server {server:.2}, load {generator:.2}, others {others:.2}{disturbed}"
        )
    }
}

fn times(server: u32) -> Result<[Duration; 3]> {
    Ok([
        processor_time(server)?,
        processor_time(std::process::id())?,
        machine_time()?,
    ])
}
