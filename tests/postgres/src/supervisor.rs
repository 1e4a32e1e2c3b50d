//! Ends a server, however its test ended: a shell that waits until we close a pipe, which the kernel does for a
//! process that is killed and for one that never drops its statics.

use std::{
    fs,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

/// Waits for the end of its input; then stops all processes that work in `$1/data`, kills what is left after 5 s, also
/// of a frozen server, frees the shared memory of a server that was killed, and removes `$1`.
const SCRIPT: &str = r#"
cat >/dev/null
servers() { find /proc/[0-9]* -maxdepth 1 -name cwd -lname "$1/data" 2>/dev/null | cut -d/ -f3; }
signal() { kill -"$2" $(servers "$1") 2>/dev/null; }
signal "$1" QUIT
signal "$1" CONT
looks=0
while [ -n "$(servers "$1")" ] && [ $looks -lt 500 ]; do
    [ $looks -lt 250 ] || signal "$1" KILL
    looks=$((looks + 1))
    sleep 0.02
done
memory=$(sed -n 7p "$1/data/postmaster.pid" 2>/dev/null | awk '{ print $2 }')
[ -z "$memory" ] || ipcrm -m "$memory" 2>/dev/null
rm -rf "$1"
"#;

/// The shell. Dropping it stops the server and removes its directory.
pub(crate) struct Supervisor(Child);

impl Supervisor {
    /// Watches over a server whose directory this is, before there is one.
    pub(crate) fn of(directory: &Path) -> Self {
        let mut command = Command::new("sh");
        command
            .args(["-c", SCRIPT, "sh"])
            .arg(directory)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Signals of a terminal go to a whole group, and it has to outlive the test.
            .process_group(0);
        Self(command.spawn().expect("a shell can be started"))
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A process that works in a directory, and its state as in `/proc`.
struct Worker {
    id: Pid,
    state: char,
}

/// The processes that work in this directory: each of a server's does so in its data directory, also one whose parent
/// has ended.
fn workers(directory: &Path) -> Vec<Worker> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        // One that has ended has no working directory any more.
        (fs::read_link(entry.path().join("cwd")).ok()? == directory).then_some(())?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let (_, state) = stat.rsplit_once(") ")?;
        Some(Worker {
            id: Pid::from_raw(id)?,
            state: state.chars().next()?,
        })
    });
    ids.collect()
}

/// Signals each process that works in this directory until none is left that the signal has not reached, as its
/// state in `/proc` shows. One that starts during this is signalled, too.
pub(crate) fn signal_all(directory: &Path, signal: Signal, reached: fn(char) -> bool) {
    crate::wait::until("the signal has reached each process", || {
        let mut all = workers(directory);
        all.retain(|worker| !reached(worker.state));
        for worker in &all {
            // It may have ended since.
            let _ = kill_process(worker.id, signal);
        }
        all.is_empty().then_some(())
    });
}
