//! A small filesystem of a test's own: a tmpfs in a mount namespace, which the rest of the machine
//! never sees and which is gone with the process that holds it.

use kit::tool::{self, MOUNT, NSENTER, UNSHARE};
use std::{
    ffi::OsString,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// Mounts, reports that, and keeps the namespace until its input closes, also when the test is killed.
const HOLD: &str = r#"mount -t tmpfs -o "size=$2" tmpfs "$1" && echo mounted && exec cat >&2"#;

/// The commands for a namespace in which mounting is allowed: as any user, and as root where user namespaces
/// are forbidden.
const WAYS: [Way; 2] = [
    Way {
        unshare: "-Urm",
        nsenter: &["--user", "--preserve-credentials", "--mount"],
    },
    Way {
        unshare: "-m",
        nsenter: &["--mount"],
    },
];

struct Way {
    unshare: &'static str,
    nsenter: &'static [&'static str],
}

/// A mounted filesystem of a fixed size. Dropping it unmounts it.
pub(crate) struct SmallDisk {
    holder: Child,
    nsenter: &'static [&'static str],
    mount_point: TempDir,
}

impl SmallDisk {
    /// Mounts a filesystem; panics where this machine allows none of the ways.
    pub(crate) fn mount(bytes: u64) -> Self {
        for tool in [UNSHARE, NSENTER, MOUNT] {
            tool.require();
        }
        let mut mount_point = tempfile::tempdir().expect("a temporary folder");
        let mut failures = String::new();
        for way in &WAYS {
            match hold(way, mount_point.path(), bytes) {
                Ok(holder) => {
                    return Self {
                        holder,
                        nsenter: way.nsenter,
                        mount_point,
                    };
                }
                Err(failure) => failures.push_str(&format!("\nunshare {}: {failure}", way.unshare)),
            }
            mount_point = tempfile::tempdir().expect("a temporary folder");
        }
        panic!("this test needs a mount namespace (or root), and none can be had:{failures}");
    }

    /// The filesystem's path, for programs started through [`SmallDisk::inside`].
    pub(crate) fn path(&self) -> PathBuf {
        self.mount_point.path().to_owned()
    }

    /// The command prefix that starts a program where the filesystem can be seen.
    pub(crate) fn inside(&self) -> Vec<OsString> {
        let holder = format!("--target={}", self.holder.id());
        [NSENTER.name, &holder]
            .iter()
            .chain(self.nsenter)
            .map(OsString::from)
            .collect()
    }

    /// Creates a file of this many bytes.
    pub(crate) fn put(&self, name: &str, bytes: u64) {
        let size = format!("--bytes={bytes}");
        self.shell(r#"head "$1" /dev/zero > "$2""#, &[&size, name]);
    }

    /// Fills all free space, to the last byte.
    pub(crate) fn fill(&self, name: &str) {
        self.shell(r#"! cat /dev/zero > "$1" 2>&1"#, &[name]);
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) {
        self.shell(r#"rm "$1""#, &[name]);
    }

    fn shell(&self, script: &str, arguments: &[&str]) {
        let words = self.inside();
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(["sh", "-c", &format!("cd \"$0\" && {script}")]);
        tool::run(command.arg(self.mount_point.path()).args(arguments));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

fn hold(way: &Way, mount_point: &Path, bytes: u64) -> Result<Child, String> {
    let mut holder = Command::new(UNSHARE.name)
        .args([way.unshare, "sh", "-c", HOLD, "sh"])
        .arg(mount_point)
        .arg(bytes.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut line = String::new();
    let text = BufReader::new(holder.stdout.take().expect("it is piped")).read_line(&mut line);
    if text.is_ok() && line.trim() == "mounted" {
        return Ok(holder);
    }
    drop(holder.stdin.take());
    let output = holder
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}
