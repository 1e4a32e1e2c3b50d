//! `scrip verify`: checks everything that is stored, while no server uses it. The journal checks what it
//! stores; the catalog's and the notes' owners check their contents.

use std::path::PathBuf;

use actors::clock::{Clock as _, SystemClock};
use actors::notes;
use actors::notes::NoteKind as _;
use clap::Args;
use domain::catalog::{self, Document};
use operations::data_dir::verified::VerifyResult;
use persistence::StoredNote;

use super::{Failure, print};
use crate::{
    compose::note_kinds,
    config::{Config, Flags},
    payments::EventNote,
};

/// What to verify.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The data directory [default: as `scrip serve` would use].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// A configuration file [default: ./config.toml, if there is one].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(super) fn run(args: VerifyArgs) -> Result<(), Failure> {
    let flags = Flags {
        config: args.config,
        data_dir: args.data_dir,
        listen: None,
    };
    let dir = Config::read(&flags).map_err(Failure::new)?.data_dir;
    let report = persistence::verify::verify(&dir).map_err(Failure::new)?;
    let documents = report.documents.as_deref().unwrap_or_default();
    let notes = report.notes.as_deref().unwrap_or_default();
    let untold = notes
        .iter()
        .filter(|(key, _)| key.first() == Some(&EventNote::NUMBER))
        .count();
    let problems = problems(&report.problems, documents, notes);
    let count = |some: usize| u64::try_from(some).unwrap_or(u64::MAX);
    for (count, of_what) in [
        (report.wallets, "wallets"),
        (report.records, "folded ledger records"),
        (report.frames, "frames of the log not folded yet"),
        (report.pending_events, "events in them"),
        (report.index_keys, "look-up keys"),
        (report.orders, "orders"),
        (count(documents.len()), "catalog documents"),
        (count(notes.len()), "notes"),
        (
            count(untold),
            "of them events of payment providers, not processed yet",
        ),
        (report.project_events, "folded events for projects' servers"),
        (report.ledger_bytes, "bytes of wallets and ledgers"),
        (report.project_event_bytes, "bytes of events"),
        (report.usage_bytes, "bytes of usage"),
        (report.disk_bytes, "bytes on the disk"),
    ] {
        print::line(&format!("{count:>14} {of_what}"));
    }
    if let Some(log) = report.log_elsewhere {
        let lsn = log.lsn;
        print::line(&format!(
            "The books have the log up to frame {lsn}; it lies in the database and was not read."
        ));
    }
    let found = VerifyResult::new(SystemClock::new().now(), count(problems.len()));
    if let Err(error) = found.write(&dir) {
        tracing::warn!(%error, "The result could not be stored for the dashboard");
    }
    for problem in &problems {
        print::line(&format!("PROBLEM: {problem}"));
    }
    match problems.len() {
        0 => {
            print::line(&format!("{} is clean", dir.display()));
            Ok(())
        }
        problems => Err(Failure(format!(
            "{} has {problems} problems",
            dir.display()
        ))),
    }
}

/// All problems, one sentence each.
pub(super) fn problems(
    stored: &[String],
    documents: &[Document],
    notes: &[StoredNote],
) -> Vec<String> {
    let catalog = catalog::verify(documents);
    let notes = notes.iter().map(|(key, body)| (&**key, &**body));
    let notes = notes::verify(&note_kinds(), notes).into_iter();
    let stored = stored.iter().cloned();
    stored
        .chain(catalog)
        .chain(notes.map(|error| error.to_string()))
        .collect()
}
