//! What one cell of a cluster asks the others, and how a request names one of them.

use std::{net::IpAddr, pin::Pin};

use axum::{
    body::Bytes,
    http::{HeaderMap, Uri},
};

/// What an operator asks the other cells of a cluster. Each is asked at the process that leads it.
pub trait OtherCells: Send + Sync {
    /// Their numbers, in order.
    fn numbers(&self) -> Vec<i16>;

    /// What a cell's leader answers to a request between processes; `None` where it does not.
    fn ask(&self, cell: i16, question: Question) -> AnswerFuture<'_>;
}

/// An answer that is waited for.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Option<Bytes>> + Send + 'a>>;

/// A request between the processes of a cluster.
#[derive(Debug, Clone)]
pub struct Question {
    /// The path below `/cluster/`, with its query.
    pub path: String,
    /// What the answer depends on.
    pub headers: HeaderMap,
    /// Whose request it is about.
    pub client: IpAddr,
}

/// The cell that the query of an operator's request names: `?cell=1`.
#[must_use]
pub fn named(uri: &Uri) -> Option<i16> {
    let pairs = uri.query()?.split('&');
    let value = pairs.filter_map(|pair| pair.strip_prefix("cell=")).next()?;
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|_| is_number)
}
