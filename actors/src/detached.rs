//! Work that goes on without the caller who began it.

use tokio::task::JoinHandle;
use tracing::Instrument as _;

/// Runs work in a task of its own: a caller who goes away in the middle does not stop it, so that nothing is left half
/// done. Awaiting the handle fails when the work panicked or the runtime is stopping: what was done is unknown then.
pub fn detached<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    tokio::spawn(work.in_current_span())
}
