//! The processes that are measured: the real server, and this program as the bare handler. They are killed when
//! their owner is dropped.

use std::{
    fs::{self, File},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::Handle;

use super::{
    args::SERVER_VARIABLE,
    client::Client,
    error::{Context, Error, Result},
    process::processor_time,
    stop,
};

/// The administrator's token of every server started here.
pub(crate) const ADMIN_TOKEN: &str = "bench-admin-token-0123456789abcdef";
/// Lines that are shown of a server that failed.
const ERROR_LINES: usize = 20;
/// How long a start or an end may take.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The path of the server at `path`, otherwise of the one beside this program.
pub(crate) fn binary(path: Option<&Path>) -> Result<PathBuf> {
    let path = match path {
        Some(path) => path.to_owned(),
        None => {
            let this = std::env::current_exe().context("the path of this program")?;
            this.with_file_name("scrip")
        }
    };
    // Absolute, as a name without a slash would be looked for on PATH.
    match path.canonicalize() {
        Ok(found) if found.is_file() => Ok(found),
        _ => Err(Error(format!(
            "there is no server at {}: build it with the profile of this program, or name another by --server PATH",
            path.display()
        ))),
    }
}

/// A command that runs this server.
pub(crate) fn command(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    // This variable is for this program and not a setting of the server.
    command.env_remove(SERVER_VARIABLE);
    command
}

/// A running child process. Dropping it kills it.
pub(crate) struct Server {
    child: Child,
    admin: Client,
    address: SocketAddr,
    /// The file with its output.
    log: PathBuf,
    started: Instant,
    /// Whether it is the bare handler, which has no metrics.
    is_bare: bool,
}

impl Server {
    /// Starts the real server on a data directory, without waiting for it to be ready.
    pub(crate) fn real(
        runtime: &Handle,
        binary: &Path,
        data: &Path,
        env: &[(&str, String)],
    ) -> Result<Self> {
        let mut command = command(binary);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data)
            .env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN)
            // All of the load comes from one address.
            .env("SCRIP_HTTP_MAX_CONNECTIONS_PER_CLIENT", "4096")
            .envs(env.iter().map(|(name, value)| (name, value)));
        Self::start(runtime, command, data.with_extension("log"), false)
    }

    pub(crate) fn bare(runtime: &Handle, log: PathBuf, bearer: &str) -> Result<Self> {
        let this = std::env::current_exe().context("the path of this program")?;
        let mut command = Command::new(this);
        command.args(["noop", "--listen", "127.0.0.1:0", "--bearer", bearer]);
        Self::start(runtime, command, log, true)
    }

    fn start(runtime: &Handle, mut command: Command, log: PathBuf, is_bare: bool) -> Result<Self> {
        let output = File::create(&log).context(log.display())?;
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Self {
            started: Instant::now(),
            child: command.spawn().context("starting a server")?,
            admin: Client::new(runtime, nowhere, ADMIN_TOKEN),
            address: nowhere,
            log,
            is_bare,
        };
        server.address = server.wait_for("the line with its address", Self::announced)?;
        server.admin = Client::new(runtime, server.address, ADMIN_TOKEN);
        Ok(server)
    }

    fn announced(&self) -> Option<SocketAddr> {
        let output = self.output();
        let (_, rest) = output.split_once("listening on http://")?;
        // Otherwise the line may not be complete.
        let (address, _) = rest.split_once(char::is_whitespace)?;
        address.trim_end_matches('/').parse().ok()
    }

    fn output(&self) -> String {
        let output = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&output).into_owned()
    }

    fn last_lines(&self) -> String {
        let output = self.output();
        let lines: Vec<&str> = output.lines().collect();
        let first = lines.len().saturating_sub(ERROR_LINES);
        lines.get(first..).unwrap_or_default().join("\n")
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) const fn admin(&self) -> &Client {
        &self.admin
    }

    /// Waits until the server is ready; returns the time since it was started.
    pub(crate) fn ready(&mut self) -> Result<Duration> {
        self.wait_for("readiness", |server| {
            server.admin.is_ok("/readyz").then_some(())
        })?;
        Ok(self.started.elapsed())
    }

    /// Waits until the server is nearly idle.
    pub(crate) fn idle(&self) -> Result<()> {
        let started = Instant::now();
        let window = Duration::from_millis(200);
        let mut before = processor_time(self.pid())?;
        loop {
            std::thread::sleep(window);
            stop::check()?;
            let now = processor_time(self.pid())?;
            // At most a tenth of one core: its timers and sled's flusher.
            if now.saturating_sub(before) <= window / 10 || started.elapsed().as_secs() >= 120 {
                return Ok(());
            }
            before = now;
        }
    }

    /// Waits until all that was put off is done, as it must not slow down what is measured next.
    pub(crate) fn checkpointed(&self) -> Result<()> {
        while !self.is_bare && self.backlog()? > 0 {
            stop::check()?;
            std::thread::sleep(Duration::from_millis(50));
        }
        self.idle()
    }

    /// Number of entries that are not in a checkpoint yet.
    pub(crate) fn backlog(&self) -> Result<u64> {
        self.gauge("scrip_journal_backlog_events ")
    }

    /// A value from the server's metrics.
    pub(crate) fn gauge(&self, name: &str) -> Result<u64> {
        let metrics = self.admin.get("/metrics")?;
        let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
        metrics.lines().find_map(value).context(name)
    }

    /// Ends the server by SIGTERM; returns how long that took.
    pub(crate) fn terminate(mut self) -> Result<Duration> {
        let started = Instant::now();
        self.signal(Signal::TERM);
        let status = self.wait_for_end()?;
        if status.success() {
            return Ok(started.elapsed());
        }
        let lines = self.last_lines();
        Err(Error(format!(
            "the server ended with {status} on SIGTERM:\n{lines}"
        )))
    }

    /// Kills the server, like a crash.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.signal(Signal::KILL);
        self.wait_for_end().map(drop)
    }

    fn wait_for_end(&mut self) -> Result<ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(Error("the server does not end".into()))
    }

    fn wait_for<T>(&mut self, what: &str, look: impl Fn(&Self) -> Option<T>) -> Result<T> {
        let started = Instant::now();
        loop {
            if let Some(value) = look(self) {
                return Ok(value);
            }
            stop::check()?;
            let problem = match self.child.try_wait()? {
                Some(status) => format!("a server ended with {status} before {what}"),
                None if started.elapsed() > TIMEOUT => format!("{what} did not come"),
                None => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
            };
            return Err(Error(format!("{problem}:\n{}", self.last_lines())));
        }
    }

    fn signal(&mut self, signal: Signal) {
        // Until it is reaped, no other process can have its id.
        if matches!(self.child.try_wait(), Ok(None)) {
            // It may have ended since, and then there is nothing to signal.
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_server_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("elsewhere");
        let error = binary(Some(&path)).unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        // A folder cannot be started.
        assert!(binary(Some(folder.path())).is_err());
        fs::write(&path, "").unwrap();
        assert!(binary(Some(&path)).is_ok());
        // Test binaries are in a folder of their own, without a server beside them.
        let error = binary(None).unwrap_err().to_string();
        assert!(error.contains("deps/scrip: build it"), "{error}");
    }
}
