//! The log in a PostgreSQL database that several processes share: each follows it into books of its own, and one at a
//! time leads. What keeps them apart is the log itself: a frame is only added right behind the frame it was built on.

mod admission;
mod chunk_files;
mod client;
mod commits;
mod examine;
mod follower;
mod housekeeping;
mod joining;
mod log;
mod member;
mod rows;
mod schedule;
mod schema;
mod segments;
mod snapshots;
mod state;
mod term_start;
#[cfg(test)]
mod tests;
mod url;

pub use client::Server;
pub use examine::{Examiner, Raised};
pub use follower::Follower;
pub use housekeeping::Standing;
pub use log::PostgresFrames;
pub use member::{Followed, Member};
pub use schema::{Cell, Cluster};
pub use segments::SEGMENT_FRAMES_LOG2;
pub use state::{CellState, ClusterState, DatabaseState, LeaderState, MemberState, SnapshotState};
pub use term_start::Clocks;
