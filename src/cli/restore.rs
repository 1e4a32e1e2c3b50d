//! `scrip restore`: restores a backup into an empty data directory. An interrupted restore continues where it
//! stopped.

use std::path::PathBuf;

use clap::Args;
use operations::data_dir::{
    secrets::{ProvidedSecrets, SERVER_KEY_VARIABLE},
    server_key::KeyState,
};
use persistence::{
    Faults,
    backup::{self, Restore, RestoreSummary},
};
use wire::view::instant;

use super::{Failure, local::LocalArgs, print, progress::with_bar, verify};
use crate::config::Config;

/// What to restore, and where to.
#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// The directory of the backups [default: `backup.to` of the configuration].
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// The backup's name [default: the newest].
    #[arg(long, value_name = "NAME")]
    backup: Option<String>,
    #[command(flatten)]
    local: LocalArgs,
}

pub(super) fn run(args: RestoreArgs) -> Result<(), Failure> {
    let config = args.local.read()?;
    let from = args.from.or_else(|| config.backup.to.clone());
    let from = from.ok_or_else(|| {
        Failure("name a directory with --from: the configuration has none".into())
    })?;
    let what = Restore {
        from,
        name: args.backup,
        dir: config.data_dir.clone(),
        allow_unsynced: config.journal.allow_unsynced,
        faults: Faults::default(),
    };
    let restored = with_bar(|on_progress| backup::restore(&what, on_progress));
    let restored = restored.map_err(Failure::new)?;
    operations::data_dir::open(&config.data_dir).map_err(Failure::new)?;
    print_summary(&restored, &config)
}

fn print_summary(restored: &RestoreSummary, config: &Config) -> Result<(), Failure> {
    let dir = config.data_dir.display();
    print::line(&format!(
        "backup {}, made at {}, is in {dir}",
        restored.name,
        instant(restored.made_at)
    ));
    print::line(&format!(
        "{} frames of the log were replayed",
        restored.frames
    ));
    match &restored.report {
        None => print::line("an earlier attempt verified the data; this one moved it into place"),
        Some(report) => {
            let documents = report.documents.as_deref().unwrap_or_default();
            let notes = report.notes.as_deref().unwrap_or_default();
            let problems = verify::problems(&report.problems, documents, notes);
            for problem in &problems {
                print::line(&format!("PROBLEM: {problem}"));
            }
            if !problems.is_empty() {
                return Err(Failure(format!(
                    "the backup has {} problems",
                    problems.len()
                )));
            }
            print::line(&format!(
                "the restored data was verified and has no problems: {} wallets, {} ledger records, {} orders",
                report.wallets, report.records, report.orders
            ));
        }
    }
    let provided = ProvidedSecrets::from_environment()
        .map_err(Failure::new)?
        .server_key;
    let key = KeyState::of(&config.data_dir, provided.as_deref()).map_err(Failure::new)?;
    print::line(&match key {
        KeyState::Fits => "the server key matches the backup".into(),
        KeyState::Missing(check) => format!(
            "the server key is missing: put server.key into {dir} or set {SERVER_KEY_VARIABLE} before the server \
             starts. Without the key whose check begins with {check} no recovery code can be read"
        ),
        KeyState::Other(check) => format!(
            "the server key does not match the backup, which needs the one whose check begins with {check}"
        ),
    });
    print::line(
        "once started, the server asks the payment providers what has happened since; credits granted and \
         deducted by other means since then are lost",
    );
    Ok(())
}
