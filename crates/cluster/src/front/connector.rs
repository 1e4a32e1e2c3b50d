//! The client that speaks to other processes, and what its errors mean.

use std::{
    error::Error as _,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{BoxError, body::Body, http::Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use rustls::ClientConfig;
use tokio::time::sleep;
use tower::Service;

/// For a connection, with TLS where the leader speaks it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Unused connections are closed after this, long before the leader closes them: one that it closes while a request is
/// written to it leaves the request's outcome unknown.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Unused connections that are kept for each process.
const IDLE_CONNECTIONS: usize = 256;
/// Between probes of a connection on which nothing comes: streams may be silent for long, also when their leader's
/// machine is gone.
const PROBE_INTERVAL: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read ahead of its client.
const BUFFER_BYTES: usize = 64 * 1024;

/// Sends requests to other processes.
pub(super) type HttpClient = Client<Timed<HttpsConnector<HttpConnector>>, Body>;

/// A client that trusts leaders as configured.
pub(super) fn client(tls: ClientConfig) -> HttpClient {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    http.set_keepalive(Some(PROBE_INTERVAL));
    http.set_keepalive_interval(Some(PROBE_INTERVAL));
    http.set_keepalive_retries(Some(3));
    let https = HttpsConnectorBuilder::new().with_tls_config(tls);
    let connector = Timed(https.https_or_http().enable_http1().wrap_connector(http));
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .http1_max_buf_size(BUFFER_BYTES)
        .build(connector)
}

/// Whether nothing of a request was written.
pub(super) fn is_unsent(error: &legacy::Error) -> bool {
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<hyper::Error>());
    error.is_connect() || source.is_some_and(hyper::Error::is_canceled)
}

/// A connector with a time limit for all of it: names, connection and TLS.
#[derive(Debug, Clone)]
pub(super) struct Timed<C>(C);

impl<C> Service<Uri> for Timed<C>
where
    C: Service<Uri, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move {
            tokio::select! {
                connected = connecting => connected.map_err(Into::into),
                () = sleep(CONNECT_TIMEOUT) => Err("it took too long to connect".into()),
            }
        })
    }
}
