//! Background work of a test. A test that ends while its work still runs has not seen the result, so dropping
//! unfinished work fails the test.

use std::{future::Future, time::Duration};
use tokio::task::JoinHandle;

/// A named task which must be finished with [`Background::finish`].
#[must_use = "unfinished background work fails the test"]
pub struct Background<T> {
    name: String,
    task: Option<JoinHandle<T>>,
}

impl<T: Send + 'static> Background<T> {
    /// Starts the work.
    pub fn spawn(name: impl Into<String>, work: impl Future<Output = T> + Send + 'static) -> Self {
        Self {
            name: name.into(),
            task: Some(tokio::spawn(work)),
        }
    }

    /// Whether the work has ended.
    pub fn has_ended(&self) -> bool {
        self.task.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the work; its panic becomes the caller's.
    pub async fn finish(mut self, limit: Duration) -> T {
        let task = self
            .task
            .take()
            .expect("taken only here, and `self` is consumed");
        match tokio::time::timeout(limit, task).await {
            Ok(Ok(value)) => value,
            Ok(Err(failure)) => panic!("background task `{}` failed: {failure}", self.name),
            Err(_) => panic!(
                "background task `{}` did not end within {limit:?}",
                self.name
            ),
        }
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        let Some(task) = self.task.take() else { return };
        task.abort();
        // A second panic while one unwinds would abort the whole test run.
        assert!(
            std::thread::panicking(),
            "background task `{}` was not finished by its test",
            self.name
        );
    }
}
