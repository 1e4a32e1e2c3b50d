//! The settings that make faults happen within a test, by their environment variables.

use kit::Launch;

/// Entries after which the journal is folded into pages and its frames are dropped.
const CHECKPOINT_ENTRIES: &str = "SCRIP_JOURNAL_CHECKPOINT_ENTRIES";

/// Free space below which writes are refused.
const MIN_FREE_BYTES: &str = "SCRIP_JOURNAL_MIN_FREE_BYTES";

/// A server that folds its journal every few hundred entries, so that a short test sees many
/// checkpoints.
pub(crate) fn frequent_checkpoints(entries: u64) -> Launch {
    Launch::default().env(CHECKPOINT_ENTRIES, entries.to_string())
}

/// Sets the reserve of free space.
pub(crate) fn with_reserve(launch: Launch, bytes: u64) -> Launch {
    launch.env(MIN_FREE_BYTES, bytes.to_string())
}
