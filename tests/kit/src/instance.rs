//! One running `scrip serve`, from its start to its end.

use crate::{
    client::Client,
    deadline,
    launch::{ADMIN_TOKEN, Launch},
    process::{Process, listening},
};
use rustix::process::Pid;
use std::{path::Path, process::ExitStatus, time::Duration};

/// How long a clean end may take: all work in flight is finished and flushed first.
const CLEAN_END: Duration = Duration::from_secs(300);

/// A process serving one data directory.
pub struct Instance {
    process: Process,
    base: String,
}

impl Instance {
    /// Starts the binary and waits until it says that it listens.
    pub async fn start(launch: &Launch, data_dir: &Path) -> Self {
        Self::ready(Self::begin(launch, data_dir)).await
    }

    /// Starts the binary without waiting for it.
    pub fn begin(launch: &Launch, data_dir: &Path) -> Process {
        Process::start(launch.serve(data_dir), launch.wraps())
    }

    /// Waits until a process from [`Instance::begin`] says that it listens.
    pub async fn ready(mut process: Process) -> Self {
        let base = process
            .wait_for_line("the line with the address", listening)
            .await;
        Self { process, base }
    }

    /// The base address, without a slash at its end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// A client with the given bearer token and connections of its own.
    pub fn client(&self, key: &str) -> Client {
        Client::new(&self.base, key)
    }

    /// A client with the administrator's token.
    pub fn admin(&self) -> Client {
        self.client(ADMIN_TOKEN)
    }

    /// Sets the process that signals go to: see [`Process::adopt`].
    pub fn adopt(&mut self, id: Pid) {
        self.process.adopt(id);
    }

    /// All lines of output so far, of both streams.
    pub fn output(&self) -> Vec<String> {
        self.process.output()
    }

    /// The exit status, once the process has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.ended()
    }

    /// Sends SIGKILL; [`Instance::wait`] waits for the end.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Waits for an end that something else causes.
    pub async fn wait(&mut self) -> ExitStatus {
        self.process.wait(CLEAN_END).await
    }

    /// Sends SIGTERM and waits for the end, with any status.
    pub async fn terminate(mut self) -> ExitStatus {
        self.process.terminate();
        self.wait().await
    }

    /// Sends SIGKILL and waits for the end.
    pub async fn crash(mut self) {
        self.kill();
        self.process.wait(deadline::SOON).await;
    }
}
