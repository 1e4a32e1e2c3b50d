//! `/metrics` of a process that follows: for the same tokens as the whole service's.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
    routing::get,
};
use cluster::ClusterPart;
use operations::data_dir::secrets::Secrets;
use tokio::{net::TcpListener, task::JoinHandle};
use web::health::OPEN_METRICS;

use super::serving::serve_metrics;
use crate::config::{Config, Token};

/// `/metrics` of a process that does not lead.
#[derive(Clone)]
pub(super) struct FollowerMetrics {
    pub(super) part: Arc<ClusterPart>,
    /// The hashes of the tokens that may read them; empty: everybody may.
    pub(super) tokens: Arc<Vec<[u8; 32]>>,
}

/// The tokens that may read the metrics beside everything else.
pub(super) fn tokens(config: &Config, secrets: &Secrets) -> Vec<[u8; 32]> {
    let own = config.metrics.token.as_ref().map(Token::sha256);
    own.into_iter()
        .chain([secrets.admin_token_sha256])
        .collect()
}

impl FollowerMetrics {
    /// At an address of their own, where they have one.
    pub(super) fn of(config: &Config, part: &Arc<ClusterPart>) -> Self {
        let own = config.metrics.token.as_ref().map(Token::sha256);
        Self {
            part: Arc::clone(part),
            tokens: Arc::new(own.into_iter().collect()),
        }
    }

    pub(super) fn router(self) -> Router {
        Router::new()
            .route("/metrics", get(figures))
            .with_state(self)
    }

    /// Serves them there until the process leads, and returns the listener for then.
    pub(super) fn serve(
        self,
        listener: Option<TcpListener>,
        config: &Config,
    ) -> std::io::Result<(Option<TcpListener>, Option<JoinHandle<()>>)> {
        let Some(listener) = listener else {
            return Ok((None, None));
        };
        let listener = listener.into_std()?;
        let own = TcpListener::from_std(listener.try_clone()?)?;
        let serving = serve_metrics(own, self.router(), config);
        Ok((Some(TcpListener::from_std(listener)?), Some(serving)))
    }
}

async fn figures(
    State(metrics): State<FollowerMetrics>,
    headers: HeaderMap,
) -> Result<Response, wire::Error> {
    let may_read = metrics.tokens.is_empty() || edge::auth::carries(&headers, &metrics.tokens)?;
    if !may_read {
        return Err(wire::Error::new(wire::ErrorCode::InvalidApiKey));
    }
    let text = metrics.part.render();
    let text = text.map_err(|_| wire::Error::new(wire::ErrorCode::InternalError))?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}
