//! `scrip verify`: checks everything that is stored, while no server uses it. The journal checks what it
//! stores; the catalog's and the notes' owners check their contents.

use actors::{
    clock::{Clock as _, SystemClock},
    notes::{self, NoteKind as _},
};
use clap::Args;
use domain::catalog::{self, Document};
use operations::data_dir::verified::VerifyResult;
use persistence::StoredNote;

use super::{Failure, local::LocalArgs, print};
use crate::{compose::note_kinds, payments::EventNote};

/// What to verify.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    local: LocalArgs,
}

pub(super) fn run(args: VerifyArgs) -> Result<(), Failure> {
    let dir = args.local.read()?.data_dir;
    let report = persistence::verify::verify(&dir).map_err(Failure::new)?;
    let documents = report.documents.as_deref().unwrap_or_default();
    let notes = report.notes.as_deref().unwrap_or_default();
    let unprocessed = notes
        .iter()
        .filter(|(key, _)| key.first() == Some(&EventNote::NUMBER))
        .count();
    let problems = problems(&report.problems, documents, notes);
    let count = |some: usize| u64::try_from(some).unwrap_or(u64::MAX);
    for (count, of_what) in [
        (report.wallets, "wallets"),
        (report.records, "ledger records in checkpoints"),
        (report.frames, "frames of the log after the last checkpoint"),
        (report.pending_events, "events in them"),
        (report.index_keys, "look-up keys"),
        (report.orders, "orders"),
        (count(documents.len()), "catalog documents"),
        (count(notes.len()), "notes"),
        (
            count(unprocessed),
            "of them events of payment providers, not processed yet",
        ),
        (
            report.project_events,
            "events for projects' servers in checkpoints",
        ),
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
            "The stored state has the log up to frame {lsn}. The log is in the database and was not read."
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
