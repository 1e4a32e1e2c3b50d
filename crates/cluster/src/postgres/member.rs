//! How a process takes part in a cluster: what has to be configured, and what becomes of it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use domain::Timestamp;
use persistence::{Error, SledJournal};

use super::{Server, term_start::Clocks};

/// Called with the address of the process that leads, as far as is known; `None`: none does.
pub(super) type OnLeader = Arc<dyn Fn(Option<&str>) + Send + Sync>;

/// Draws or reads the server key, and shows which it is: see [`Member::key_check`].
pub(super) type KeyCheck = Arc<dyn Fn(bool) -> Result<Vec<u8>, Error> + Send + Sync>;

/// How a process takes part in a cluster.
#[derive(Clone)]
pub struct Member {
    pub server: Server,
    /// The cell that it belongs to. Where the database has none at all, it is made.
    pub cell: i16,
    /// The cell that this one comes from, where it does not exist yet: until then its log is followed, and never led.
    pub split_from: i16,
    /// Where the other processes reach it.
    pub address: Box<str>,
    /// Shows whether a process has the same server key; nothing follows from it about the key itself. Asked while the
    /// directory is locked, with whether any log exists: then no new key may be drawn. Once more when the process becomes
    /// a member of its cell.
    pub key_check: KeyCheck,
    /// Groups of commits under way at once: with a millisecond to the database, four carry four times what one does.
    pub depth: usize,
    pub clocks: Clocks,
    /// Called whenever another process leads.
    pub on_leader: OnLeader,
    /// How old the newest snapshot may become; `None`: this process makes none.
    pub snapshot_every: Option<Duration>,
    /// A directory for what snapshots consist of, the same for all processes of the cell; `None`: the database has it.
    pub snapshots: Option<PathBuf>,
    /// Where this process makes the log: how many frames are in one table, as a power of two. Usually
    /// [`super::SEGMENT_FRAMES_LOG2`].
    pub segment_frames_log2: u32,
}

/// Why a process follows no longer.
pub enum Followed {
    /// It leads: everything that was acknowledged before is in its books.
    Leads {
        /// The log, open for writing.
        journal: Arc<SledJournal>,
        /// What the clock of the one who led before would show now, if that was seen.
        clock: Option<Timestamp>,
    },
    /// It was asked to stop, and its directory is closed.
    Stopped,
    /// The log goes on by itself in a data directory; in this one, whose books have all of it and are closed, if it
    /// `is_own`.
    Taken {
        /// Whether this directory is the one.
        is_own: bool,
    },
}

impl std::fmt::Debug for Followed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Leads { .. } => "Leads",
            Self::Stopped => "Stopped",
            Self::Taken { .. } => "Taken",
        })
    }
}
