//! Work that outlives its caller.

use tokio::task::JoinHandle;
use tracing::Instrument as _;

/// Runs work in its own task, so that a caller who disconnects leaves nothing half done. Awaiting the handle fails if
/// the work panicked or the runtime is stopping: then the outcome is unknown.
pub fn detached<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    tokio::spawn(work.in_current_span())
}
