//! The edge of the service, around every route: who calls, from where, how often, with how large a body, and what of
//! it goes into the audit log. It knows no endpoint.

pub mod audit;
pub mod auth;
pub mod body;
pub mod caller;
pub mod context;
pub mod csv;
pub mod gate;
pub mod layer;
mod parameters;
pub mod permission;
mod state;

pub use auth::{Authorized, Watcher};
pub use body::Body;
pub use caller::Caller;
pub use context::Context;
pub use parameters::{ParametersByRoute, QueryParameters};
pub use permission::{Manage, Own, Read, Support, refused};
pub use state::{BehindEdge, EdgeState};
