//! Opens the journal in the data directory, and starts the wallets over it, as the configuration says.

use std::{sync::Arc, time::Duration};

use accounts::{ObjectIdNote, SandboxNote};
use actors::{Handle, Keyring, ServerKeys, clock::Clock, notes::ErasedKind};
use catalog::{KeyUseNote, OwnCellNote, ProjectCellNote, RatesNote};
use operations::{audit::PageNote, wallet_notes::CommentNote};
use outbound::{customer_mail, webhooks};
use persistence::{Backlog, SledJournal, Store};

use super::{Error, LAST_ANSWERS};
use crate::{config::Config, payments};

/// How often sled collects garbage; durability does not depend on it.
const GARBAGE_INTERVAL_MS: u64 = 200;

/// Opens the store in the data directory, which recovers it.
/// # Errors
/// [`Error::Store`] where the directory is in use, damaged or cannot be written durably.
pub async fn open_store(config: &Config) -> Result<Store, Error> {
    let options = store_options(config);
    let opened = tokio::task::spawn_blocking(move || SledJournal::open(options));
    Ok(Store::of(Arc::new(
        opened.await.map_err(std::io::Error::other)??,
    )))
}

/// Makes the data directory, where there is none.
pub(super) fn open_data_dir(config: &Config) -> Result<(), Error> {
    let dir = &config.data_dir;
    operations::data_dir::open(dir)
        .map_err(|error| Error::Setting(format!("{} cannot be used: {error}", dir.display())))
}

pub(super) fn store_options(config: &Config) -> persistence::Options {
    let settings = &config.journal;
    let defaults = persistence::Options::new(config.data_dir.clone());
    persistence::Options {
        checkpoint: Backlog {
            events: settings.checkpoint_entries,
            ..defaults.checkpoint
        },
        backlog_limit: Backlog {
            events: settings.backlog_limit,
            bytes: settings.backlog_mb.saturating_mul(1 << 20),
        },
        cache_bytes: settings.cache_mb.saturating_mul(1 << 20),
        filter_bytes: usize::try_from(settings.filter_mb.saturating_mul(1 << 20))
            .unwrap_or(usize::MAX),
        flush_every_ms: GARBAGE_INTERVAL_MS,
        checkpoint_interval: Duration::from_millis(settings.checkpoint_interval_ms),
        min_free_bytes: settings.min_free_bytes,
        occupy_idle_threads: true,
        allow_unsynced: settings.allow_unsynced,
        completions: actors::completions(),
        on_fatal: Arc::new(abort),
        ..defaults
    }
}

/// The exit code of a process that is to be restarted, as a follower: `EX_TEMPFAIL`.
pub const EXIT_RESTART: i32 = 75;

/// Ends the process when the log fails: what it holds is only known after a restart. The store must
/// not be dropped, for that would write once more.
fn abort(why: &persistence::Error) {
    if let persistence::Error::Fenced(why) = why {
        let line = format!("scrip: {why}\n");
        drop(std::io::Write::write_all(
            &mut std::io::stderr().lock(),
            line.as_bytes(),
        ));
        std::thread::spawn(|| {
            std::thread::sleep(LAST_ANSWERS);
            std::process::exit(EXIT_RESTART);
        });
        return;
    }
    let message = format!(
        "scrip: the log cannot be written any more and the service stops: {why}. Nothing that was \
         acknowledged is lost; start it again once the cause is gone.\n"
    );
    // Not through the log subscriber: this line must come out with any filter.
    let written = std::io::Write::write_all(&mut std::io::stderr().lock(), message.as_bytes());
    drop(written);
    std::thread::spawn(|| {
        std::thread::sleep(LAST_ANSWERS);
        std::process::abort();
    });
}

/// Starts the wallets over a store. Recovery codes are encrypted under the newest server key.
/// # Errors
/// [`Error::Wallets`] where the books cannot be read.
pub async fn wallets(
    store: Store,
    clock: Arc<dyn Clock>,
    server_keys: &ServerKeys,
    config: &Config,
) -> Result<Handle, Error> {
    let settings = &config.actors;
    let options = actors::Options {
        max_in_flight: settings.max_in_flight,
        max_in_flight_per_wallet: settings.max_in_flight_per_wallet,
        max_awake: settings.max_awake,
        // Each holds a connection for as long as it lasts: others get a quarter of them.
        max_watchers: config.limits.streams.min(stream_connections(config)),
        sweep_interval: Duration::from_secs(1),
        idle_sweeps: settings.idle_seconds,
    };
    Ok(Handle::start(store, clock, Keyring::new(server_keys), options).await?)
}

fn stream_connections(config: &Config) -> usize {
    let all = config.http.max_connections;
    all.saturating_sub(all.div_euclid(4))
}

/// Closes a store over which no wallets were started, or whose wallets did not start.
pub(super) async fn close_unused(store: Store) -> Result<(), Error> {
    let closed = tokio::task::spawn_blocking(move || store.log.close());
    Ok(closed.await.map_err(std::io::Error::other)??)
}

/// Closes the store once everything that was answered is durable.
pub(super) async fn close(handle: &Handle) -> Result<(), Error> {
    handle.shut_down().await?;
    tracing::info!("Stopped: everything is durable");
    Ok(())
}

pub(crate) fn note_kinds() -> Vec<ErasedKind> {
    const OTHERS: [ErasedKind; 8] = [
        ErasedKind::of::<ProjectCellNote>(),
        ErasedKind::of::<OwnCellNote>(),
        ErasedKind::of::<KeyUseNote>(),
        ErasedKind::of::<RatesNote>(),
        ErasedKind::of::<ObjectIdNote>(),
        ErasedKind::of::<SandboxNote>(),
        ErasedKind::of::<PageNote>(),
        ErasedKind::of::<CommentNote>(),
    ];
    [
        payments::NOTE_KINDS,
        webhooks::NOTE_KINDS,
        &customer_mail::NOTE_KINDS,
        &identity::NOTE_KINDS,
        &OTHERS,
    ]
    .concat()
}
