//! `scrip cluster`: what processes that share a log in PostgreSQL are doing, and what an operator does with them.

use clap::{Args, Subcommand};
use cluster::postgres::{CellState, ClusterState, Examiner, MemberState, Raised, Server};
use operations::data_dir::secrets::ProvidedSecrets;
use serde_json::{Value, json};

use super::{Failure, api, local::LocalArgs, print, table::OutputArgs};
use crate::{
    compose,
    config::{Config, DatabaseUrl},
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
    /// Move the log from the database into this data directory.
    ///
    /// All processes have to be stopped. One of them goes on by itself.
    Leave(LocalArgs),
    /// Raise the log's format, once every process has the newest version.
    Finalize(LocalArgs),
}

#[derive(Debug, Args)]
struct StatusArgs {
    #[command(flatten)]
    local: LocalArgs,
    /// The cell, where there are several [default: cluster.cell].
    #[arg(long, value_name = "NUMBER")]
    cell: Option<i16>,
    #[command(flatten)]
    output: OutputArgs,
}

/// The configuration with the database that has the log.
fn read(local: &LocalArgs) -> Result<(Config, DatabaseUrl), Failure> {
    let config = local.read()?;
    let url = config.storage.url.clone().ok_or_else(|| {
        Failure::new(
            "storage.url is not set: the log is in the data directory, and there is no cluster",
        )
    })?;
    Ok((config, url))
}

fn examiner(local: &LocalArgs, cell: Option<i16>) -> Result<Examiner, Failure> {
    let (config, url) = read(local)?;
    let server = Server::parse(url.expose()).map_err(Failure::new)?;
    Ok(Examiner::new(server, cell.unwrap_or(config.cluster.cell)))
}

pub(super) fn run(args: ClusterArgs) -> Result<(), Failure> {
    match args.command {
        Command::Status(args) => status(&args),
        Command::Leave(local) => leave(&local),
        Command::Finalize(local) => finalize(&local),
    }
}

fn status(args: &StatusArgs) -> Result<(), Failure> {
    let examiner = examiner(&args.local, args.cell)?;
    let cells = examiner.cells().map_err(Failure::new)?;
    let state = examiner.cluster().map_err(Failure::new)?;
    let state = state.ok_or_else(|| match cells.is_empty() {
        true => Failure::new(
            "the database has no cluster yet: `scrip serve` makes it at its first start",
        ),
        false => Failure::new("there is no such cell"),
    })?;
    let print = |state: &Value| api::print_answer("", state);
    args.output.print(&document(&state, &cells), print);
    Ok(())
}

/// The state for programs: times in seconds.
fn document(state: &ClusterState, cells: &[CellState]) -> Value {
    let cells = cells.iter();
    let cells = cells.map(|cell| json!({"cell": cell.cell, "leader": cell.leader}));
    let members = state.members.iter().map(|member| {
        json!({
            "address": member.address,
            "role": role(state, member),
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

fn role(state: &ClusterState, member: &MemberState) -> String {
    match (state.leads(member), member.is_present(), member.joins) {
        (true, ..) => "leads".into(),
        (false, true, None) => "follows".into(),
        (false, true, Some(cell)) => format!("waits to become cell {cell}"),
        (false, false, _) => "gone".into(),
    }
}

fn leave(local: &LocalArgs) -> Result<(), Failure> {
    let (config, url) = read(local)?;
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

fn finalize(local: &LocalArgs) -> Result<(), Failure> {
    match examiner(local, None)?
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
