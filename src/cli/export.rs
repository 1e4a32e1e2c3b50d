//! `scrip export`: ledgers as JSON Lines or CSV, of all wallets or of one project, user or wallet.
//! `docs/export.md` describes the format. A running server's data is copied first, like a backup, so that all
//! of it is as of one moment.

mod copied;

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use actors::ledger_id;
use clap::{Args, ValueEnum};
use domain::{
    history::{Entry, Record},
    id::{OrderId, ProjectId, WalletId},
    text::ExternalUserId,
    wallet::{Owner, Wallet},
};
use persistence::{Error, Reader, SledJournal};
use serde::Serialize;
use serde_json::value::RawValue;
use tempfile::NamedTempFile;
use url::Url;
use wire::{
    csv::harmless,
    view::{Instant, instant},
};

use self::copied::BackupCopy;
use super::{Failure, admin_token::TokenArgs, local::LocalArgs, print, progress::Bar, remote};
use crate::config::Config;

/// The columns of the CSV form.
const COLUMNS: [&str; 13] = [
    "createdAt",
    "projectId",
    "walletId",
    "externalUserId",
    "productId",
    "reason",
    "delta",
    "balanceAfter",
    "orderId",
    "idempotencyKey",
    "expiresAt",
    "meta",
    "id",
];

/// What to export, and where to.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The file to write, which must not exist; `-` for standard output.
    #[arg(value_name = "FILE")]
    to: PathBuf,
    /// The format of the file.
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Only this project's wallets.
    #[arg(long, value_name = "PROJ_ID")]
    project: Option<ProjectId>,
    /// Only this user's wallets.
    #[arg(long, value_name = "ID", value_parser = user_id)]
    external_user_id: Option<ExternalUserId>,
    /// Only this wallet.
    #[arg(long, value_name = "WAL_ID")]
    wallet: Option<WalletId>,
    /// Where to keep a temporary copy of a running server's data; the server must be able to write there
    /// [default: beside the file].
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The running server [default: the one that uses the data directory, where it listens by the
    /// configuration].
    #[arg(long, env = "SCRIP_URL", value_parser = remote::server_url)]
    url: Option<Url>,
    #[command(flatten)]
    token: TokenArgs,
    #[command(flatten)]
    local: LocalArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object per line, without loss.
    Jsonl,
    /// One row per ledger entry, for spreadsheets.
    Csv,
}

pub(super) fn run(args: ExportArgs) -> Result<(), Failure> {
    let config = args.local.read()?;
    let dir = &config.data_dir;
    if !dir.join("sled").exists() {
        return Err(Failure(format!("{} contains no Scrip data", dir.display())));
    }
    // Before the data is copied.
    free(&args.to)?;
    if !persistence::is_in_use(dir).map_err(Failure::new)? {
        return from(dir, &config, &args);
    }
    let copy = BackupCopy::make(&args, &config)?;
    from(copy.dir(), &config, &args)
}

/// Exports from a data directory that no server uses.
fn from(dir: &Path, config: &Config, args: &ExportArgs) -> Result<(), Failure> {
    let mut options = persistence::Options::new(dir);
    options.allow_unsynced = config.journal.allow_unsynced;
    options.min_free_bytes = 0;
    let (wallets, entries) = if args.to == Path::new("-") {
        write(options, args, io::stdout().lock())?
    } else {
        to_file(options, args)?
    };
    // On standard error, as a program may read standard output.
    print::error(&format!("{entries} ledger entries of {wallets} wallets"));
    Ok(())
}

fn free(to: &Path) -> Result<(), Failure> {
    match to != Path::new("-") && to.symlink_metadata().is_ok() {
        false => Ok(()),
        true => Err(Failure(format!(
            "{} already exists and is not overwritten",
            to.display()
        ))),
    }
}

/// Writes a file that only its owner can read; it exists as a whole or not at all.
fn to_file(options: persistence::Options, args: &ExportArgs) -> Result<(u64, u64), Failure> {
    let to = &args.to;
    let unusable = |error: &io::Error| Failure(format!("cannot use {}: {error}", to.display()));
    let folder = to.parent().filter(|it| !it.as_os_str().is_empty());
    let file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
    let file = file.map_err(|error| unusable(&error))?;
    let counts = write(options, args, file.as_file())?;
    file.as_file()
        .sync_all()
        .map_err(|error| unusable(&error))?;
    file.persist_noclobber(to)
        .map_err(|error| unusable(&error.error))?;
    Ok(counts)
}

fn write(
    options: persistence::Options,
    args: &ExportArgs,
    to: impl Write,
) -> Result<(u64, u64), Failure> {
    let journal = SledJournal::open(options).map_err(Failure::new)?;
    let mut out = Out {
        args,
        rows: match args.format {
            Format::Jsonl => Rows::Jsonl(BufWriter::new(to)),
            Format::Csv => Rows::Csv(Box::new(csv::Writer::from_writer(to))),
        },
        wallets: 0,
        entries: 0,
        bar: Bar::sharing(),
    };
    let read = out.head().and_then(|()| journal.read_all(&mut out));
    let ended = read.and_then(|()| out.end());
    out.bar.end();
    persistence::Log::close(&journal).map_err(Failure::new)?;
    ended.map_err(Failure::new)?;
    Ok((out.wallets, out.entries))
}

enum Rows<W: Write> {
    Jsonl(BufWriter<W>),
    Csv(Box<csv::Writer<W>>),
}

struct Out<'a, W: Write> {
    args: &'a ExportArgs,
    rows: Rows<W>,
    wallets: u64,
    entries: u64,
    bar: Bar,
}

/// One line of the JSON Lines format.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum ExportLine<'a> {
    #[serde(rename_all = "camelCase")]
    Wallet {
        id: String,
        project_id: String,
        external_user_id: Option<&'a str>,
        balances: Vec<Balance>,
    },
    #[serde(rename_all = "camelCase")]
    Entry {
        id: String,
        wallet_id: String,
        product_id: String,
        delta: i64,
        balance_after: i64,
        reason: domain::history::Reason,
        created_at: Instant,
        order_id: Option<String>,
        idempotency_key: Option<&'a str>,
        expires_at: Option<Instant>,
        meta: Option<Box<RawValue>>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Balance {
    product_id: String,
    balance: i64,
    held: i64,
    owed: i64,
}

impl<W: Write> Out<'_, W> {
    fn head(&mut self) -> Result<(), Error> {
        match &mut self.rows {
            Rows::Jsonl(_) => Ok(()),
            Rows::Csv(rows) => rows.write_record(COLUMNS).map_err(|error| failed(&error)),
        }
    }

    fn end(&mut self) -> Result<(), Error> {
        let flushed = match &mut self.rows {
            Rows::Jsonl(rows) => rows.flush(),
            Rows::Csv(rows) => rows.flush(),
        };
        flushed.map_err(|error| failed(&error))
    }

    fn wants(&self, wallet: &Wallet) -> bool {
        let args = self.args;
        args.project.is_none_or(|project| project == wallet.project)
            && args.wallet.is_none_or(|id| id == wallet.id)
            && args
                .external_user_id
                .as_ref()
                .is_none_or(|user| matches!(&wallet.owner, Owner::External(owner) if owner == user))
    }
}

impl<W: Write> Reader for Out<'_, W> {
    fn wallet(&mut self, wallet: &Wallet) -> Result<bool, Error> {
        // Wallets come in the order of their keys, which are hashes: the key shows the progress.
        let [high, low, ..] = wallet.key.0;
        self.bar
            .at(u16::from_be_bytes([high, low]).into(), u16::MAX.into());
        if !self.wants(wallet) {
            return Ok(false);
        }
        self.wallets = self.wallets.saturating_add(1);
        if let Rows::Jsonl(rows) = &mut self.rows {
            let accounts = wallet.accounts().iter();
            let balances = accounts.map(|account| Balance {
                product_id: account.product.to_string(),
                balance: account.available(),
                held: account.set_aside(),
                owed: account.debt().owed,
            });
            let line = ExportLine::Wallet {
                id: wallet.id.to_string(),
                project_id: wallet.project.to_string(),
                external_user_id: user(wallet),
                balances: balances.collect(),
            };
            put(rows, &line)?;
        }
        Ok(true)
    }

    fn record(&mut self, wallet: &Wallet, record: Record) -> Result<(), Error> {
        let (seq, at) = (record.seq, record.at);
        let Some(entry) = record.entry() else {
            return Ok(());
        };
        self.entries = self.entries.saturating_add(1);
        let id = ledger_id((wallet.id, wallet.key), seq, at).to_string();
        let order = entry.order.map(|serial| OrderId {
            serial,
            wallet: wallet.key,
        });
        let order = order.map(|order| order.to_string());
        match &mut self.rows {
            Rows::Jsonl(rows) => put(
                rows,
                &ExportLine::Entry {
                    id,
                    wallet_id: wallet.id.to_string(),
                    product_id: entry.product.to_string(),
                    delta: entry.delta,
                    balance_after: entry.balance_after,
                    reason: entry.reason,
                    created_at: instant(at),
                    order_id: order,
                    idempotency_key: entry.key.as_ref().map(|key| key.as_str()),
                    expires_at: entry.expires_at.map(instant),
                    meta: meta(entry),
                },
            ),
            Rows::Csv(rows) => {
                let reason = serde_json::to_value(entry.reason).map_err(|error| failed(&error))?;
                let text = |text: Option<&str>| text.map(harmless).unwrap_or_default();
                let row = [
                    instant(at).to_string(),
                    wallet.project.to_string(),
                    wallet.id.to_string(),
                    text(user(wallet)),
                    entry.product.to_string(),
                    reason.as_str().unwrap_or_default().to_owned(),
                    entry.delta.to_string(),
                    entry.balance_after.to_string(),
                    order.unwrap_or_default(),
                    text(entry.key.as_ref().map(|key| key.as_str())),
                    entry
                        .expires_at
                        .map(|at| instant(at).to_string())
                        .unwrap_or_default(),
                    text(entry.meta.as_ref().map(|meta| meta.as_str())),
                    id,
                ];
                rows.write_record(row).map_err(|error| failed(&error))
            }
        }
    }
}

fn user_id(text: &str) -> Result<ExternalUserId, String> {
    ExternalUserId::new(text).map_err(|error| error.to_string())
}

fn user(wallet: &Wallet) -> Option<&str> {
    match &wallet.owner {
        Owner::External(user) => Some(user.as_str()),
        Owner::Code { .. } | Owner::Order => None,
    }
}

fn meta(entry: &Entry) -> Option<Box<RawValue>> {
    let meta = entry.meta.as_ref()?;
    RawValue::from_string(meta.as_str().to_owned()).ok()
}

fn put(to: &mut impl Write, line: &ExportLine<'_>) -> Result<(), Error> {
    serde_json::to_writer(&mut *to, line).map_err(|error| failed(&error))?;
    to.write_all(b"\n").map_err(|error| failed(&error))
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::Io(format!("writing the export: {error}"))
}
