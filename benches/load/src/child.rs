//! The processes that are measured: the real server, and this program as the handler that does nothing. They
//! are killed when their owner is dropped.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    client::Client,
    error::{Context, Error, Result},
    proc,
    server::Binary,
    stop,
};

/// The administrator's token of every server started here.
pub(crate) const ADMIN_TOKEN: &str = "bench-admin-token-0123456789abcdef";
/// Most lines that are shown of a server that failed.
const SHOWN_LINES: usize = 20;

/// A running child process. Dropping it kills it.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    output: Arc<Mutex<Vec<String>>>,
    started: Instant,
}

impl Server {
    /// Starts the real server on a data directory, without waiting for it to be ready.
    pub(crate) fn real(binary: &Binary, data: &Path, env: &[(&str, String)]) -> Result<Self> {
        let mut command = binary.command();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data);
        command.env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN);
        command.envs(env.iter().map(|(name, value)| (name, value)));
        Self::start(command)
    }

    /// Starts the handler that does nothing, which accepts this bearer token.
    pub(crate) fn noop(bearer: &str) -> Result<Self> {
        let this = std::env::current_exe().context("the path of this program")?;
        let mut command = Command::new(this);
        command.args(["noop", "--listen", "127.0.0.1:0"]);
        command.args(["--bearer", bearer]);
        Self::start(command)
    }

    fn start(mut command: Command) -> Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = Instant::now();
        let mut child = command.spawn().context("starting a child")?;
        let output = Arc::new(Mutex::new(Vec::new()));
        keep_lines(child.stdout.take(), &output);
        keep_lines(child.stderr.take(), &output);
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Self {
            child,
            address: nowhere,
            output,
            started,
        };
        server.address = server.wait_for("the line with its address", Self::announced)?;
        Ok(server)
    }

    fn announced(&mut self) -> Option<SocketAddr> {
        let lines = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().find_map(|line| {
            let (_, rest) = line.split_once("listening on http://")?;
            rest.split_whitespace()
                .next()?
                .trim_end_matches('/')
                .parse()
                .ok()
        })
    }

    /// The address it listens on.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A client with the administrator's token.
    pub(crate) fn admin(&self) -> Client {
        Client::new(self.address, ADMIN_TOKEN)
    }

    /// Waits until the server is ready; returns the time since it was started.
    pub(crate) fn ready(&mut self) -> Result<Duration> {
        self.wait_for("readiness", |server| {
            server
                .admin()
                .get("/readyz")
                .is_ok_and(|reply| reply.status == 200)
                .then_some(())
        })?;
        Ok(self.started.elapsed())
    }

    /// Waits until the server is nearly idle; returns how long that took.
    pub(crate) fn quiet(&mut self) -> Result<Duration> {
        let started = Instant::now();
        let window = Duration::from_millis(200);
        let mut before = proc::processor_time(self.pid())?;
        loop {
            std::thread::sleep(window);
            stop::check()?;
            let now = proc::processor_time(self.pid())?;
            // At most a tenth of one core: its timers and sled's flusher.
            if now.saturating_sub(before) <= window / 10 || started.elapsed().as_secs() >= 120 {
                return Ok(started.elapsed().saturating_sub(window));
            }
            before = now;
        }
    }

    /// Waits until everything is folded; returns the processor time that this took.
    pub(crate) fn folded(&mut self) -> Result<Duration> {
        let before = proc::processor_time(self.pid())?;
        while self.backlog()? > 0 {
            stop::check()?;
            std::thread::sleep(Duration::from_millis(50));
        }
        self.quiet()?;
        Ok(proc::processor_time(self.pid())?.saturating_sub(before))
    }

    /// Number of entries that are not folded yet.
    pub(crate) fn backlog(&self) -> Result<u64> {
        self.gauge("scrip_journal_backlog_events ")
    }

    /// A value from the server's metrics.
    pub(crate) fn gauge(&self, name: &str) -> Result<u64> {
        let metrics = self.admin().get("/metrics")?;
        metrics
            .body
            .lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
            .ok_or_else(|| Error(format!("/metrics ({}) has no {name}", metrics.status)))
    }

    /// Ends the server by SIGTERM; returns how long that took.
    pub(crate) fn terminate(mut self) -> Result<Duration> {
        let started = Instant::now();
        self.signal(Signal::TERM);
        let status = self.wait_for_end()?;
        if status.success() {
            Ok(started.elapsed())
        } else {
            Err(Error(format!(
                "the server ended with {status} on SIGTERM:\n{}",
                self.last_lines()
            )))
        }
    }

    /// Waits for an end that something else causes.
    pub(crate) fn ended(mut self) -> Result<()> {
        self.wait_for_end().map(drop)
    }

    /// Kills the server, like a crash.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.signal(Signal::KILL);
        self.wait_for_end().map(drop)
    }

    fn wait_for_end(&mut self) -> Result<ExitStatus> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().context("waiting for a child")? {
                return Ok(status);
            }
            if started.elapsed() > Duration::from_secs(300) {
                return Err(Error("the server does not end".into()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn wait_for<T>(
        &mut self,
        what: &str,
        mut look: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<T> {
        loop {
            if let Some(value) = look(self) {
                return Ok(value);
            }
            if let Some(status) = self.child.try_wait().context("waiting for a child")? {
                // The threads that read its output may be a moment behind.
                std::thread::sleep(Duration::from_millis(100));
                let lines = self.last_lines();
                return Err(Error(format!(
                    "a child ended with {status} before {what}:\n{lines}"
                )));
            }
            if self.started.elapsed() > Duration::from_secs(300) {
                return Err(Error(format!(
                    "{what} did not come:\n{}",
                    self.last_lines()
                )));
            }
            stop::check()?;
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn last_lines(&self) -> String {
        let lines = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        lines
            .get(lines.len().saturating_sub(SHOWN_LINES)..)
            .unwrap_or_default()
            .join("\n")
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

/// Keeps the first and the latest lines of a pipe, so that the child never waits for a reader and much output
/// does not fill the memory.
fn keep_lines(pipe: Option<impl Read + Send + 'static>, output: &Arc<Mutex<Vec<String>>>) {
    let Some(pipe) = pipe else { return };
    let output = Arc::clone(output);
    std::thread::spawn(move || {
        let mut pieces = BufReader::new(pipe).split(b'\n');
        while let Some(Ok(line)) = pieces.next() {
            let mut lines = output.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.len() >= 1_000 {
                lines.drain(500..900);
            }
            lines.push(String::from_utf8_lossy(&line).into_owned());
        }
    });
}
