//! A process of several over one log: which of them leads, how the others follow it, and how each answers requests.
//!
//! - [`postgres`]: the log in a PostgreSQL database, and a process that follows it until it leads. What decides is apart:
//!   [`term`] says who leads, [`watch`] when another may try to, [`trim`] which frames may go, [`snapshots`] keeps
//!   copies of the books beside the log.
//! - [`Process`]: joins, follows through a front, and leads. The service that it starts then is its caller's.
//! - [`front`]: answers requests where this process leads, passes each on to the process that does where another leads, and holds
//!   it for a while where none does.

#![allow(missing_docs, reason = "what a name says is not said again")]

pub mod cells;
pub mod front;
mod leader_seen;
mod metrics;
mod part;
pub mod postgres;
mod process;
pub mod snapshots;
pub mod term;
pub mod trim;
pub mod watch;

pub use front::{
    Announcement, CellLeaders, CredentialOwner, FindRoutingKey, ForwardSettings, Forwarder, Front,
    FrontFigures, FrontSwitch, InvalidOrigin, Neighbours, Origin, Routes, RoutingKey, Unreached,
    tls,
};
pub use metrics::ClusterMetrics;
pub use part::{ClusterPart, Ending, NoFollower, SplitRefusal};
pub use process::{FrontSettings, Joined, Lead, Process, leave};

#[cfg(test)]
extern crate self as cluster;
