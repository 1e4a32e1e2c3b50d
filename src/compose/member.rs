//! A process that shares its log with others: `cluster` joins, follows and leads; here are its configuration, its addresses,
//! and the service that it starts once it leads.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use actors::{
    Keyring,
    clock::{Clock as _, SystemClock},
};
use cluster::{
    Ending, ForwardSettings, FrontSettings, FrontSwitch, Joined, Process,
    postgres::{Clocks, Member, SEGMENT_FRAMES_LOG2, Server as Database},
    tls,
};
use operations::data_dir::{
    secrets::{self, ProvidedSecrets, Secrets},
    server_key,
};
use parking_lot::Mutex;
use scrip_http::connections::{descriptors, signals::Signals};
use web::api::FastPath;

use super::{
    BoundSockets, Error, Listeners, Platform, Service, Serving,
    addresses::scheme,
    background::Background,
    cells::{self, find_routing_key},
    close,
    follower_metrics::{FollowerMetrics, tokens},
    stop,
    store::{open_data_dir, store_options},
};
use crate::{
    app::{self, AppState},
    config::{Config, DatabaseUrl},
};

/// How old the newest snapshot of the books becomes.
const SNAPSHOT_INTERVAL: Duration = Duration::from_secs(3600);
/// How long a leader that ends waits for what is in flight, while other processes wait for it.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a follower that ends waits for answers to what it has passed on.
const FORWARD_TIMEOUT: Duration = Duration::from_secs(10);

/// A process that has joined, and does not lead yet.
pub struct ClusterProcess {
    config: Config,
    secrets: Secrets,
    process: Process<FastPath>,
    sockets: BoundSockets,
}

/// Why a process of a cluster ended in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// A signal came.
    Stopped,
    /// Another process takes its place: it is to be restarted, as a follower.
    HandedOver,
}

impl ClusterProcess {
    /// Reserves the address, opens the data directory, and reads the log as far as it goes.
    /// # Errors
    /// Every [`Error`].
    pub async fn join(
        mut config: Config,
        url: &DatabaseUrl,
        provided: ProvidedSecrets,
    ) -> Result<Self, Error> {
        config.http.max_connections = descriptors::raise(config.http.max_connections)?;
        let sockets = BoundSockets::all_of(&config)?;
        open_data_dir(&config)?;
        let address = match &config.cluster.address {
            Some(address) => address.to_string(),
            None => format!("{}://{}", scheme(&config), sockets.main.local_addr()?),
        };
        let (member, opened) = member(&config, url, address.into(), provided)?;
        let joined = Joined::join(store_options(&config), member).await?;
        let secrets = opened.lock().take();
        let secrets = secrets.ok_or_else(|| std::io::Error::other("no secrets were opened"))?;
        let settings = FrontSettings {
            server_key: secrets.server_keys.newest(),
            forward: forward_settings(&config)?,
            find: find_routing_key(Keyring::new(&secrets.server_keys)),
        };
        let process = joined.front(settings, |part| {
            let part = Arc::clone(part);
            let tokens = Arc::new(tokens(&config, &secrets));
            FollowerMetrics { part, tokens }.router()
        })?;
        Ok(Self {
            config,
            secrets,
            process,
            sockets,
        })
    }

    /// Serves until a signal comes, first through the process that leads, and by itself once it does. `on_listening` is
    /// given its address, and before it that of administrators where they have their own (`true`). `on_lead` is called
    /// when it leads.
    /// # Errors
    /// [`Error::Store`] where the log has gone another way, [`Error::Wallets`] where not everything could be made durable.
    pub async fn run(
        self,
        mut signals: Signals,
        on_listening: impl Fn(SocketAddr, bool),
        on_lead: impl FnOnce(&Service),
    ) -> Result<Ended, Error> {
        let (config, process) = (self.config, self.process);
        let addresses = self.sockets.addresses()?;
        let mut listeners = Listeners::at(self.sockets)?;
        let watching = process.watch().await;
        let metrics = listeners.metrics.take();
        let figures = FollowerMetrics::of(&config, &process.part);
        let (metrics, figures) = figures.serve(metrics, &config)?;
        if let Some(admin) = &listeners.admin {
            on_listening(admin.local_addr()?, true);
        }
        let mut serving = Serving::start(listeners, process.front.clone(), &config);
        serving.beside.extend(watching);
        on_listening(addresses.0, false);
        let (part, switch) = (Arc::clone(&process.part), process.switch.clone());
        let asked = async {
            signals.next().await;
            serving.stop();
        };
        let Some(lead) = process.follow(asked).await? else {
            serving.finish(tokio::time::sleep(FORWARD_TIMEOUT)).await;
            return Ok(Ended::Stopped);
        };
        let platform = Platform {
            store: lead.store,
            clock: lead.clock,
        };
        let (secrets, cluster) = (Ok(self.secrets), Some(Arc::clone(&part)));
        let mut service = Service::over(platform, &config, addresses, secrets, cluster).await?;
        service.metrics = metrics;
        let app = Arc::clone(&service.app);
        let background = Background::start(&app);
        if let Some(figures) = figures {
            figures.abort();
        }
        serving.beside.extend(service.serve_metrics());
        on_lead(&service);
        answer_here(&app, &switch);
        let ending = tokio::select! {
            () = signals.next() => None,
            ending = part.is_to_end() => Some(ending),
            () = part.leave_full_disk(|| app.handle.is_disk_full()) => None,
        };
        let grace = Duration::from_secs(config.shutdown_seconds).min(HAND_OVER_TIMEOUT);
        stop(&app, serving, background, grace, signals).await;
        let ended = match ending {
            None => Ended::Stopped,
            Some(_) => Ended::HandedOver,
        };
        if let Some(Ending::Split { projects, to }) = ending {
            // Whether it was logged or not, the log says it to the next leader.
            if let Err(error) = app.catalog.split(projects, to).await {
                tracing::error!(%error, cell = to, "Cell split outcome unknown");
            }
        }
        close(&app.handle).await?;
        Ok(ended)
    }
}

/// Takes the log out of its database into the data directory, which goes on by itself: see [`cluster::leave`].
/// # Errors
/// [`Error::Store`] where another process leads, the log was taken elsewhere, or the database does not answer;
/// otherwise as for [`ClusterProcess::join`].
pub async fn leave(
    config: Config,
    url: DatabaseUrl,
    provided: ProvidedSecrets,
) -> Result<(), Error> {
    open_data_dir(&config)?;
    // Nobody is reached here: the address is empty.
    let (member, _) = member(&config, &url, "".into(), provided)?;
    let left = tokio::task::spawn_blocking(move || cluster::leave(store_options(&config), member));
    Ok(left.await.map_err(std::io::Error::other)??)
}

/// Answers requests in this process for as long as it leads.
fn answer_here(app: &Arc<AppState>, switch: &FrontSwitch<FastPath>) {
    if app.catalog.current().has_moved() {
        switch.routes().others_are_named();
    }
    let place = cells::place(Arc::clone(&app.catalog));
    let whose = cells::whose(Arc::clone(&app.edge));
    let handle = app.handle.clone();
    let leads = move || handle.leads();
    switch.here_while(app::service(app), cells::internal(app), place, whose, leads);
}

fn forward_settings(config: &Config) -> Result<ForwardSettings, Error> {
    let speak_tls = config.http.tls_cert.is_some();
    let tls = speak_tls.then(tls::trusting_system).transpose();
    Ok(ForwardSettings {
        trusted_proxies: config.trusted_proxies.clone(),
        max_kept_body_bytes: config.http.max_batch_body_bytes,
        // The leader takes so many connections of this process, which is one client to it; its pool has some more.
        max_under_way: config.http.max_connections_per_client.saturating_sub(64),
        tls: tls.map_err(std::io::Error::other)?,
    })
}

type OpenedSecrets = Arc<Mutex<Option<Secrets>>>;

/// How this data directory takes part in a cluster, and where its secrets are once it has joined.
fn member(
    config: &Config,
    url: &DatabaseUrl,
    address: Box<str>,
    provided: ProvidedSecrets,
) -> Result<(Member, OpenedSecrets), Error> {
    let secrets = OpenedSecrets::default();
    let member = Member {
        server: Database::parse(url.expose())?,
        cell: config.cluster.cell,
        split_from: config.cluster.split_from,
        address,
        key_check: Arc::new({
            let (secrets, data_dir) = (Arc::clone(&secrets), config.data_dir.clone());
            move |exists| {
                let unusable =
                    |error: secrets::Error| persistence::Error::Unusable(error.to_string());
                if exists {
                    provided.check_shared(&data_dir).map_err(unusable)?;
                }
                let opened = Secrets::open(&data_dir, provided.clone()).map_err(unusable)?;
                let fingerprint = server_key::fingerprints(&opened.server_keys);
                *secrets.lock() = Some(opened);
                Ok(fingerprint)
            }
        }),
        depth: config.storage.pipeline,
        clocks: Clocks::of({
            let clock = SystemClock::new();
            move || clock.wall()
        }),
        snapshot_every: Some(SNAPSHOT_INTERVAL),
        snapshots: config.storage.snapshots.clone(),
        segment_frames_log2: SEGMENT_FRAMES_LOG2,
        on_leader: Arc::new(|_| {}),
    };
    Ok((member, secrets))
}
