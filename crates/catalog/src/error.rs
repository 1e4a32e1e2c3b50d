//! Why the catalog refuses a change, or cannot be read.

use actors::notes;
use domain::catalog::Refusal;

/// Why a change failed. Nothing was changed, except perhaps under [`Error::Wallets`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The domain's rules refuse the change.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The operating system gave no random bytes.
    #[error("no random bytes: {0}")]
    Randomness(String),
    /// The stored documents contradict each other.
    #[error("the stored catalog is damaged: {0}")]
    Damaged(String),
    /// The stored catalog cannot be read.
    #[error(transparent)]
    Stored(#[from] persistence::Error),
    /// A note about the catalog cannot be read.
    #[error(transparent)]
    Notes(#[from] notes::Error),
    /// The log is of another cell than the process was started for.
    #[error("the data is of cell {own}, and cluster.cell is {leads}: set it to {own}")]
    OtherCell {
        /// The log's cell.
        own: i16,
        /// The process's cell.
        leads: i16,
    },
    /// The change could not be logged.
    #[error(transparent)]
    Wallets(#[from] actors::Error),
}
