//! A running `scrip dev`, with its output.

use std::{path::Path, process::Command, time::Duration};

use crate::{
    client::Client,
    launch::Launch,
    process::{Process, listening},
};

/// How long a clean end may take.
const CLEAN_END: Duration = Duration::from_secs(300);

/// The demo, on a data directory of the test's. Dropping it kills it.
pub struct Demo {
    process: Process,
    base: String,
    output: Vec<String>,
}

impl Demo {
    /// Starts it and waits for the last line of its output.
    pub async fn start(data_dir: &Path) -> Self {
        Self::of(Launch::default().without_token().dev(data_dir)).await
    }

    /// Starts it by a command of the test's own.
    pub async fn of(command: Command) -> Self {
        let mut process = Process::start(command, false);
        let base = process
            .wait_for_line("the line with the address", listening)
            .await;
        process
            .wait_for_line("the last request to paste", |line| {
                line.contains("idempotencyKey\":").then_some(())
            })
            .await;
        let output = process.output();
        Self {
            process,
            base,
            output,
        }
    }

    /// Its base address: `http://host:port`.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The lines of its output.
    #[must_use]
    pub fn output(&self) -> &[String] {
        &self.output
    }

    /// The value printed after a name, such as `Secret key`.
    #[must_use]
    pub fn value(&self, name: &str) -> String {
        let mut lines = self.output.iter();
        lines
            .find_map(|line| line.trim().strip_prefix(name))
            .unwrap_or_else(|| panic!("no {name} in {:?}", self.output))
            .trim()
            .to_owned()
    }

    /// The printed request to this path, joined to one line.
    #[must_use]
    pub fn request(&self, path: &str) -> String {
        let start = self
            .output
            .iter()
            .position(|line| line.starts_with("curl ") && line.contains(path))
            .unwrap_or_else(|| panic!("no curl of {path} in {:?}", self.output));
        let lines = self.output[start..]
            .iter()
            .map(|line| line.trim_end_matches('\\').trim());
        lines.take(4).collect::<Vec<_>>().join(" ")
    }

    /// A client with the given bearer token.
    #[must_use]
    pub fn client(&self, key: &str) -> Client {
        Client::new(&self.base, key)
    }

    /// Sends SIGTERM and waits for the end, which must be clean.
    pub async fn terminate(mut self) {
        self.process.terminate();
        let status = self.process.wait(CLEAN_END).await;
        assert!(status.success(), "a clean end exits with 0, not {status}");
    }
}
