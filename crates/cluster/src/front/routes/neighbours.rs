//! Asks the leaders of other cells something, as one process of the cluster asks another.

use std::{net::SocketAddr, time::Duration};

use axum::http::{HeaderMap, Method, Response, header, uri::PathAndQuery};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use tokio::time::timeout;

use super::{Routes, table::CellLeaders};
use crate::front::{
    headers::{NOT_LEADING, keep_end_to_end},
    token::Author,
};

/// For a whole answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of an answer.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// The other cells. Cheap to clone.
#[derive(Clone)]
pub struct Neighbours(Routes);

/// Why a cell's leader has not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreached {
    #[error("no leader of the cell is known")]
    NoLeader,
    #[error("the process does not lead the cell")]
    NotLeading,
    #[error("the leader of the cell does not answer as it should")]
    NoAnswer,
}

impl Neighbours {
    pub(super) const fn new(routes: Routes) -> Self {
        Self(routes)
    }

    /// The numbers of the other cells, from the lowest on, and who leads each if that is known.
    pub fn leaders(&self) -> CellLeaders {
        let own = self.0.own().cell;
        let table = self.0.0.table.load();
        let others = table.cells().iter().filter(|cell| cell.link.cell != own);
        let leaders = others.map(|cell| (cell.link.cell, cell.leader.clone()));
        leaders.collect()
    }

    /// Asks the leader of a cell for a path with these headers, in the name of a client. It answers within 2 s, and up
    /// to 16 MiB. A path below `/cluster/` is answered by its internal router, any other one by its service.
    /// # Errors
    /// [`Unreached`] where there is no answer.
    pub async fn get(
        &self,
        cell: i16,
        path_and_query: PathAndQuery,
        mut headers: HeaderMap,
        client: SocketAddr,
    ) -> Result<Response<Bytes>, Unreached> {
        let (_, leader) = self.0.leader(cell).ok_or(Unreached::NoLeader)?;
        // There is no body.
        headers.remove(header::CONTENT_LENGTH);
        let forwarder = &self.0.0.forwarder;
        let (from, to) = ((Author::Process, client), (cell, &leader));
        let request = forwarder.signed(from, to, &Method::GET, path_and_query, &headers);
        let request = request.ok_or(Unreached::NoAnswer)?;
        let answer = async {
            let response = forwarder.exchange(request).await;
            let response = response.map_err(|_| Unreached::NoAnswer)?;
            if response.headers().contains_key(NOT_LEADING) {
                return Err(Unreached::NotLeading);
            }
            let (mut head, body) = response.into_parts();
            keep_end_to_end(&mut head.headers);
            let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
            let body = body.map_err(|_| Unreached::NoAnswer)?.to_bytes();
            Ok(Response::from_parts(head, body))
        };
        match timeout(ANSWER_TIMEOUT, answer).await {
            Ok(answered) => answered,
            Err(_) => Err(Unreached::NoAnswer),
        }
    }
}
