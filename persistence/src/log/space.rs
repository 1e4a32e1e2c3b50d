//! Keeps the disk from filling up: appends are refused while a reserve still lets the log recover
//! and the checkpoints catch up. A checkpoint itself is never refused: it is what frees space.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::error::Error;

/// Look again after this much was written, however little time passed.
const CHECK_INTERVAL_BYTES: u64 = 4 << 20;

pub(crate) struct Space {
    dir: PathBuf,
    min_free_bytes: u64,
    low: AtomicBool,
    unseen_bytes: AtomicU64,
}

impl Space {
    pub(crate) fn watch(dir: &Path, min_free_bytes: u64) -> Result<Self, Error> {
        let space = Self {
            dir: dir.to_path_buf(),
            min_free_bytes,
            low: AtomicBool::new(false),
            unseen_bytes: AtomicU64::new(0),
        };
        // A file system that cannot be asked is an error at the start.
        free_bytes(&space.dir)?;
        space.look();
        Ok(space)
    }

    pub(crate) fn low(&self) -> bool {
        self.low.load(Ordering::Relaxed)
    }

    /// Counts bytes that were written, and looks once there are enough.
    pub(crate) fn wrote(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let before = self.unseen_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) >= CHECK_INTERVAL_BYTES {
            self.look();
        }
    }

    /// Asks the file system. One that does not answer counts as full: refusing is safe.
    pub(crate) fn look(&self) {
        self.unseen_bytes.store(0, Ordering::Relaxed);
        let free = free_bytes(&self.dir).unwrap_or_else(|error| {
            tracing::error!(error = %error, "The free space cannot be read");
            0
        });
        let was_low = self.low();
        let low = is_low(was_low, free, self.min_free_bytes);
        if low != was_low {
            self.low.store(low, Ordering::Relaxed);
            if low {
                tracing::warn!(
                    disk.free_bytes = free,
                    "The disk is nearly full: refusing writes"
                );
            } else {
                tracing::info!(
                    disk.free_bytes = free,
                    "The disk has room again: accepting writes"
                );
            }
        }
    }
}

/// A quarter more than the minimum must be free before writes are accepted again, so that
/// they are not refused and accepted in turn at the edge.
const fn is_low(was_low: bool, free: u64, min_free: u64) -> bool {
    if was_low {
        free < min_free.saturating_add(min_free / 4)
    } else {
        free < min_free
    }
}

fn free_bytes(dir: &Path) -> Result<u64, Error> {
    let stat = rustix::fs::statvfs(dir)
        .map_err(|error| Error::Io(format!("free space of {}: {error}", dir.display())))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_taken_again_only_with_a_quarter_more() {
        let mut low = false;
        let seen: Vec<bool> = [100, 99, 100, 124, 125, 100, 0]
            .into_iter()
            .map(|free| {
                low = is_low(low, free, 100);
                low
            })
            .collect();
        assert_eq!(seen, [false, true, true, true, false, false, true]);
    }

    #[test]
    fn the_file_system_is_asked_when_enough_was_written() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Space::watch(dir.path(), u64::MAX).unwrap().low());
        let space = Space::watch(dir.path(), 0).unwrap();
        assert!(!space.low());
        space.low.store(true, Ordering::Relaxed);
        space.wrote(1000);
        assert!(space.low());
        space.wrote(4 << 20);
        assert!(!space.low());
    }
}
