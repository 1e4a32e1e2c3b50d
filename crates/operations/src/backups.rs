//! Backups of the running service: one at a time, asked for by the administrator or due by the schedule.
//! It runs in the background, and its state can be read.

mod settings;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use crate::data_dir::{backed_up, secrets::BackupSecrets};
use actors::{Handle, ServerKeys, clock::Clock};
use domain::Timestamp;
use parking_lot::Mutex;
use persistence::backup::{self, BackUp, BackupSummary, TransferProgress};
use tokio::task::JoinHandle;

pub use settings::BackupSettings;

const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Time until the next attempt after a failure, unless the next backup is due sooner.
const AGAIN_AFTER: Duration = Duration::from_secs(10 * 60);

/// Warns before the first backup in a directory: where a disk is not mounted, its mount point looks empty.
pub fn warn_if_first(to: &Path) {
    if !backup::newest(to).is_ok_and(|newest| newest.is_some()) {
        tracing::warn!(
            backup.to = %to.display(),
            "There is no backup in this directory yet. If there should be some, check that its disk is mounted"
        );
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The directory that backups are kept in.
    pub to: PathBuf,
    /// How many backups are kept; `None`: all.
    pub keep: Option<usize>,
    pub with_server_key: bool,
    /// Whether it is a working copy, which does not count as the last good backup.
    pub temporary: bool,
}

/// A backup that is being made.
#[derive(Debug, Clone)]
pub struct Running {
    pub name: String,
    /// The directory that it is written to.
    pub to: PathBuf,
    pub started_at: Timestamp,
    /// How much of it is written.
    pub moved: TransferProgress,
}

#[derive(Debug, Clone)]
pub struct FinishedBackup {
    pub was: Running,
    pub took: Duration,
    /// What was made, or why it failed.
    pub result: Result<BackupSummary, String>,
}

#[derive(Debug, Clone, Default)]
pub struct Status {
    /// The one that is being made.
    pub running: Option<Running>,
    /// The last one that ended since the start.
    pub last: Option<FinishedBackup>,
    /// When the last good one was made, also before the start.
    pub last_good: Option<Timestamp>,
    /// The same for backups in the configured directory: the schedule follows these.
    pub last_at_home: Option<Timestamp>,
    /// How many failed since the start.
    pub failures: u64,
}

/// The refusal while another backup is being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy;

/// Makes backups of the wallets, one at a time.
pub struct Backups {
    handle: Handle,
    clock: Arc<dyn Clock>,
    data_dir: PathBuf,
    /// The cell whose books these are.
    cell: i16,
    server_keys: ServerKeys,
    settings: BackupSettings,
    /// Since when there is something to back up.
    used_since: Timestamp,
    status: Arc<Mutex<Status>>,
}

impl Backups {
    /// Backups of these wallets. Looks for the last one in the configured directory.
    pub fn new(
        handle: Handle,
        clock: Arc<dyn Clock>,
        settings: BackupSettings,
        (data_dir, cell): (&Path, i16),
        keys: &ServerKeys,
    ) -> Self {
        let newest = settings.to.as_deref().map(backup::newest);
        let last_good = match newest.transpose() {
            Ok(newest) => newest.flatten().map(|it| it.made_at),
            Err(error) => {
                tracing::error!(%error, "The last backup cannot be read");
                None
            }
        };
        let used_since = backed_up::used_since(data_dir).unwrap_or_else(|| clock.now());
        let status = Status {
            // Also those that were made elsewhere, and without the server.
            last_good: last_good.max(backed_up::last(data_dir)),
            last_at_home: last_good,
            ..Status::default()
        };
        Self {
            handle,
            clock,
            data_dir: data_dir.to_owned(),
            cell,
            server_keys: keys.clone(),
            settings,
            used_since,
            status: Arc::new(Mutex::new(status)),
        }
    }

    pub const fn settings(&self) -> &BackupSettings {
        &self.settings
    }

    pub fn status(&self) -> Status {
        self.status.lock().clone()
    }

    /// Seconds since the last good backup was made; where none is known, since the data was first used.
    pub fn age_seconds(&self) -> i64 {
        let since = self.status.lock().last_good.unwrap_or(self.used_since);
        let millis = self.clock.now().0.saturating_sub(since.0).max(0);
        millis.div_euclid(1000)
    }

    /// Starts a backup, in a task of its own.
    /// # Errors
    /// [`Busy`] while another one is being made.
    pub fn start(self: &Arc<Self>, order: Order) -> Result<Running, Busy> {
        let running = self.begin(&order)?;
        let backups = Arc::clone(self);
        drop(tokio::spawn(async move { backups.make(order).await }));
        Ok(running)
    }

    /// Makes backups by the configured schedule, until the task is aborted; `None`: there is no
    /// schedule.
    pub fn keep_schedule(self: &Arc<Self>) -> Option<JoinHandle<()>> {
        let (to, every) = (self.settings.to.clone()?, self.settings.every?);
        let order = Order {
            to,
            keep: self.settings.kept(),
            with_server_key: self.settings.with_server_key,
            temporary: false,
        };
        let backups = Arc::clone(self);
        Some(tokio::spawn(async move {
            let mut wait = Duration::ZERO;
            loop {
                tokio::time::sleep(wait).await;
                wait = LOOK_EVERY.min(every);
                if !backups.is_due(every) || backups.begin(&order).is_err() {
                    continue;
                }
                if !backups.make(order.clone()).await {
                    wait = AGAIN_AFTER.min(every);
                }
            }
        }))
    }

    fn is_due(&self, every: Duration) -> bool {
        let every = i64::try_from(every.as_secs()).unwrap_or(i64::MAX);
        let last = self.status.lock().last_at_home;
        last.is_none_or(|last| {
            let since = self.clock.now().0.saturating_sub(last.0);
            // A backup from the future was made while the clock was wrong.
            since < 0 || since >= every.saturating_mul(1000)
        })
    }

    fn begin(&self, order: &Order) -> Result<Running, Busy> {
        let now = self.clock.now();
        let mut status = self.status.lock();
        if status.running.is_some() {
            return Err(Busy);
        }
        let running = Running {
            name: name_at(now),
            to: order.to.clone(),
            started_at: now,
            moved: TransferProgress::default(),
        };
        status.running = Some(running.clone());
        Ok(running)
    }

    /// Makes the backup that was begun; returns whether it is good.
    async fn make(&self, order: Order) -> bool {
        let begun = Instant::now();
        let temporary = order.temporary;
        if !temporary {
            warn_if_first(&order.to);
        }
        let result = self.copy(order).await;
        let took = begun.elapsed();
        let mut status = self.status.lock();
        let Some(was) = status.running.take() else {
            return false;
        };
        let good = result.is_ok();
        match &result {
            Ok(made) => {
                if !temporary {
                    status.last_good = Some(was.started_at);
                    if let Err(error) = backed_up::note(&self.data_dir, was.started_at) {
                        tracing::warn!(%error, "A restart will not know of the backup");
                    }
                    if self.settings.to.as_ref() == Some(&was.to) {
                        status.last_at_home = status.last_good;
                    }
                }
                tracing::info!(
                    backup.name = made.name,
                    backup.to = %was.to.display(),
                    backup.bytes = made.moved.bytes,
                    backup.new_bytes = made.moved.new_bytes,
                    backup.seconds = took.as_secs(),
                    "A backup was made"
                );
            }
            Err(error) => {
                status.failures += 1;
                tracing::error!(
                    backup.to = %was.to.display(),
                    %error,
                    "A backup failed; earlier ones are unchanged"
                );
            }
        }
        status.last = Some(FinishedBackup { was, took, result });
        good
    }

    async fn copy(&self, order: Order) -> Result<BackupSummary, String> {
        let running = self.status.lock().running.clone();
        let Some(running) = running else {
            return Err("it did not start".into());
        };
        let key = order.with_server_key.then_some(&self.server_keys);
        let BackupSecrets { owner, files } =
            BackupSecrets::read(&self.data_dir, key).map_err(|error| error.to_string())?;
        // All cells have one server key, and none may remove another's backups.
        let owner = match self.cell {
            0 => owner,
            cell => format!("{owner} cell {cell}"),
        };
        let what = BackUp {
            to: order.to,
            name: running.name,
            made_at: running.started_at,
            owner,
            files,
            keep: order.keep,
        };
        let status = Arc::clone(&self.status);
        let on_progress = move |moved: &TransferProgress| {
            if let Some(running) = &mut status.lock().running {
                running.moved = *moved;
            }
            true
        };
        let made = self.handle.back_up(what, on_progress).await;
        made.map_err(|error| error.to_string())
    }
}

/// The name of a backup of this instant: names sort as instants do.
pub fn name_at(now: Timestamp) -> String {
    let instant = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
    instant.strftime("%Y%m%dT%H%M%S%3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_moments_do() {
        let names = [0, 999, 1000, 1_795_332_362_123].map(|at| name_at(Timestamp(at)));
        assert_eq!(names[1], "19700101T000000999Z");
        assert_eq!(names[3], "20261122T072602123Z");
        assert!(names.is_sorted());
    }
}
