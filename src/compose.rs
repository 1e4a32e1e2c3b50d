//! The one place that picks the concrete parts and joins them: sled's journal under the wallets, the wallets under the
//! catalog, all of it under the router. Also the order in which they start and end.

#![allow(missing_docs, reason = "what a name says is not said again")]

mod addresses;
mod background;
mod cells;
mod certificate;
mod error;
mod follower_metrics;
mod member;
mod process;
mod serving;
mod store;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use accounts::{Accounts, ProviderEnvironment, Sandboxes};
use actors::{
    Cipher,
    clock::{Clock, SystemClock},
};
use addresses::{BoundSockets, provider_environment};
use background::Background;
use catalog::CatalogStore;
use cluster::ClusterPart;
use edge::EdgeState;
use identity::People;
use operations::data_dir::secrets::{ProvidedSecrets, Secrets};
use operations::{
    audit::AuditLog, backups::Backups, outstanding::OutstandingCredits, wallet_notes::WalletNotes,
};
use outbound::{CustomerMails, Webhooks, invitation_mail::Invitations, mail::Mailer};
use payments::Payments;
use persistence::Store;
use scrip_http::connections::{self as server, Server, descriptors, signals::Signals};
use scrip_http::limits::Limits;
use serving::{Listeners, Serving, serve_metrics};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{
    app::{self, AppState},
    config::{Config, Http, Token},
};

pub use addresses::{advice, is_open_to_others, oidc_callback, scheme};
pub use error::Error;
pub use member::{ClusterProcess, Ended, leave};
pub use process::{block_on, log_to_stderr, runtime};
pub(crate) use store::note_kinds;
pub use store::{EXIT_RESTART, open_store, wallets};
use store::{close, close_unused, open_data_dir};

/// After the log failed for good: time for the answers that say so to reach their callers.
const LAST_ANSWERS: Duration = Duration::from_secs(1);
/// What a service is built on: a process has sled and the machine's clock, a test what it brings.
pub struct Platform {
    /// The log and the books.
    pub store: Store,
    /// The clock that everything follows.
    pub clock: Arc<dyn Clock>,
}

/// A service that is ready for its first request.
pub struct Service {
    pub app: Arc<AppState>,
    /// `None`: the front of a process of several accepts its connections.
    listeners: Option<Listeners>,
    metrics: Option<TcpListener>,
    address: SocketAddr,
    /// Where administrators reach it, if not at its address.
    admin_address: Option<SocketAddr>,
    new_admin_token: Option<String>,
}

impl Service {
    /// Reserves the address, recovers what is stored, starts the wallets, and listens.
    /// # Errors
    /// Every [`Error`]; the store is closed in order then.
    pub async fn start(mut config: Config, provided: ProvidedSecrets) -> Result<Self, Error> {
        config.http.max_connections = descriptors::raise(config.http.max_connections)?;
        // An address that is taken is refused before the data is touched.
        let reserved = BoundSockets::all_of(&config)?;
        open_data_dir(&config)?;
        let platform = Platform {
            store: open_store(&config).await?,
            clock: Arc::new(SystemClock::new()),
        };
        Self::on(platform, reserved, config, provided).await
    }

    /// Starts over this store and clock; everything else is as configured.
    /// # Errors
    /// As for [`Service::start`].
    pub async fn start_on(
        platform: Platform,
        config: Config,
        provided: ProvidedSecrets,
    ) -> Result<Self, Error> {
        let reserved = BoundSockets::all_of(&config)?;
        Self::on(platform, reserved, config, provided).await
    }

    async fn on(
        platform: Platform,
        reserved: BoundSockets,
        config: Config,
        provided: ProvidedSecrets,
    ) -> Result<Self, Error> {
        // The journal holds the lock on the directory by now.
        let secrets = Secrets::open(&config.data_dir, provided).map_err(Error::from);
        let mut service =
            Self::over(platform, &config, reserved.addresses()?, secrets, None).await?;
        let mut listeners = Listeners::at(reserved)?;
        let admin = listeners.admin.as_ref().map(TcpListener::local_addr);
        service.admin_address = admin.transpose()?;
        service.metrics = listeners.metrics.take();
        service.listeners = Some(listeners);
        Ok(service)
    }

    /// A service at these addresses that does not listen yet. The store is closed in order where something above it fails.
    async fn over(
        platform: Platform,
        config: &Config,
        (address, own): (SocketAddr, SocketAddr),
        secrets: Result<Secrets, Error>,
        cluster: Option<Arc<ClusterPart>>,
    ) -> Result<Self, Error> {
        let place = provider_environment(config, address, own);
        let store = platform.store.clone();
        let opened = match secrets {
            Ok(secrets) => open_app(platform, config, place, secrets, cluster).await,
            Err(error) => Err(error),
        };
        match opened {
            Ok((app, new_admin_token)) => Ok(Self {
                app,
                listeners: None,
                metrics: None,
                address,
                admin_address: None,
                new_admin_token,
            }),
            Err(error) => {
                close_unused(store).await?;
                Err(error)
            }
        }
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address where administrators reach it: the same, unless they have one of their own.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin_address.unwrap_or(self.address)
    }

    /// The scheme at that address: `https` or `http`.
    pub fn scheme(&self) -> &'static str {
        scheme(&self.app.config)
    }

    /// The configuration of its HTTP server.
    pub fn http(&self) -> &Http {
        &self.app.config.http
    }

    /// The administrator's token, if it was made just now. To be shown once and not logged.
    pub fn new_admin_token(&self) -> Option<&str> {
        self.new_admin_token.as_deref()
    }

    /// An address that signs in to the dashboard, once and within a quarter of an hour: for the operator, never logged.
    /// # Errors
    /// [`catalog::Error::Randomness`] when the system has no random bytes.
    pub fn sign_in_link(&self) -> Result<String, catalog::Error> {
        let link = self
            .app
            .edge
            .people
            .sessions
            .link(self.app.edge.clock.now())?;
        let at = |address| format!("{}://{}", self.scheme(), server::reachable(address));
        let admin = self.admin_address();
        let base = match &self.app.config.public_url {
            _ if admin != self.address => at(admin),
            Some(url) => url.to_string(),
            None => at(self.address),
        };
        Ok(format!("{base}{}?link={link}", dashboard::SIGN_IN))
    }

    /// Answers requests until it is dropped, without any background task: a test that moves the
    /// clock runs the rounds itself.
    pub async fn answer(self) {
        let service = app::service(&self.app);
        let Some(listeners) = self.listeners else {
            return;
        };
        let server = Server::new(listeners.main, service, (&self.app.config.http).into())
            .trusting(&self.app.config.trusted_proxies);
        let never = std::future::pending;
        server.run(never(), never()).await;
    }

    /// Serves until a signal comes, finishes what is in flight, and closes. A second signal does not
    /// wait for requests in flight.
    /// # Errors
    /// [`Error::Wallets`] where not everything could be made durable.
    pub async fn run(mut self, mut signals: Signals) -> Result<(), Error> {
        if let Some(listeners) = self.listeners.take() {
            let figures = self.serve_metrics();
            let background = Background::start(&self.app);
            let service = app::service(&self.app);
            let mut serving = Serving::start(listeners, service, &self.app.config);
            serving.beside.extend(figures);
            signals.next().await;
            let grace = Duration::from_secs(self.app.config.shutdown_seconds);
            stop(&self.app, serving, background, grace, signals).await;
        }
        close(&self.app.handle).await
    }

    /// Closes without having served.
    /// # Errors
    /// [`Error::Wallets`] where not everything could be made durable.
    pub async fn close(self) -> Result<(), Error> {
        close(&self.app.handle).await
    }

    fn serve_metrics(&mut self) -> Option<JoinHandle<()>> {
        let listener = self.metrics.take()?;
        let router = app::metrics_router(&self.app);
        Some(serve_metrics(listener, router, &self.app.config))
    }
}

/// All parts of a service, joined; and the administrator's token where it is new.
async fn open_app(
    Platform { store, clock }: Platform,
    config: &Config,
    place: ProviderEnvironment,
    Secrets {
        admin_token_sha256,
        new_admin_token,
        server_keys,
    }: Secrets,
    cluster: Option<Arc<ClusterPart>>,
) -> Result<(Arc<AppState>, Option<String>), Error> {
    let handle = wallets(store, clock.clone(), &server_keys, config).await?;
    let cipher = Cipher::new(&server_keys, "scrip/provider/1");
    actors::notes::refuse_unknown(&handle, &note_kinds())?;
    let cell = cluster.as_ref().map(|part| part.cell());
    let cell = catalog::own_cell(&handle, cell).await?;
    let catalog = Arc::new(CatalogStore::load(handle.clone(), cipher, cell)?);
    let base = addresses::dashboard(config, &place.public_url);
    let unsubscribing = (
        Cipher::new(&server_keys, "scrip/mails/1"),
        place.public_url.clone(),
    );
    let accounts = Accounts::new(&handle, Arc::clone(&catalog), place, &server_keys)?;
    let accounts = Arc::new(accounts);
    let sandboxes = Sandboxes::start(&handle, &accounts, config.sandbox.faults);
    let payments = Payments::new(handle.clone(), Arc::clone(&catalog), accounts.clone())?;
    let audit = AuditLog::load(handle.clone())?;
    let people = Arc::new(People::load(handle.clone(), &server_keys, clock.now())?);
    let mailer = Mailer::start(&config.mail, &config.data_dir)?;
    let (backup, folder) = (config.backup.clone(), (config.data_dir.as_path(), cell));
    let backups = Backups::new(handle.clone(), clock.clone(), backup, folder, &server_keys);
    let metrics = certificate::all_metrics(config, cluster.as_ref());
    let counters = metrics.deliveries();
    let webhooks = Webhooks::new(&handle, &catalog, &config.webhooks, counters)?;
    let mails = CustomerMails::new(&handle, &catalog, mailer.clone(), unsubscribing)?;
    let edge = EdgeState {
        clock,
        handle: handle.clone(),
        catalog: Arc::clone(&catalog),
        limits: Arc::new(Limits::new(config.into())),
        bodies: (&config.http).into(),
        parameters: &web::QUERY_PARAMETERS,
        metrics,
        people,
        saving: tokio::sync::Mutex::default(),
        audit,
        admin_token_sha256,
        metrics_token_sha256: config.metrics.token.as_ref().map(Token::sha256),
    };
    let oidc = addresses::oidc(config, &base, &server_keys)?;
    let app = AppState {
        oidc,
        started_at: edge.clock.now(),
        edge: Arc::new(edge),
        outstanding: OutstandingCredits::new(handle.clone(), Arc::clone(&catalog)),
        wallet_notes: Arc::new(WalletNotes::new(handle.clone())),
        handle,
        catalog,
        payments,
        accounts,
        sandboxes,
        invitations: Arc::new(Invitations::new(base, mailer.clone())),
        mailer,
        backups: Arc::new(backups),
        cluster,
        webhooks,
        mails,
        config: Arc::new(config.clone()),
    };
    Ok((Arc::new(app), new_admin_token))
}

/// Takes no new connections, waits until requests in flight are answered, and ends all tasks. Requests are cut off at the
/// second signal, or when the time is up.
async fn stop(
    app: &AppState,
    mut serving: Serving,
    background: Background,
    grace: Duration,
    mut signals: Signals,
) {
    // Streams would go on for ever.
    app.handle.stop_watching();
    tracing::info!("Stopping: no new connections, requests in flight are finished");
    serving.stop();
    let give_up = async { drop(tokio::time::timeout(grace, signals.next()).await) };
    serving.finish(give_up).await;
    background.stop(app, grace).await;
    serving.end();
}
