//! The listeners of a process, and the servers that answer at them.

use std::{future::pending, io, sync::Arc};

use axum::Router;
use scrip_http::connections::{self as server, Responder, Server, ServerSettings, tls::Tls};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

use super::addresses::BoundSockets;
use crate::{app, config::Config};

/// Where a process is reached, with the TLS for it.
pub(super) struct Listeners {
    pub(super) main: TcpListener,
    /// Where administrators reach it, if not there.
    pub(super) admin: Option<TcpListener>,
    /// Where Prometheus does.
    pub(super) metrics: Option<TcpListener>,
    /// Where this process reaches itself without TLS, because its certificate is not for loopback.
    inner: Option<TcpListener>,
    tls: Option<Arc<Tls>>,
}

impl Listeners {
    /// Listens at addresses that were reserved.
    pub(super) fn at(sockets: BoundSockets) -> io::Result<Self> {
        Ok(Self {
            main: server::listen(sockets.main)?,
            admin: sockets.admin.map(server::listen).transpose()?,
            metrics: sockets.metrics.map(server::listen).transpose()?,
            inner: sockets.inner.map(server::listen).transpose()?,
            tls: sockets.tls,
        })
    }
}

/// Connections to the metrics at an address of their own.
const METRICS_CONNECTIONS: usize = 64;

/// Answers at the address of the metrics.
pub(super) fn serve_metrics(
    listener: TcpListener,
    router: Router,
    config: &Config,
) -> JoinHandle<()> {
    let settings = ServerSettings::from(&config.http);
    let settings = ServerSettings {
        max_connections: METRICS_CONNECTIONS.min(settings.max_connections),
        ..settings
    };
    let server = Server::new(listener, router, settings);
    tokio::spawn(server.run(pending(), pending()))
}

/// A process that answers.
pub(super) struct Serving {
    main: JoinHandle<()>,
    stopping: Arc<Notify>,
    cut_off: Arc<Notify>,
    /// What ends with it: the servers at other addresses, and the watch over the certificate's files.
    pub(super) beside: Vec<JoinHandle<()>>,
}

impl Serving {
    /// Answers at all addresses but that of the metrics.
    pub(super) fn start(listeners: Listeners, service: impl Responder, config: &Config) -> Self {
        let tls = listeners.tls;
        let server = |listener| Server::new(listener, service.clone(), (&config.http).into());
        let beside = |listener, tls| {
            let server = server(listener)
                .trusting(&config.trusted_proxies)
                .speaking(tls);
            tokio::spawn(server.run(pending(), pending()))
        };
        let inner = listeners.inner.map(|listener| beside(listener, None));
        let admin = listeners
            .admin
            .map(|listener| beside(listener, tls.clone()));
        let watch = tls
            .clone()
            .map(|tls| tokio::spawn(async move { tls.watch().await }));
        let public = app::public(service.clone(), config);
        let main = Server::new(listeners.main, public, (&config.http).into())
            .trusting(&config.trusted_proxies)
            .speaking(tls);
        let (stopping, cut_off) = <(Arc<Notify>, Arc<Notify>)>::default();
        let (stop, give_up) = (Arc::clone(&stopping), Arc::clone(&cut_off));
        Self {
            main: tokio::spawn(async move { main.run(stop.notified(), give_up.notified()).await }),
            stopping,
            cut_off,
            beside: [inner, admin, watch].into_iter().flatten().collect(),
        }
    }

    /// Takes no new connections from now on.
    pub(super) fn stop(&self) {
        self.stopping.notify_one();
    }

    /// Waits until requests in flight are answered, which are cut off when `give_up` ends. Streams have no end of their own.
    pub(super) async fn finish(&mut self, give_up: impl Future<Output = ()>) {
        tokio::select! {
            _ = &mut self.main => {}
            () = give_up => {
                self.cut_off.notify_one();
                drop((&mut self.main).await);
            }
        }
    }

    /// Ends what runs beside it.
    pub(super) fn end(self) {
        for task in self.beside {
            task.abort();
        }
    }
}
