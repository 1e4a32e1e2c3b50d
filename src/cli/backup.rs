//! `scrip backup`: has the running server make a backup and shows its progress; without a server that uses the
//! data directory, makes the backup itself. A running server writes the backup on its own machine.

use std::{path::PathBuf, time::Duration};

use actors::clock::{Clock as _, SystemClock};
use clap::Args;
use operations::backups::{name_at, warn_if_first};
use operations::data_dir::{
    backed_up,
    secrets::{ADMIN_TOKEN_VARIABLE, BackupSecrets, ProvidedSecrets},
    server_key,
};
use persistence::backup::BackUp;
use serde_json::{Value, json};
use url::Url;
use web::admin::{
    self,
    backups::{Backup, Backups},
};

use super::{
    Failure,
    admin_token::TokenArgs,
    api,
    local::LocalArgs,
    print,
    progress::{Bar, with_bar},
    remote::{self, ApiClient},
};
use crate::{compose, config::Config};

/// How often the server is asked for its progress.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// What to back up, and where to.
#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// The directory of the backups; created if it does not exist [default: `backup.to` of the
    /// configuration].
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// How many backups are kept there, 0 for all [default: `backup.keep` of the configuration].
    #[arg(long, value_name = "N")]
    keep: Option<u32>,
    /// Includes the server key: the backup is then enough to read recovery codes.
    #[arg(long)]
    with_server_key: bool,
    /// The running server [default: the one that uses the data directory, where it listens by the
    /// configuration].
    #[arg(long, env = "SCRIP_URL", value_parser = remote::server_url)]
    url: Option<Url>,
    #[command(flatten)]
    token: TokenArgs,
    #[command(flatten)]
    local: LocalArgs,
}

pub(super) fn run(args: BackupArgs) -> Result<(), Failure> {
    let config = args.local.read()?;
    let to = args.to.as_ref().map(std::path::absolute).transpose();
    let to = to.map_err(Failure::new)?;
    let running =
        args.url.is_some() || persistence::is_in_use(&config.data_dir).map_err(Failure::new)?;
    if running {
        by_server(&args, &config, to)
    } else {
        by_itself(&args, &config, to)
    }
}

/// The admin API of the server that uses the data directory.
pub(super) fn server_of(
    config: &Config,
    url: Option<&Url>,
    token: Option<&str>,
) -> Result<ApiClient, Failure> {
    let token = token.filter(|token| !token.is_empty()).ok_or_else(|| {
        Failure(format!(
            "a server is using {}: set {ADMIN_TOKEN_VARIABLE} to have it make the backup",
            config.data_dir.display()
        ))
    })?;
    let url: Url = match url {
        Some(url) => url.clone(),
        None if config.admin_address().port() == 0 => {
            return Err(Failure("name the running server with --url".into()));
        }
        None => super::doctor::configured_admin(config)
            .parse()
            .map_err(Failure::new)?,
    };
    ApiClient::new(&url, admin::PREFIX, token.to_owned())
}

/// Has a server make a backup, and shows its progress.
pub(super) async fn run_backup(server: &ApiClient, order: &Value) -> Result<Backup, Failure> {
    let path = "/backups";
    let begun: Backup = server.post(path, order).await?;
    let bar = Bar::new();
    loop {
        let all: Backups = server.get(path).await?;
        let ended = all.last.filter(|last| last.name == begun.name);
        if let Some(ended) = ended {
            bar.end();
            return match &ended.error {
                None => Ok(ended),
                Some(why) => Err(Failure(why.clone())),
            };
        }
        match all.running.filter(|running| running.name == begun.name) {
            Some(running) => bar.at(running.bytes, running.total_bytes),
            None => {
                return Err(Failure("the server no longer knows this backup".into()));
            }
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Has the running server make the backup.
fn by_server(args: &BackupArgs, config: &Config, to: Option<PathBuf>) -> Result<(), Failure> {
    let server = server_of(config, args.url.as_ref(), args.token.read()?.as_deref())?;
    let to = to.as_ref().map(|to| {
        let to = to.to_str();
        to.ok_or_else(|| Failure("--to is not valid UTF-8".into()))
    });
    let to = to.transpose()?;
    let body = json!({ "withServerKey": args.with_server_key, "to": to, "keep": args.keep });
    remote::wait(async {
        let made = run_backup(&server, &body).await?;
        let made = serde_json::to_value(made).map_err(Failure::new)?;
        print_summary(&made, args.with_server_key);
        Ok(())
    })
}

/// Makes the backup in this process, with the recovery that a server's start would do first.
fn by_itself(args: &BackupArgs, config: &Config, to: Option<PathBuf>) -> Result<(), Failure> {
    if !config.data_dir.join("sled").exists() {
        return Err(Failure(format!(
            "{} contains no Scrip data",
            config.data_dir.display()
        )));
    }
    let to = to
        .or_else(|| config.backup.to.clone())
        .ok_or_else(|| Failure("name a directory with --to: the configuration has none".into()))?;
    let keep = match args.keep {
        Some(0) => None,
        Some(keep) => usize::try_from(keep).ok(),
        None => config.backup.kept(),
    };
    let with_server_key = args.with_server_key || config.backup.with_server_key;
    compose::log_to_stderr(config).map_err(Failure::new)?;
    let runtime = compose::runtime(config).map_err(Failure::new)?;
    runtime.block_on(async {
        let store = compose::open_store(config).await.map_err(Failure::new)?;
        let made = (|| {
            let key = match with_server_key {
                true => {
                    let provided = ProvidedSecrets::from_environment()
                        .map_err(Failure::new)?
                        .server_key;
                    let key = server_key::existing(&config.data_dir, provided);
                    Some(key.map_err(Failure::new)?)
                }
                false => None,
            };
            let beside =
                BackupSecrets::read(&config.data_dir, key.as_ref()).map_err(Failure::new)?;
            let now = SystemClock::new().now();
            warn_if_first(&to);
            let what = BackUp {
                to,
                name: name_at(now),
                made_at: now,
                owner: beside.owner,
                files: beside.files,
                keep,
            };
            let made = with_bar(|on_progress| store.books.back_up(&what, on_progress));
            made.map(|made| (what, made)).map_err(Failure::new)
        })();
        store.log.close().map_err(Failure::new)?;
        let (what, made) = made?;
        if let Err(error) = backed_up::note(&config.data_dir, what.made_at) {
            tracing::warn!(%error, "The server will not know of this backup");
        }
        let backup = json!({
            "name": made.name,
            "to": what.to.display().to_string(),
            "records": made.moved.records,
            "bytes": made.moved.bytes,
            "newBytes": made.moved.new_bytes,
            "removed": made.removed_backups,
        });
        print_summary(&backup, with_server_key);
        Ok(())
    })
}

/// Prints what was backed up.
fn print_summary(backup: &Value, with_server_key: bool) {
    api::print_answer("Backup", backup);
    print::line(if with_server_key {
        "the server key is included: the backup is enough to read recovery codes"
    } else {
        "the server key is not included: keep a copy of server.key elsewhere, as a restored server needs it"
    });
}
