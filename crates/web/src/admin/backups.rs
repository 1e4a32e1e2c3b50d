//! Backups: start one, and see its progress.

use std::path::PathBuf;

use axum::{Json, http::StatusCode};
use edge::{Own, body::Body};
use operations::backups;
use operator::{NoProject, StartBackup};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{Error, field::BoundedInteger, view::instant};

use super::call::AdminCall;

/// A backup to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewBackup)]
pub(super) struct Create {
    /// The directory that backups are kept in, on the server's machine, from its root; `backup.to` of the
    /// configuration where it is left out.
    #[schema(pattern = "^/")]
    to: Option<String>,
    /// How many are kept, 0 for all; `backup.keep` of the configuration where it is left out.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 1_000_000)]
    keep: Option<BoundedInteger<0, 1_000_000>>,
    /// Whether the server key is in it: anybody who has the backup can then read recovery codes.
    #[serde(default)]
    #[schema(nullable = false)]
    with_server_key: bool,
    /// Whether it will be removed soon: then it does not count as the last good one.
    #[serde(default)]
    #[schema(nullable = false)]
    temporary: bool,
}

/// The state of backups.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backups {
    /// The one that is being made.
    pub running: Option<Backup>,
    /// The last one that ended since the server started.
    pub last: Option<Backup>,
    /// When the last successful one was made, also before the server started.
    pub last_success_at: Option<String>,
}

/// A backup, under way or over.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    /// The backup's name.
    #[schema(example = "20261122T072605123Z")]
    pub name: String,
    /// The directory that it is kept in.
    pub to: String,
    /// When it began: all that was answered before is in it.
    pub started_at: String,
    /// `running`, `succeeded` or `failed`
    pub status: String,
    /// Records that it has.
    pub records: u64,
    /// Bytes of these records.
    pub bytes: u64,
    /// About how many bytes there are to back up; 0: not known yet.
    pub total_bytes: u64,
    /// Bytes that were written for it, compressed; the rest was there from earlier backups.
    pub new_bytes: u64,
    /// Older backups that were removed.
    pub removed: u64,
    /// How long it took, once it is over.
    pub seconds: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
}

impl Backup {
    fn of(it: backups::Running, status: &str) -> Self {
        Self {
            name: it.name,
            to: it.to.display().to_string(),
            started_at: instant(it.started_at).to_string(),
            status: status.into(),
            records: it.moved.records,
            bytes: it.moved.bytes,
            total_bytes: it.moved.of_bytes,
            new_bytes: it.moved.new_bytes,
            removed: 0,
            seconds: None,
            error: None,
        }
    }

    fn over(it: backups::FinishedBackup) -> Self {
        let status = match it.result {
            Ok(_) => "succeeded",
            Err(_) => "failed",
        };
        let removed = it.result.as_ref().map_or(0, |made| made.removed_backups);
        Self {
            removed,
            seconds: Some(it.took.as_secs_f64()),
            error: it.result.err(),
            ..Self::of(it.was, status)
        }
    }
}

pub(super) async fn create(
    call: AdminCall<StartBackup>,
    body: Body,
) -> Result<(StatusCode, Json<Backup>), Error> {
    let Create {
        to,
        keep,
        with_server_key,
        temporary,
    } = body.parse()?;
    let to = to.map(PathBuf::from);
    if to.as_ref().is_some_and(|to| !to.is_absolute()) {
        return Err(Error::invalid("to", "Name an absolute path."));
    }
    let most = |BoundedInteger(keep)| usize::try_from(keep).ok().filter(|keep| *keep > 0);
    let backup = StartBackup {
        to,
        keep: keep.map(most),
        with_server_key,
        temporary,
    };
    let running = call.run(NoProject, backup).await?;
    Ok((StatusCode::ACCEPTED, Json(Backup::of(running, "running"))))
}

pub(super) async fn show(call: AdminCall<Own>) -> Json<Backups> {
    let status = call.app.backups.status();
    Json(Backups {
        running: status.running.map(|it| Backup::of(it, "running")),
        last: status.last.map(Backup::over),
        last_success_at: status.last_good.map(|at| instant(at).to_string()),
    })
}
