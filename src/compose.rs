//! The one place that picks the concrete parts and joins them: sled's journal under the wallets, the
//! wallets under the catalog, all of it under the router. Also the order in which they start and
//! end.

use std::{
    io::IsTerminal as _,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use actors::{
    Handle, Keyring, Seal,
    clock::{Clock, SystemClock},
};
use notes::AnyKind;
use persistence::{Backlog, SledJournal, Store};
use tokio::{
    net::{TcpListener, TcpSocket},
    runtime::Runtime,
    sync::Notify,
    task::JoinHandle,
};
use tracing_subscriber::EnvFilter;

use crate::{
    app::{self, App, AppState},
    audit::{AuditLog, PageNote},
    backups::Backups,
    catalog::CatalogStore,
    config::{Config, Http, LogFormat},
    dashboard::Sessions,
    data_dir,
    limits::{Limits, Settings},
    metrics::Metrics,
    outbound::{
        mail::{self, Mailer},
        webhooks::{self, Webhooks},
    },
    payments::{self, Payments},
    providers::{Accounts, ObjectIdNote, Place, SandboxNote, Sandboxes},
    secrets::{Given, Secrets},
    server::{
        self, Server,
        descriptors::{self, TooFew},
        signals::Signals,
        tls::{self, Files, Tls},
    },
};

/// Why the service did not start, or did not end in order.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is taken or not ours.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// The data directory cannot be opened or closed.
    #[error(transparent)]
    Store(#[from] persistence::Error),
    /// The data directory cannot be made or looked into.
    #[error("{} cannot be used: {error}", path.display())]
    Data {
        /// Which.
        path: PathBuf,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// A secret is missing or does not fit.
    #[error(transparent)]
    Secrets(#[from] crate::secrets::Error),
    /// The catalog cannot be read.
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    /// A note that was stored cannot be read.
    #[error(transparent)]
    Notes(#[from] notes::Error),
    /// The wallets did not start.
    #[error(transparent)]
    Wallets(#[from] actors::Error),
    /// Mails cannot be sent as configured.
    #[error("mail: {0}")]
    Mail(#[from] mail::Error),
    /// The operating system refused something else.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The certificate or its key cannot be used.
    #[error("TLS: {0}")]
    Tls(#[from] tls::Error),
    /// Too few connections could be taken.
    #[error(transparent)]
    Descriptors(#[from] TooFew),
    /// `log` in the configuration is no filter.
    #[error("configuration: log: {0}")]
    Log(String),
}

/// After the log failed for good: time for the answers that say so to reach their callers.
const LAST_ANSWERS: Duration = Duration::from_secs(1);
/// Any port of this machine alone.
const INNER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Connections of whoever reads the figures at an address of their own.
const FIGURES_CONNECTIONS: usize = 64;
/// How often sled collects garbage; durability does not hang on it.
const GARBAGE_INTERVAL_MS: u64 = 200;

/// What a service stands on: a process has sled and the machine's clock, a test what it brings.
pub struct Ground {
    /// Where everything is kept.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Addresses that are ours, and on which nobody is listened to yet; and how they will be spoken to.
struct Reserved {
    main: TcpSocket,
    metrics: Option<TcpSocket>,
    tls: Option<Arc<Tls>>,
    inner: Option<TcpSocket>,
}

impl Reserved {
    fn all_of(config: &Config) -> Result<Self, Error> {
        let reserve =
            |address| server::reserve(address).map_err(|error| Error::Listen { address, error });
        let tls = open_tls(&config.http)?;
        Ok(Self {
            main: reserve(config.listen)?,
            metrics: config.metrics.listen.map(reserve).transpose()?,
            inner: tls.as_ref().map(|_| reserve(INNER)).transpose()?,
            tls,
        })
    }
}

/// All kinds of notes that there are, whoever keeps them.
pub(crate) fn note_kinds() -> Vec<AnyKind> {
    const OTHERS: [AnyKind; 3] = [
        AnyKind::of::<ObjectIdNote>(),
        AnyKind::of::<SandboxNote>(),
        AnyKind::of::<PageNote>(),
    ];
    [payments::NOTE_KINDS, webhooks::NOTE_KINDS, &OTHERS].concat()
}

/// A service that is ready for its first request.
pub struct Service {
    app: App,
    config: Arc<Config>,
    listener: TcpListener,
    metrics: Option<TcpListener>,
    tls: Option<Arc<Tls>>,
    /// Where this server reaches itself without TLS, whose certificate is not for loopback.
    inner: Option<TcpListener>,
    address: SocketAddr,
    new_admin_token: Option<String>,
}

impl Service {
    /// Reserves the address, recovers what is stored, starts the wallets, and listens.
    ///
    /// # Errors
    ///
    /// Every [`Error`]; the store is closed in order then.
    pub async fn start(mut config: Config, given: Given) -> Result<Self, Error> {
        config.http.max_connections = descriptors::raise(config.http.max_connections)?;
        // An address that is taken is refused before the data is touched.
        let reserved = Reserved::all_of(&config)?;
        data_dir::open(&config.data_dir).map_err(|error| Error::Data {
            path: config.data_dir.clone(),
            error,
        })?;
        let ground = Ground {
            store: open_store(&config).await?,
            clock: Arc::new(SystemClock::new()),
        };
        Self::on(ground, reserved, config, given).await
    }

    /// The same on other ground: all but the store and the clock is what the settings say.
    ///
    /// # Errors
    ///
    /// As for [`Service::start`].
    pub async fn start_on(ground: Ground, config: Config, given: Given) -> Result<Self, Error> {
        let reserved = Reserved::all_of(&config)?;
        Self::on(ground, reserved, config, given).await
    }

    async fn on(
        ground: Ground,
        reserved: Reserved,
        config: Config,
        given: Given,
    ) -> Result<Self, Error> {
        let address = reserved.main.local_addr()?;
        let own = match &reserved.inner {
            Some(inner) => inner.local_addr()?,
            None => address,
        };
        let place = place(&config, address, own);
        let store = ground.store.clone();
        let opened = Self::over(ground, &config, place, given).await;
        let (app, new_admin_token) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                // The journal is closed in order whatever failed above it.
                tokio::task::spawn_blocking(move || store.log.close())
                    .await
                    .map_err(std::io::Error::other)??;
                return Err(error);
            }
        };
        let listener = server::listen(reserved.main)?;
        let metrics = reserved.metrics.map(server::listen).transpose()?;
        let inner = reserved.inner.map(server::listen).transpose()?;
        let config = Arc::clone(&app.config);
        Ok(Self {
            app,
            config,
            listener,
            metrics,
            tls: reserved.tls,
            inner,
            address,
            new_admin_token,
        })
    }

    async fn over(
        Ground { store, clock }: Ground,
        config: &Config,
        place: Place,
        given: Given,
    ) -> Result<(App, Option<String>), Error> {
        // The journal holds the lock on the directory by now.
        let Secrets {
            admin_token_sha256,
            new_admin_token,
            server_key,
        } = Secrets::open(&config.data_dir, given)?;
        let handle = wallets(store, clock.clone(), &server_key, config).await?;
        let seal = Seal::new(&server_key, "scrip/provider/1");
        let catalog = Arc::new(CatalogStore::load(handle.clone(), seal)?);
        notes::refuse_unknown(&handle, &note_kinds())?;
        let of = Arc::clone(&catalog);
        let accounts = Arc::new(Accounts::new(&handle, of, place, &server_key)?);
        let sandboxes = Sandboxes::start(&handle, &accounts, config.sandbox.unkind);
        let providers = Arc::clone(&accounts);
        let payments = Payments::new(handle.clone(), Arc::clone(&catalog), providers)?;
        let audit = AuditLog::load(handle.clone())?;
        let mailer = Mailer::start(&config.mail, &config.data_dir)?;
        let backups = Backups::new(handle.clone(), clock.clone(), config, &server_key);
        let metrics = Metrics::new();
        let counters = metrics.deliveries();
        let webhooks = Webhooks::new(&handle, &catalog, &config.webhooks, counters)?;
        let app = AppState {
            handle,
            catalog,
            payments,
            accounts,
            sandboxes,
            mailer,
            backups: Arc::new(backups),
            webhooks,
            audit,
            dashboard: Sessions::default(),
            limits: Limits::new(Settings::from(config)),
            config: Arc::new(config.clone()),
            admin_token_sha256,
            started_at: clock.now(),
            clock,
            metrics,
        };
        Ok((Arc::new(app), new_admin_token))
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// How it is spoken to there.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        scheme(&self.config)
    }

    /// How it takes requests.
    #[must_use]
    pub fn http(&self) -> &Http {
        &self.config.http
    }

    /// The administrator's token, if it was made just now. To be shown once and not logged.
    #[must_use]
    pub fn new_admin_token(&self) -> Option<&str> {
        self.new_admin_token.as_deref()
    }

    /// An address that signs in to the dashboard, once and for a quarter of an hour. To be shown to the
    /// operator and not logged.
    ///
    /// # Errors
    ///
    /// [`catalog::Error::Randomness`]
    pub fn sign_in_link(&self) -> Result<String, catalog::Error> {
        let link = self.app.dashboard.link(self.app.clock.now())?;
        let base = match &self.config.public_url {
            Some(url) => url.to_string(),
            None => format!("{}://{}", self.scheme(), server::reachable(self.address)),
        };
        Ok(format!("{base}{}?link={link}", crate::dashboard::SIGN_IN))
    }

    /// What its handlers share.
    #[must_use]
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// The catalog.
    #[must_use]
    pub fn catalog(&self) -> &CatalogStore {
        &self.app.catalog
    }

    /// Payments.
    #[must_use]
    pub fn payments(&self) -> &Payments {
        &self.app.payments
    }

    /// Who the projects' providers are.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.app.accounts
    }

    /// The wallets.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.app.handle
    }

    /// Answers requests until it is dropped, and does nothing by itself: rounds are the affair of
    /// whoever moves the clock.
    pub async fn answer(self) {
        let service = app::service(Arc::clone(&self.app));
        let server = Server::new(self.listener, service, self.config.http.clone())
            .trusting(&self.config.trusted_proxies);
        let never = std::future::pending;
        server.run(never(), never()).await;
    }

    /// Serves until a signal comes, finishes what is in flight, and closes. A second signal does not
    /// wait for requests in flight.
    ///
    /// # Errors
    ///
    /// [`Error::Wallets`] where not everything could be made durable.
    pub async fn run(mut self, mut signals: Signals) -> Result<(), Error> {
        let figures = self
            .metrics
            .take()
            .map(|listener| self.serve_figures(listener));
        let rounds = self.app.payments.start();
        let endpoints = self.app.accounts.keep_endpoints();
        let scheduled = self.app.backups.keep_schedule();
        let deliveries = self.app.webhooks.start();
        let service = app::service(Arc::clone(&self.app));
        let inner = self.inner.take().map(|listener| {
            let server = Server::new(listener, service.clone(), self.config.http.clone());
            tokio::spawn(server.run(std::future::pending(), std::future::pending()))
        });
        let watched = self
            .tls
            .clone()
            .map(|tls| tokio::spawn(async move { tls.watch().await }));
        let server = Server::new(self.listener, service, self.config.http.clone())
            .trusting(&self.config.trusted_proxies)
            .speaking(self.tls);
        let grace = Duration::from_secs(self.config.shutdown_seconds);
        let stopping = Arc::new(Notify::new());
        let stopped = Arc::clone(&stopping);
        let watch = tokio::spawn(async move {
            signals.next().await;
            tracing::info!("stopping: no new connections, requests in flight are finished");
            stopped.notify_one();
            // In vain unless the first one is not enough.
            drop(tokio::time::timeout(grace, signals.next()).await);
        });
        let give_up = async { drop(watch.await) };
        server.run(stopping.notified(), give_up).await;
        drop((rounds, endpoints));
        tokio::join!(deliveries.stop(grace), self.app.mailer.shut_down(grace));
        for beside in [figures, inner, watched, scheduled].into_iter().flatten() {
            beside.abort();
        }
        close(&self.app.handle).await
    }

    /// Closes without having served.
    pub async fn close(self) -> Result<(), Error> {
        close(&self.app.handle).await
    }

    fn serve_figures(&self, listener: TcpListener) -> JoinHandle<()> {
        let router = app::metrics_router(Arc::clone(&self.app));
        let http = Http {
            max_connections: FIGURES_CONNECTIONS.min(self.config.http.max_connections),
            ..self.config.http.clone()
        };
        let server = Server::new(listener, router, http);
        tokio::spawn(server.run(std::future::pending(), std::future::pending()))
    }
}

/// Both files, where they are set.
fn open_tls(http: &Http) -> Result<Option<Arc<Tls>>, Error> {
    let files = http.tls_cert.clone().zip(http.tls_key.clone());
    let tls = files.map(|(cert, key)| Tls::open(Files { cert, key }));
    Ok(tls.transpose()?.map(Arc::new))
}

fn scheme(config: &Config) -> &'static str {
    match config.http.tls_cert {
        Some(_) => "https",
        None => "http",
    }
}

/// What an operator should know who listens on this address in the clear.
#[must_use]
pub fn advice(address: SocketAddr, http: &Http) -> Option<String> {
    let plain = http.tls_cert.is_none() && !address.ip().to_canonical().is_loopback();
    plain.then(|| {
        format!(
            "warning: {address} is reached over plain HTTP: keys, codes and what they open can be read \
             on the way. Set http.tls_cert and http.tls_key, or listen on 127.0.0.1 behind a proxy that \
             speaks TLS (caddy reverse-proxy --from pay.example --to 127.0.0.1:{port}) and name it in \
             trusted_proxies",
            port = address.port()
        )
    })
}

/// Where this server is, as far as its settings and the addresses that it got say.
fn place(config: &Config, address: SocketAddr, own: SocketAddr) -> Place {
    let own_url = format!("http://{}", server::reachable(own));
    let at_address = || format!("{}://{}", scheme(config), server::reachable(address));
    let public_url = config.public_url.as_ref();
    Place {
        public_url: public_url.map_or_else(at_address, ToString::to_string),
        own_url,
        stripe_api: config.stripe.api_base.clone(),
        stripe_per_second: config.stripe.background_per_second,
    }
}

async fn close(handle: &Handle) -> Result<(), Error> {
    handle.shut_down().await?;
    tracing::info!("stopped: everything is durable");
    Ok(())
}

/// Opens the store in the data directory, which recovers it.
///
/// # Errors
///
/// [`Error::Store`] where the directory is in use, damaged or cannot be written durably.
pub async fn open_store(config: &Config) -> Result<Store, Error> {
    let settings = &config.journal;
    let defaults = persistence::Options::new(config.data_dir.clone());
    let options = persistence::Options {
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
        allow_unsynced: settings.allow_unsynced,
        completions: actors::completions(),
        on_fatal: Arc::new(abort),
        ..defaults
    };
    let opened = tokio::task::spawn_blocking(move || SledJournal::open(options));
    Ok(Store::of(Arc::new(
        opened.await.map_err(std::io::Error::other)??,
    )))
}

/// The log failed under us: what it holds is only known after a restart. The store must not be
/// dropped, for that would write once more.
fn abort(why: &str) {
    let message = format!(
        "scrip: the log cannot be written any more and the service stops: {why}. Nothing that was \
         acknowledged is lost; start it again once the cause is gone.\n"
    );
    // Not through the log subscriber: this line must come out whatever the filter says.
    let told = std::io::Write::write_all(&mut std::io::stderr().lock(), message.as_bytes());
    drop(told);
    std::thread::spawn(|| {
        std::thread::sleep(LAST_ANSWERS);
        std::process::abort();
    });
}

/// Starts the wallets over a store. Codes are kept under the server key.
///
/// # Errors
///
/// [`Error::Wallets`] where the books cannot be read.
pub async fn wallets(
    store: Store,
    clock: Arc<dyn Clock>,
    server_key: &[u8; 32],
    config: &Config,
) -> Result<Handle, Error> {
    let settings = &config.actors;
    let options = actors::Options {
        max_in_flight: settings.max_in_flight,
        max_in_flight_per_wallet: settings.max_in_flight_per_wallet,
        max_awake: settings.max_awake,
        sweep_interval: Duration::from_secs(1),
        idle_sweeps: settings.idle_seconds,
    };
    Ok(Handle::start(store, clock, Keyring::new(server_key), options).await?)
}

/// The threads that everything runs on.
pub fn runtime(config: &Config) -> std::io::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if config.http.workers > 0 {
        builder.worker_threads(config.http.workers);
    }
    builder.thread_name("scrip").enable_all().build()
}

/// Runs a service to its end on [threads](runtime) of its own. What blocks one of them even then, such as a
/// look-up of a receiver's name, holds up nobody: everything is durable.
///
/// # Errors
///
/// No threads can be had.
pub fn block_on<T>(config: &Config, service: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = runtime(config)?;
    let ended = runtime.block_on(service);
    runtime.shutdown_timeout(LAST_ANSWERS);
    Ok(ended)
}

/// Sends log lines to standard error.
pub fn log_to_stderr(config: &Config) -> Result<(), Error> {
    let filter: EnvFilter = config
        .log
        .parse()
        .map_err(|error| Error::Log(format!("{error}")))?;
    // Colours are for terminals, and for people who want them.
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal() && !plain)
        .with_writer(std::io::stderr)
        // It would say so on the same stream, and panic in whoever wrote where nobody reads it any more.
        .log_internal_errors(false);
    let set = match config.log_format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    set.map_err(|error| Error::Log(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn a_thread_that_is_blocked_holds_up_no_end() {
        let config = Config::read(&Flags::default()).unwrap();
        let (holds, held) = std::sync::mpsc::channel::<()>();
        let ended = block_on(&config, async {
            tokio::task::spawn_blocking(move || held.recv());
        });
        assert!(ended.is_ok());
        drop(holds);
    }

    #[test]
    fn who_listens_in_the_clear_is_told_what_to_do() {
        let mut http = Config::read(&Flags::default()).unwrap().http;
        let told = |address: &str, http: &Http| advice(address.parse().unwrap(), http);
        for open in ["0.0.0.0:8787", "192.0.2.1:80", "[::]:8787"] {
            let told = told(open, &http).unwrap();
            assert!(told.contains(open) && told.contains("tls_cert"), "{told}");
        }
        assert_eq!(told("127.0.0.1:8787", &http), None);
        assert_eq!(told("[::1]:8787", &http), None);
        http.tls_cert = Some("cert.pem".into());
        assert_eq!(told("0.0.0.0:8787", &http), None);
    }
}
