//! The disk under the data: whether a sync is real, how long it takes, and how much space is free.

use std::{
    io::{Seek as _, Write as _},
    path::Path,
    time::{Duration, Instant},
};

use rustix::fs::{statfs, statvfs};

use super::Finding;
use crate::config::Config;

/// Most syncs that are timed, and the longest time for them.
const SYNCS: usize = 100;
const TIME_LIMIT: Duration = Duration::from_secs(3);
/// Written before each sync; about the size of a small frame.
const BLOCK: [u8; 4096] = [0x5c; 4096];
/// A longer median sync is noticeable to a single caller.
const SLOW: Duration = Duration::from_millis(10);
/// The file system type of tmpfs, which is memory.
const TMPFS: u64 = 0x0102_1994;
const MIB: u64 = 1 << 20;

pub(super) fn examine(config: &Config) -> Vec<Finding> {
    // The nearest existing parent, where the directory does not exist yet.
    let current = Path::new(".");
    let parents = config.data_dir.ancestors();
    let mut there = parents.filter(|path| path.is_dir());
    let dir = there.next().unwrap_or(current);
    vec![syncs_for_real(config), speed(dir), room(dir, config)]
}

fn syncs_for_real(config: &Config) -> Finding {
    const CHECK: &str = "durability";
    match persistence::check_syncs() {
        Ok(()) => Finding::ok(CHECK, "syncs are real: writes survive a power cut"),
        Err(error) if config.journal.allow_unsynced => Finding::warning(
            CHECK,
            error.to_string(),
            "journal.allow_unsynced is set: the most recent writes may be lost",
        ),
        Err(error) => Finding::failure(CHECK, error.to_string(), "The server will not start"),
    }
}

fn speed(dir: &Path) -> Finding {
    const CHECK: &str = "disk speed";
    let path = dir.display();
    if statfs(dir).is_ok_and(|stats| u64::try_from(stats.f_type) == Ok(TMPFS)) {
        return Finding::warning(
            CHECK,
            format!("{path} is in memory (tmpfs): nothing survives a reboot"),
            "Keep the data on a disk",
        );
    }
    let times = match time(dir) {
        Ok(times) => times,
        Err(error) => {
            return Finding::failure(
                CHECK,
                format!("cannot write to {path}: {error}"),
                "Let the server's user write there; run scrip doctor as that user",
            );
        }
    };
    let at = |percent: usize| {
        let index = times.len().saturating_mul(percent) / 100;
        times.get(index).copied().unwrap_or_default()
    };
    let (median, slow) = (at(50), at(99));
    let message = format!(
        "a sync takes {:.2} ms, at p99 {:.2} ms ({} syncs in {path})",
        median.as_secs_f64() * 1e3,
        slow.as_secs_f64() * 1e3,
        times.len()
    );
    if median <= SLOW {
        return Finding::ok(CHECK, message);
    }
    Finding::warning(
        CHECK,
        message,
        "Each response waits for a sync, which many share. A local SSD takes a tenth of that",
    )
}

/// Times syncs; the shortest first.
fn time(dir: &Path) -> std::io::Result<Vec<Duration>> {
    // Unlinked already: it disappears with its descriptor.
    let mut file = tempfile::tempfile_in(dir)?;
    let began = Instant::now();
    let mut times = Vec::with_capacity(SYNCS);
    while times.len() < SYNCS && (times.is_empty() || began.elapsed() < TIME_LIMIT) {
        file.rewind()?;
        file.write_all(&BLOCK)?;
        let before = Instant::now();
        file.sync_data()?;
        times.push(before.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

fn room(dir: &Path, config: &Config) -> Finding {
    const CHECK: &str = "disk room";
    let stats = match statvfs(dir) {
        Ok(stats) => stats,
        Err(error) => {
            let message = format!("the free space of {} is unknown: {error}", dir.display());
            return Finding::warning(CHECK, message, "Check the free space by other means");
        }
    };
    let free = stats.f_bavail.saturating_mul(stats.f_frsize);
    let least = config.journal.min_free_bytes;
    let message = format!("{} MiB are free", free / MIB);
    let why = format!(
        "Below journal.min_free_bytes ({} MiB) writes are refused",
        least / MIB
    );
    if free < least {
        Finding::failure(CHECK, message, format!("{why}: free some space"))
    } else if free < least.saturating_mul(4) {
        Finding::warning(CHECK, message, format!("{why}: free some space soon"))
    } else {
        Finding::ok(CHECK, message)
    }
}
