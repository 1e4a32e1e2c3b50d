//! Decisions about the service: creates projects, starts backups, moves the log and projects between processes.

use std::path::PathBuf;

use catalog::{MAX_MOVED, MintedKey, NewProject};
use cluster::{NoFollower, SplitRefusal};
use domain::{catalog::Project, id::ProjectId};
use edge::audit::AuditEvent;
use operations::backups::{Busy, Order, Running};
use wire::{Error, ErrorCode};

use crate::{Action, Execution, NoProject, Operator};

needs!(Own: CreateProject, StartBackup, HandOver, SplitCell);

/// Creates a project with a publishable and a secret key.
#[derive(Debug)]
pub struct CreateProject(pub NewProject);

/// Starts a backup. What is left out is as the configuration has it.
#[derive(Debug, Default)]
pub struct StartBackup {
    /// The directory that backups are kept in.
    pub to: Option<PathBuf>,
    /// How many are kept; `Some(None)`: all.
    pub keep: Option<Option<usize>>,
    /// Whether the server key is in it, also where the configuration leaves it out.
    pub with_server_key: bool,
    /// Whether it is a working copy, which does not count as the last good backup.
    pub temporary: bool,
}

/// Has the leading process hand the log over to another one.
#[derive(Debug)]
pub struct HandOver;

/// Moves projects to a new cell, which a process becomes that waits for it.
#[derive(Debug)]
pub struct SplitCell {
    /// The projects that go on there.
    pub projects: Vec<ProjectId>,
    /// The number of the new cell.
    pub to: i16,
}

impl Action<NoProject> for CreateProject {
    /// The project, its publishable and its secret key.
    type Answer = (Project, MintedKey, MintedKey);

    async fn execute(self, by: &Operator<'_, NoProject>) -> Execution<Self::Answer> {
        let created = by.app.catalog.create_project(self.0).await?;
        let project = &created.0;
        let what = format!("Created project {} “{}”", project.id, project.name);
        Ok((created, AuditEvent::Did(what)))
    }
}

impl Action<NoProject> for StartBackup {
    type Answer = Running;

    async fn execute(self, by: &Operator<'_, NoProject>) -> Execution<Running> {
        let settings = by.app.backups.settings();
        let none = || {
            Error::invalid(
                "to",
                "Name a directory: the configuration has none (backup.to).",
            )
        };
        let order = Order {
            to: self.to.or_else(|| settings.to.clone()).ok_or_else(none)?,
            keep: self.keep.unwrap_or_else(|| settings.kept()),
            with_server_key: self.with_server_key || (settings.with_server_key && !self.temporary),
            temporary: self.temporary,
        };
        let to = order.to.display().to_string();
        let running = by.app.backups.start(order);
        let running = running.map_err(|Busy| Error::new(ErrorCode::BackupRunning))?;
        let what = format!("Began backup {} to {to}", running.name);
        Ok((running, AuditEvent::Did(what)))
    }
}

impl Action<NoProject> for HandOver {
    type Answer = ();

    async fn execute(self, by: &Operator<'_, NoProject>) -> Execution<()> {
        let none = || Error::new(ErrorCode::NoFollower);
        let cluster = by.app.cluster.as_ref().ok_or_else(none)?;
        let handed = cluster.hand_over().await;
        handed.map_err(|NoFollower| none())?;
        let what = "Had the leading process hand over to another one".into();
        Ok(((), AuditEvent::Did(what)))
    }
}

impl Action<NoProject> for SplitCell {
    type Answer = ();

    async fn execute(self, by: &Operator<'_, NoProject>) -> Execution<()> {
        let Self { projects, to } = self;
        if projects.is_empty() || projects.len() > MAX_MOVED {
            return Err(Error::invalid("projects", "Name 1 to 1000 projects."));
        }
        let may = by.app.catalog.may_split(&projects, to);
        may.map_err(catalog::Error::from)?;
        let refused = |why: &'static str| Error::new(ErrorCode::InvalidSplit).saying(why);
        let alone = || refused("This process keeps its log by itself: set storage.url.");
        let part = by.app.cluster.as_ref().ok_or_else(alone)?;
        let moved: Vec<_> = projects.iter().map(ToString::to_string).collect();
        let split = part.split(projects, to).await;
        split.map_err(|refusal| match refusal {
            SplitRefusal::Unreachable => Error::new(ErrorCode::Unavailable),
            SplitRefusal::Exists => refused("There is such a cell already."),
            SplitRefusal::NoJoiner => refused(
                "No process waits to become this cell: start one with cluster.cell set to its number and \
                 cluster.split_from to the number of the cell that is split.",
            ),
            SplitRefusal::Behind => refused(
                "The process that waits to become this cell has not read all of the log yet. Try again in a moment.",
            ),
        })?;
        let what = format!("Split the cell: {} go on in cell {to}", moved.join(", "));
        Ok(((), AuditEvent::Did(what)))
    }
}
