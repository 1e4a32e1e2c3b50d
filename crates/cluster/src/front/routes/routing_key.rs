//! What a request is about, and with that which cell it goes to.

use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use domain::id::ProjectId;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RoutingKey {
    /// A project, which is in one cell.
    Project(ProjectId),
    /// The project of an API key, of which this is the SHA-256.
    ApiKey([u8; 32]),
    /// The cell with this number, which the request names outright.
    Cell(i16),
    /// No project, but something that has one place: it goes to the cell with the lowest number.
    Lowest,
}

/// Finds what a request is about; `None`: any cell may answer it.
pub type FindRoutingKey = Arc<dyn Fn(&Uri, &HeaderMap) -> Option<RoutingKey> + Send + Sync>;

/// In which cell the project or API key is, as a leader knows it of its own log: the own cell, another to which it
/// knows that the project went, or `None` where it knows neither. Asked about nothing else.
pub(crate) type Placement = Arc<dyn Fn(&RoutingKey) -> Option<i16> + Send + Sync>;
