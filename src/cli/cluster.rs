//! `scrip cluster`: what processes that share a log in PostgreSQL are doing, and what an operator does with them.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use cluster::postgres::{CellState, ClusterState, Examiner, Raised, Server};
use operations::data_dir::secrets::ProvidedSecrets;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    Failure, print,
    remote::{self, ServerArgs},
    table::{self, Table},
};
use crate::{
    compose,
    config::{Config, DatabaseUrl, Flags},
};

/// Options of `scrip cluster`.
#[derive(Debug, Args)]
pub(super) struct ClusterArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show which process leads, which follow, and how far they are.
    Status(StatusArgs),
    /// Move projects to a new cell with a log of its own.
    ///
    /// A process that was started with the cell's number becomes its leader.
    Split(SplitArgs),
    /// Have the leader stop, so that another process takes over.
    ///
    /// It exits with 75, and its supervisor starts it again.
    HandOver(HandOverArgs),
    /// Move the log from the database into this data directory.
    ///
    /// All processes have to be stopped. One of them goes on by itself.
    Leave(LeaveArgs),
    /// Raise the log's format, once every process has the newest version.
    Finalize(FinalizeArgs),
}

#[derive(Debug, Args)]
struct StatusArgs {
    #[command(flatten)]
    place: DatabaseArgs,
    /// The cell, where there are several [default: cluster.cell].
    #[arg(long, value_name = "NUMBER")]
    cell: Option<i16>,
    /// Prints JSON, for programs.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct HandOverArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The cell, where there are several [default: the lowest].
    #[arg(long, value_name = "NUMBER")]
    cell: Option<i16>,
}

#[derive(Debug, Args)]
struct SplitArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The cell that is split [default: the lowest].
    #[arg(long, value_name = "NUMBER")]
    cell: Option<i16>,
    /// The number of the new cell: cluster.cell of the process that waits to become it.
    #[arg(long, value_name = "NUMBER")]
    to: i16,
    /// The projects that go there, by their identifiers.
    #[arg(required = true, value_name = "PROJECT")]
    projects: Vec<String>,
}

#[derive(Debug, Args)]
struct LeaveArgs {
    /// The data directory [default: as `scrip serve` would use].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    place: DatabaseArgs,
}

#[derive(Debug, Args)]
struct FinalizeArgs {
    #[command(flatten)]
    place: DatabaseArgs,
}

#[derive(Debug, Args)]
struct DatabaseArgs {
    /// A configuration file [default: ./config.toml, if there is one].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl DatabaseArgs {
    fn read(self, data_dir: Option<PathBuf>) -> Result<(Config, DatabaseUrl), Failure> {
        let flags = Flags {
            config: self.config,
            data_dir,
            listen: None,
        };
        let config = Config::read(&flags).map_err(Failure::new)?;
        let url = config.storage.url.clone().ok_or_else(|| {
            Failure::new(
                "storage.url is not set: the log is in the data directory, and there is no cluster",
            )
        })?;
        Ok((config, url))
    }

    fn examiner(self, cell: Option<i16>) -> Result<Examiner, Failure> {
        let (config, url) = self.read(None)?;
        let server = Server::parse(url.expose()).map_err(Failure::new)?;
        Ok(Examiner::new(server, cell.unwrap_or(config.cluster.cell)))
    }
}

pub(super) fn run(args: ClusterArgs) -> Result<(), Failure> {
    match args.command {
        Command::Status(args) => status(args),
        Command::HandOver(args) => hand_over(&args),
        Command::Split(args) => split(&args),
        Command::Leave(args) => leave(args),
        Command::Finalize(args) => finalize(args),
    }
}

fn status(args: StatusArgs) -> Result<(), Failure> {
    let examiner = args.place.examiner(args.cell)?;
    let cells = examiner.cells().map_err(Failure::new)?;
    let state = examiner.cluster().map_err(Failure::new)?;
    let state = state.ok_or_else(|| match cells.is_empty() {
        true => Failure::new(
            "the database has no cluster yet: `scrip serve` makes it at its first start",
        ),
        false => Failure::new("there is no such cell"),
    })?;
    if args.json {
        table::json(&document(&state, &cells));
        return Ok(());
    }
    let line = |name: &str, text: &str| print::line(&table::plain(&format!("{name:<10}{text}")));
    line("cluster", &state.id.to_string());
    if cells.len() > 1 {
        let leader = |cell: &CellState| cell.leader.clone().unwrap_or_else(|| "none".into());
        let all = cells.iter();
        let all: Vec<_> = all
            .map(|cell| format!("{}: {}", cell.cell, leader(cell)))
            .collect();
        line("cells", &all.join(", "));
        line("cell", &state.cell.to_string());
    }
    line(
        "leader",
        &state.leader.as_ref().map_or_else(
            || "none".into(),
            |leader| format!("{}, since frame {}", leader.address, leader.since),
        ),
    );
    line(
        "log",
        &format!(
            "frames {} to {}, {} tables, {} MB",
            state.base,
            state.head,
            state.segments,
            state.log_bytes.div_euclid(1_000_000)
        ),
    );
    print::line("");
    let headings = [
        "ADDRESS",
        "ROLE",
        "VERSION",
        "HEAD",
        "CHECKPOINT",
        "LAG",
        "SEEN",
    ];
    let mut members = Table::new(&headings);
    for member in &state.members {
        let role = match (state.leads(member), member.is_present(), member.joins) {
            (true, ..) => "leads".into(),
            (false, true, None) => "follows".into(),
            (false, true, Some(cell)) => format!("waits to become cell {cell}"),
            (false, false, _) => "gone".into(),
        };
        members.row([
            member.address.clone(),
            role,
            member.version.clone(),
            member.head.to_string(),
            member.applied.to_string(),
            state.lag(member).to_string(),
            ago(member.seen),
        ]);
    }
    members.print("no process was seen lately");
    print::line("");
    let mut snapshots = Table::new(&["SNAPSHOT", "UP TO FRAME", "MADE"]);
    for snapshot in &state.snapshots {
        snapshots.row([
            snapshot.name.clone(),
            snapshot.applied.to_string(),
            ago(snapshot.age),
        ]);
    }
    snapshots.print("no snapshots");
    for problem in state.problems() {
        print::line(&table::plain(&format!("PROBLEM: {problem}")));
    }
    Ok(())
}

/// The state for programs: times in seconds.
fn document(state: &ClusterState, cells: &[CellState]) -> Value {
    let cells = cells.iter();
    let cells = cells.map(|cell| json!({"cell": cell.cell, "leader": cell.leader}));
    let members = state.members.iter().map(|member| {
        json!({
            "address": member.address,
            "leads": state.leads(member),
            "joins": member.joins,
            "version": member.version,
            "format": member.format,
            "head": member.head,
            "folded": member.applied,
            "lag": state.lag(member),
            "seenSecondsAgo": member.seen.as_secs(),
        })
    });
    let snapshots = state.snapshots.iter().map(|snapshot| {
        json!({
            "name": snapshot.name,
            "folded": snapshot.applied,
            "ageSeconds": snapshot.age.as_secs(),
        })
    });
    let leader = state.leader.as_ref();
    json!({
        "cluster": state.id.to_string(),
        "cells": cells.collect::<Vec<_>>(),
        "cell": state.cell,
        "format": state.format,
        "leader": leader.map(|leader| json!({"address": leader.address, "since": leader.since})),
        "members": members.collect::<Vec<_>>(),
        "log": {"base": state.base, "head": state.head, "segments": state.segments, "bytes": state.log_bytes},
        "snapshots": snapshots.collect::<Vec<_>>(),
        "problems": state.problems(),
    })
}

fn ago(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s ago"),
        seconds @ 120..7200 => format!("{} min ago", seconds.div_euclid(60)),
        seconds => format!("{} h ago", seconds.div_euclid(3600)),
    }
}

fn hand_over(args: &HandOverArgs) -> Result<(), Failure> {
    let remote = args.server.administration()?;
    remote::wait(async {
        remote
            .accept(
                Method::POST,
                &of_cell("/cluster/hand-over", args.cell),
                None,
            )
            .await
            .map_err(Failure::from)
    })?;
    print::line("the leader stops and another process takes its place: see `scrip cluster status`");
    Ok(())
}

/// A path of the administration, answered by the leader of a cell.
fn of_cell(path: &str, cell: Option<i16>) -> String {
    match cell {
        Some(cell) => format!("{path}?cell={cell}"),
        None => path.to_owned(),
    }
}

fn split(args: &SplitArgs) -> Result<(), Failure> {
    let remote = args.server.administration()?;
    let body = json!({"to": args.to, "projects": args.projects});
    let path = of_cell("/cluster/split", args.cell);
    remote::wait(async {
        let accepted = remote.accept(Method::POST, &path, Some(&body)).await;
        accepted.map_err(Failure::from)
    })?;
    let (to, count) = (args.to, args.projects.len());
    print::line(&format!(
        "{count} {} on in cell {to} in a moment: see `scrip cluster status --cell {to}`",
        if count == 1 {
            "project goes"
        } else {
            "projects go"
        }
    ));
    Ok(())
}

fn leave(args: LeaveArgs) -> Result<(), Failure> {
    let (config, url) = args.place.read(args.data_dir)?;
    compose::log_to_stderr(&config).map_err(Failure::new)?;
    let left = compose::leave(
        config.clone(),
        url,
        ProvidedSecrets::from_environment().map_err(Failure::new)?,
    );
    let left = compose::block_on(&config, left).map_err(Failure::new)?;
    left.map_err(Failure::new)?;
    print::line(&format!(
        "{} has all of the log and is served by itself from now on: remove storage.url from its configuration and start \
         it. The other processes' data directories are not needed any more, nor is the schema scrip in the database",
        config.data_dir.display()
    ));
    Ok(())
}

fn finalize(args: FinalizeArgs) -> Result<(), Failure> {
    match args
        .place
        .examiner(None)?
        .raise_format()
        .map_err(Failure::new)?
    {
        Raised::Newest(format) => print::line(&format!(
            "nothing to do: the log has format {format}, and this version knows no newer one"
        )),
        Raised::To(format) => print::line(&format!("the log has format {format} from now on")),
        Raised::TooOld(addresses) => {
            return Err(Failure(format!(
                "processes of an older version were seen within ten minutes: {}. Replace them first",
                addresses.join(", ")
            )));
        }
    }
    Ok(())
}
