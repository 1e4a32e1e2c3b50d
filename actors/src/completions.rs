//! Wakes the callers of a group commit. The journal's thread hands them over together, and one task inside the runtime
//! answers them: waking them one by one from outside cost a quarter of the throughput.

use persistence::{OnOutcome, Outcome};
use tokio::sync::mpsc;

/// Called by the journal with the callbacks of one group commit and their outcomes.
pub type Sink = std::sync::Arc<dyn Fn(Vec<(OnOutcome, Outcome)>) + Send + Sync>;

/// Starts the task and returns its sink. The task ends when the last sink is dropped. Must be called within a tokio
/// runtime.
#[must_use]
pub fn completions() -> Sink {
    let (sender, mut receiver) = mpsc::unbounded_channel::<Vec<(OnOutcome, Outcome)>>();
    tokio::spawn(async move {
        while let Some(group) = receiver.recv().await {
            for (done, outcome) in group {
                done(outcome);
            }
        }
    });
    std::sync::Arc::new(move |group| {
        // The task ends only with the runtime; then no caller is left to answer.
        drop(sender.send(group));
    })
}
