//! A server running under strace.

use super::trace::{self, Call};
use kit::{Instance, Server, deadline, tool::STRACE};
use rustix::process::Pid;
use std::{path::PathBuf, process::ExitStatus};
use tempfile::TempDir;

/// The calls that show the order of requests, writes, syncs and responses; `execve` shows the server's id.
const CALLS: &str = "execve,read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg,\
    pwrite64,pwritev,pwritev2,fsync,fdatasync";

/// Bytes shown of each buffer: all, so that a key is found wherever it is written.
const MAX_BYTES: &str = "4194304";

/// A traced server. The trace can be read once it has ended.
pub(crate) struct TracedServer {
    // Dropped first: the server must not write the trace once its folder is removed.
    instance: Instance,
    folder: TempDir,
}

impl TracedServer {
    /// Starts a stopped server under strace. Each thread's syncs fail, from its `failing`th on.
    pub(crate) async fn start(server: &Server, failing: Option<usize>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = trace_file(&folder);
        let mut words = vec![STRACE.require().to_owned()];
        words.extend(["-f", "-y", "-s", MAX_BYTES, "-e"].map(str::to_owned));
        words.extend([
            format!("trace={CALLS}"),
            "-o".into(),
            output.display().to_string(),
        ]);
        if let Some(count) = failing {
            words.extend([
                "-e".into(),
                format!("inject=fsync,fdatasync:error=EIO:when={count}+"),
            ]);
        }
        let launch = server.launch_settings().clone().wrapped(words);
        let mut process = Instance::begin(&launch, server.data_dir());
        let id = deadline::until("the start of the trace", deadline::SOON, || {
            if let Some(status) = process.ended() {
                panic!(
                    "strace ended with {status}:\n{}",
                    process.output().join("\n")
                );
            }
            let text = std::fs::read_to_string(&output).ok()?;
            let (id, _) = text.split_once(char::is_whitespace)?;
            Pid::from_raw(id.parse().ok()?)
        })
        .await;
        process.adopt(id);
        Self {
            instance: Instance::ready(process).await,
            folder,
        }
    }

    pub(crate) fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    /// Ends the server cleanly; returns its status and the trace.
    pub(crate) async fn terminate(self) -> (ExitStatus, Vec<Call>) {
        let status = self.instance.terminate().await;
        (status, read(&self.folder))
    }

    /// Waits for the server to end; returns its status, its output, and the trace.
    pub(crate) async fn ends_by_itself(mut self) -> (ExitStatus, Vec<String>, Vec<Call>) {
        let status = self.instance.wait().await;
        (status, self.instance.output(), read(&self.folder))
    }
}

fn trace_file(folder: &TempDir) -> PathBuf {
    folder.path().join("trace")
}

fn read(folder: &TempDir) -> Vec<Call> {
    let text = std::fs::read_to_string(trace_file(folder)).expect("strace wrote its trace");
    trace::parse(&text)
}
