//! A process that shares its log with others: it follows the one that leads, passes requests on to it, and takes its
//! place when it is gone. It goes that way once; a leader that loses the log ends, and is started anew.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use actors::{
    Keyring,
    clock::{Clock as _, SystemClock},
};
use cluster::{ForwardSettings, Forwarder, Front, FrontSwitch, Origin};
use domain::Timestamp;
use operations::cluster::{ClusterPart, Ending, FrontCounts};
use operations::data_dir::{
    secrets::{self, ProvidedSecrets, Secrets},
    server_key,
};
use parking_lot::Mutex;
use persistence::{
    Store,
    postgres::{Examiner, Followed, Follower, Member, SEGMENT_FRAMES_LOG2, Server as Database},
};
use scrip_http::connections::{self as server, Server, descriptors, signals::Signals};
use tokio::sync::Notify;
use web::api::FastPath;

use super::{
    BoundSockets, Error, Platform, Service,
    addresses::{provider_environment, scheme},
    background::Background,
    beside::{last_answers, serve_beside},
    cells::{self, Others, Switch, find_routing_key, list},
    close,
    follower_metrics::{FollowerMetrics, tokens},
    leader_seen::{LeaderSeen, local},
    store::{close_unused, store_options},
};
use crate::{
    app,
    config::{Config, DatabaseUrl},
};

/// How long the database may take to be there at the start.
const DATABASE_WITHIN: Duration = Duration::from_secs(60);

/// How old the newest snapshot of the books becomes.
const SNAPSHOT_EVERY: Duration = Duration::from_secs(3600);

/// How long a leader that ends waits for what is in flight: others wait for it meanwhile.
const HAND_OVER_WITHIN: Duration = Duration::from_secs(5);

type ServiceClock = Arc<OnceLock<Arc<dyn Fn() -> Timestamp + Send + Sync>>>;

/// A process that has joined, and does not lead yet.
pub struct ClusterProcess {
    config: Config,
    secrets: Secrets,
    /// What the log is told of the service's clock, once there is one.
    service_clock: ServiceClock,
    follower: Follower,
    front: Front<FastPath>,
    switch: FrontSwitch<FastPath>,
    part: Arc<ClusterPart>,
    sockets: BoundSockets,
}

impl ClusterProcess {
    /// Reserves the address, opens the data directory, and reads the log as far as it goes.
    ///
    /// # Errors
    ///
    /// Every [`Error`].
    pub async fn join(
        mut config: Config,
        url: &DatabaseUrl,
        provided: ProvidedSecrets,
    ) -> Result<Self, Error> {
        config.http.max_connections = descriptors::raise(config.http.max_connections)?;
        let sockets = BoundSockets::all_of(&config)?;
        operations::data_dir::open(&config.data_dir).map_err(|error| Error::Data {
            path: config.data_dir.clone(),
            error,
        })?;
        let address = match &config.cluster.address {
            Some(address) => address.to_string(),
            None => format!("{}://{}", scheme(&config), sockets.main.local_addr()?),
        };
        let own: Option<Origin> = address.parse().ok();
        let leader = Arc::new(LeaderSeen::default());
        let place: Box<str> = address.clone().into();
        let (member, secrets) = member(&config, url, address.into(), provided, {
            let leader = Arc::clone(&leader);
            move |address| leader.saw(address.and_then(|text| text.parse().ok()))
        })?;
        let service_clock = Arc::clone(&member.service_clock);
        let cell = config.cluster.cell;
        let examiner = Examiner::new(member.server.clone(), cell);
        let options = store_options(&config);
        let joined = tokio::task::spawn_blocking(move || {
            member.server.wait_until_there(DATABASE_WITHIN)?;
            Follower::join(options, member)
        });
        let follower = joined.await.map_err(std::io::Error::other)??;
        let opened = secrets.lock().take();
        let secrets = opened.ok_or_else(|| std::io::Error::other("no secrets were opened"))?;
        let settings = ForwardSettings {
            trusted_proxies: config.trusted_proxies.clone(),
            max_kept_body_bytes: config.http.max_batch_body_bytes,
            // The leader takes so many connections of this process, which is one client to it; its pool has some more.
            max_under_way: config.http.max_connections_per_client.saturating_sub(64),
            tls: None,
        };
        let forwarder = Forwarder::new(secrets.server_keys.newest(), settings)
            .map_err(|error| std::io::Error::other(error.to_string()))?;
        // What the front has counted is known once there is one, and the front needs who answers the metrics.
        let switch = Switch::default();
        let others = Box::new(Others(Arc::clone(&switch)));
        let part = ClusterPart::new((cell, place), others, examiner, follower.standing(), {
            let switch = Arc::clone(&switch);
            move || switch.get().map(counts).unwrap_or_default()
        });
        let figures = FollowerMetrics {
            part: Arc::clone(&part),
            tokens: Arc::new(tokens(&config, &secrets)),
        };
        let find = find_routing_key(Keyring::new(&secrets.server_keys));
        let router = local(&leader).merge(figures.router());
        let (front, made) = Front::new(router, forwarder, cell, find);
        drop(switch.set(made.clone()));
        leader.tell(made.clone(), own);
        Ok(Self {
            config,
            secrets,
            service_clock,
            follower,
            front,
            switch: made,
            part,
            sockets,
        })
    }

    /// Serves until a signal comes, first through the process that leads, and by itself once it does. `on_listening` is told
    /// its address, and before it that of administrators where they have their own (`true`). `on_lead` is told
    /// when that is so.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] where the log has gone another way, [`Error::Wallets`] where not everything could be made durable.
    pub async fn run(
        self,
        mut signals: Signals,
        on_listening: impl Fn(std::net::SocketAddr, bool),
        on_lead: impl FnOnce(&Service),
    ) -> Result<Ended, Error> {
        let Self {
            config,
            secrets,
            service_clock,
            follower,
            front,
            switch,
            part,
            sockets,
        } = self;
        let address = sockets.main.local_addr()?;
        let own = match &sockets.inner {
            Some(inner) => inner.local_addr()?,
            None => address,
        };
        let listener = server::listen(sockets.main)?;
        let metrics = sockets.metrics.map(server::listen).transpose()?;
        let admin = sockets.admin.map(server::listen).transpose()?;
        let inner = sockets.inner.map(server::listen).transpose()?;
        let looking = tokio::spawn(Arc::clone(&part).watch());
        let routes = switch.routes().clone();
        let listed = Arc::clone(&part);
        let routing = tokio::spawn(routes.clone().keep(move || list(Arc::clone(&listed))));
        routes.refreshed().await;
        let (metrics, followers) = FollowerMetrics::of(&config, &part).serve(metrics, &config)?;
        let stopping = Arc::new(Notify::new());
        let cut_off = Arc::new(Notify::new());
        if let Some(listener) = &admin {
            on_listening(listener.local_addr()?, true);
        }
        let admin = admin
            .map(|listener| serve_beside(listener, front.clone(), &config, sockets.tls.clone()));
        let public = app::public(front.clone(), &config);
        let server = Server::new(listener, public, (&config.http).into())
            .trusting(&config.trusted_proxies)
            .speaking(sockets.tls.clone());
        let (stop, give_up) = (Arc::clone(&stopping), Arc::clone(&cut_off));
        let mut server = tokio::spawn(async move {
            server.run(stop.notified(), give_up.notified()).await;
        });
        let inner = inner.map(|listener| serve_beside(listener, front, &config, None));
        on_listening(address, false);
        let is_stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_stopped);
        let mut following =
            tokio::task::spawn_blocking(move || follower.follow(&|| asked.load(Ordering::Acquire)));
        let mut is_asked_to_end = false;
        let followed = tokio::select! {
            followed = &mut following => followed,
            () = signals.next() => {
                is_asked_to_end = true;
                is_stopped.store(true, Ordering::Release);
                stopping.notify_one();
                following.await
            }
        };
        let followed = followed.map_err(std::io::Error::other)??;
        let (journal, clock) = match followed {
            Followed::Leads { journal, .. } if is_asked_to_end => {
                // It came to lead at the very moment: the next one takes over at once.
                close_unused(Store::of(journal)).await?;
                last_answers(server, &cut_off).await;
                return Ok(Ended::Stopped);
            }
            Followed::Leads { journal, clock } => (journal, clock),
            Followed::Stopped => {
                last_answers(server, &cut_off).await;
                return Ok(Ended::Stopped);
            }
            Followed::Taken { is_own } => {
                return Err(Error::Store(persistence::Error::Unusable(match is_own {
                    true => "this data directory has taken the log along: `scrip cluster leave` again ends what it \
                             began, and then it is served without storage.url"
                        .into(),
                    false => "the log has been taken out of the database by `scrip cluster leave`: it goes on where \
                              that was run"
                        .into(),
                })));
            }
        };
        tracing::info!("This process leads");
        part.leads();
        let clock = Arc::new(clock.map_or_else(SystemClock::new, SystemClock::resuming));
        let told = Arc::clone(&clock);
        drop(service_clock.set(Arc::new(move || told.now())));
        let platform = Platform {
            store: Store::of(journal),
            clock,
        };
        let place = provider_environment(&config, address, own);
        let store = platform.store.clone();
        let opened =
            Service::over(platform, &config, place, secrets, Some(Arc::clone(&part))).await;
        let (app, new_admin_token) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                close_unused(store).await?;
                return Err(error);
            }
        };
        let mut service = Service {
            config: Arc::clone(&app.config),
            app: Arc::clone(&app),
            listener: None,
            metrics,
            admin: None,
            tls: None,
            inner: None,
            address,
            new_admin_token,
        };
        let background = Background::start(&app);
        if let Some(followers) = followers {
            followers.abort();
        }
        let figures = service.serve_metrics();
        on_lead(&service);
        let handle = app.handle.clone();
        if app.catalog.current().has_moved() {
            switch.routes().others_are_named();
        }
        let place = cells::place(Arc::clone(&app.catalog));
        let internal = cells::internal(&app);
        let whose = cells::whose(Arc::clone(&app.edge));
        switch.here_while(app::service(&app), internal, place, whose, move || {
            handle.leads()
        });
        let watched = sockets
            .tls
            .map(|tls| tokio::spawn(async move { tls.watch().await }));
        let full = app.handle.clone();
        let ending = tokio::select! {
            () = signals.next() => None,
            ending = part.is_to_end() => Some(ending),
            () = part.leave_full_disk(|| full.is_disk_full()) => None,
        };
        app.handle.stop_watching();
        tracing::info!("Stopping: no new connections, requests in flight are finished");
        stopping.notify_one();
        let grace = Duration::from_secs(config.shutdown_seconds).min(HAND_OVER_WITHIN);
        let give_up = async {
            drop(tokio::time::timeout(grace, signals.next()).await);
            cut_off.notify_one();
        };
        tokio::select! {
            _ = &mut server => {}
            () = give_up => drop((&mut server).await),
        }
        background.stop(&app, grace).await;
        for beside in [figures, admin, inner, watched, Some(looking), Some(routing)]
            .into_iter()
            .flatten()
        {
            beside.abort();
        }
        let ended = match &ending {
            None => Ended::Stopped,
            Some(_) => Ended::HandedOver,
        };
        if let Some(Ending::Split { projects, to }) = ending {
            // Whether it was logged or not, the log says it to whoever goes on.
            if let Err(error) = app.catalog.split(projects, to).await {
                tracing::error!(%error, cell = to, "The cell was perhaps not split");
            }
        }
        close(&app.handle).await?;
        Ok(ended)
    }
}

/// Why a process of a cluster ended in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// A signal came.
    Stopped,
    /// Another process takes its place: it is to be started anew, as a follower.
    HandedOver,
}

/// The secrets that a member has opened.
pub(super) type OpenedSecrets = Arc<Mutex<Option<Secrets>>>;

/// How this data directory takes part in a cluster, and where its secrets are once it has joined.
pub(super) fn member(
    config: &Config,
    url: &DatabaseUrl,
    address: Box<str>,
    provided: ProvidedSecrets,
    on_leader: impl Fn(Option<&str>) + Send + Sync + 'static,
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
        clock: Arc::new({
            let clock = SystemClock::new();
            move || clock.wall()
        }),
        service_clock: Arc::default(),
        snapshot_every: Some(SNAPSHOT_EVERY),
        snapshots: config.storage.snapshots.clone(),
        segment_frames_log2: SEGMENT_FRAMES_LOG2,
        on_leader: Arc::new(on_leader),
    };
    Ok((member, secrets))
}

fn counts(switch: &FrontSwitch<FastPath>) -> FrontCounts {
    let figures = switch.figures();
    FrontCounts {
        held: figures.held,
        forwarded: figures.forwarded,
        refused: figures.refused,
        unknown: figures.unknown,
    }
}
