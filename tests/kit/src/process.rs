//! A child process with its output. It is killed when its owner is dropped.

use crate::deadline;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

/// Lines shown of a process when a test fails.
const MAX_LINES: usize = 40;

/// A started process. Dropping it kills it.
pub struct Process {
    child: Child,
    /// The process that signals go to: the child, or the child's child under a tracer.
    target: Option<Pid>,
    output: Arc<Mutex<Vec<String>>>,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    /// Starts `command` with both outputs captured. `wrapped` means that signals go to a child of the started
    /// process, which is set with [`Process::adopt`].
    pub fn start(mut command: Command, wrapped: bool) -> Self {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} could not be started: {error}"));
        let output = Arc::new(Mutex::new(Vec::new()));
        let readers = [
            child.stdout.take().map(|pipe| keep_lines(pipe, &output)),
            child.stderr.take().map(|pipe| keep_lines(pipe, &output)),
        ];
        let target = (!wrapped).then(|| Pid::from_child(&child));
        Self {
            child,
            target,
            output,
            readers: readers.into_iter().flatten().collect(),
        }
    }

    /// Sets the process that signals go to.
    pub fn adopt(&mut self, id: Pid) {
        self.target = Some(id);
    }

    /// The id of the started process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// All lines of output so far, of both streams.
    pub fn output(&self) -> Vec<String> {
        lines(&self.output).clone()
    }

    /// Waits for a line of output from which `pick` returns something; panics when the process ends before, or
    /// after a timeout.
    pub async fn wait_for_line<T>(&mut self, what: &str, pick: impl Fn(&str) -> Option<T>) -> T {
        let mut count = 0;
        deadline::until(what, deadline::SOON, || {
            let ended = self.ended();
            if ended.is_some() {
                self.drain();
            }
            let lines = lines(&self.output);
            let found = lines[count..].iter().find_map(|line| pick(line));
            count = lines.len();
            if let (None, Some(status)) = (&found, ended) {
                panic!("ended with {status} before {what}:\n{}", lines.join("\n"));
            }
            found
        })
        .await
    }

    /// The exit status, once the process has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be waited for")
    }

    /// Asks the process to end, by SIGTERM.
    pub fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Ends the process at once, by SIGKILL.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    fn signal(&mut self, signal: Signal) {
        // While the child is not reaped, no other process can have its id; a tracer ends together with the
        // process it traces.
        if self.ended().is_none() {
            let target = self.target.unwrap_or_else(|| Pid::from_child(&self.child));
            // It may have ended since, and then there is nothing to signal.
            let _ = kill_process(target, signal);
        }
    }

    /// Waits for the end, and for the rest of the output.
    pub async fn wait(&mut self, limit: Duration) -> ExitStatus {
        let status = deadline::until("the end of the process", limit, || self.ended()).await;
        self.drain();
        status
    }

    fn drain(&mut self) {
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let lines = self.output();
            let last = lines[lines.len().saturating_sub(MAX_LINES)..].join("\n");
            eprintln!("last lines of process {}:\n{last}", self.child.id());
        }
    }
}

/// The base address in the line with which a server says that it is ready.
#[must_use]
pub fn listening(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("listening on http://")?;
    let address = rest.split_whitespace().next()?.trim_end_matches('/');
    Some(format!("http://{address}"))
}

/// Collects the output of a process, line by line, until it closes the pipe.
fn keep_lines(
    pipe: impl Read + Send + 'static,
    output: &Arc<Mutex<Vec<String>>>,
) -> JoinHandle<()> {
    let output = Arc::clone(output);
    std::thread::spawn(move || {
        let mut pieces = BufReader::new(pipe).split(b'\n');
        while let Some(Ok(line)) = pieces.next() {
            lines(&output).push(String::from_utf8_lossy(&line).into_owned());
        }
    })
}

/// The lines, even if a failed test has poisoned the lock.
fn lines(output: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}
