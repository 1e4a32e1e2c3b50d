//! The log in a PostgreSQL database that several processes share: each follows it into books of its own, and one at a
//! time leads. What keeps them apart is the log itself: a frame is only added right behind the frame it was built on.

mod chunk_files;
mod client;
mod commits;
mod examine;
mod follower;
mod housekeeping;
mod joining;
mod log;
mod member;
mod membership;
mod opening;
mod rows;
mod schedule;
mod schema;
mod segments;
mod settle;
mod snapshots;
mod state;
#[cfg(test)]
pub(crate) mod test_rows;
mod url;

pub use client::Server;
pub use examine::{Examiner, Raised};
pub use follower::Follower;
pub use housekeeping::Standing;
pub use log::PostgresFrames;
pub use member::{Followed, Member};
pub(crate) use membership::Membership;
pub use schema::{Cell, Cluster};
pub use segments::SEGMENT_FRAMES_LOG2;
pub use state::{CellState, ClusterState, DatabaseState, LeaderState, MemberState, SnapshotState};

/// Makes a data directory one that is served by itself, whose process has taken the log along:
/// [`Followed::Taken`] by its own.
///
/// # Errors
///
/// [`crate::Error::Unusable`] when the directory cannot be written.
pub fn forget_cluster(root: &std::path::Path) -> Result<(), crate::Error> {
    Membership::remove(root)
}
