//! Programs the tests need beside the binary.

use std::process::{Command, Stdio};

/// A program and the Debian package that has it.
#[derive(Clone, Copy)]
pub struct Tool {
    /// What it is called on PATH.
    pub name: &'static str,
    package: &'static str,
}

/// A C compiler.
pub const CC: Tool = Tool {
    name: "cc",
    package: "gcc and libc6-dev",
};
/// Traces system calls.
pub const STRACE: Tool = Tool {
    name: "strace",
    package: "strace",
};
/// Runs a program in new namespaces.
pub const UNSHARE: Tool = Tool {
    name: "unshare",
    package: "util-linux",
};
/// Runs a program in another's namespaces.
pub const NSENTER: Tool = Tool {
    name: "nsenter",
    package: "util-linux",
};
/// Mounts a filesystem, here a tmpfs.
pub const MOUNT: Tool = Tool {
    name: "mount",
    package: "mount",
};

impl Tool {
    /// Panics with the package to install where the program is missing: a fault test that
    /// silently skips proves nothing.
    pub fn require(self) -> &'static str {
        let is_installed = std::env::var_os("PATH").is_some_and(|path| {
            std::env::split_paths(&path).any(|folder| folder.join(self.name).is_file())
        });
        assert!(
            is_installed,
            "this test needs the program `{}`: install the Debian package {}",
            self.name, self.package
        );
        self.name
    }
}

/// Runs a program to its end; panics with its whole output unless it succeeds.
pub fn run(command: &mut Command) -> String {
    let output = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{command:?} could not be started: {error}"));
    assert!(
        output.status.success(),
        "{command:?} ended with {}: {}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
