//! `scrip cluster`: what processes that share a log in PostgreSQL are doing, and what an operator does with them.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use data_dir::secrets::ProvidedSecrets;
use persistence::postgres::{ClusterState, Examiner, Raised, Server};
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
    /// Shows who leads, who follows and how far they are, by what the database holds.
    Status(StatusArgs),
    /// Asks the process that leads to stop, so that another takes its place; it ends with 75, to be started anew.
    HandOver(HandOverArgs),
    /// Takes the log out of the database into this data directory, to be served by itself. All processes have to be
    /// stopped.
    Leave(LeaveArgs),
    /// Lets the log hold what the newest version allows, once every process has it.
    Finalize(FinalizeArgs),
}

#[derive(Debug, Args)]
struct StatusArgs {
    #[command(flatten)]
    place: DatabaseArgs,
    /// Prints JSON, for programs.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct HandOverArgs {
    #[command(flatten)]
    server: ServerArgs,
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

    fn examiner(self) -> Result<Examiner, Failure> {
        let (_, url) = self.read(None)?;
        let server = Server::parse(url.expose()).map_err(Failure::new)?;
        Ok(Examiner::new(server, compose::CELL))
    }
}

pub(super) fn run(args: ClusterArgs) -> Result<(), Failure> {
    match args.command {
        Command::Status(args) => status(args),
        Command::HandOver(args) => hand_over(&args),
        Command::Leave(args) => leave(args),
        Command::Finalize(args) => finalize(args),
    }
}

fn status(args: StatusArgs) -> Result<(), Failure> {
    let state = args.place.examiner()?.cluster().map_err(Failure::new)?;
    let state = state.ok_or_else(|| {
        Failure::new("the database has no cluster yet: `scrip serve` makes it at its first start")
    })?;
    if args.json {
        table::json(&document(&state));
        return Ok(());
    }
    let line = |name: &str, text: &str| print::line(&table::plain(&format!("{name:<10}{text}")));
    line("cluster", &state.id.to_string());
    line(
        "leader",
        &state.leader.as_ref().map_or_else(
            || "nobody".into(),
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
        "ADDRESS", "ROLE", "VERSION", "HEAD", "FOLDED", "LAG", "SEEN",
    ];
    let mut members = Table::new(&headings);
    for member in &state.members {
        let role = match (state.leads(member), member.is_present()) {
            (true, _) => "leads",
            (false, true) => "follows",
            (false, false) => "gone",
        };
        members.row([
            member.address.clone(),
            role.into(),
            member.version.clone(),
            member.head.to_string(),
            member.folded.to_string(),
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
            snapshot.folded.to_string(),
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
fn document(state: &ClusterState) -> Value {
    let members = state.members.iter().map(|member| {
        json!({
            "address": member.address,
            "leads": state.leads(member),
            "version": member.version,
            "format": member.format,
            "head": member.head,
            "folded": member.folded,
            "lag": state.lag(member),
            "seenSecondsAgo": member.seen.as_secs(),
        })
    });
    let snapshots = state.snapshots.iter().map(|snapshot| {
        json!({
            "name": snapshot.name,
            "folded": snapshot.folded,
            "ageSeconds": snapshot.age.as_secs(),
        })
    });
    let leader = state.leader.as_ref();
    json!({
        "cluster": state.id.to_string(),
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
            .accept(Method::POST, "/cluster/hand-over")
            .await
            .map_err(Failure::from)
    })?;
    print::line("the leader stops and another process takes its place: see `scrip cluster status`");
    Ok(())
}

fn leave(args: LeaveArgs) -> Result<(), Failure> {
    let (config, url) = args.place.read(args.data_dir)?;
    compose::log_to_stderr(&config).map_err(Failure::new)?;
    let left = compose::leave(config.clone(), url, ProvidedSecrets::from_environment());
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
        .examiner()?
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
