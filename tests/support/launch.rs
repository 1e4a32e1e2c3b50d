//! How the binary is started: environment, and the program it runs under.

use super::tool;
use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::Command,
};

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_scrip");

/// The administrator secret every test server is given.
pub(crate) const ADMIN_TOKEN: &str = "test-admin-token-0123456789abcdef";

/// How to start the binary. [`Launch::default`] is the binary as it is.
#[derive(Clone, Default)]
pub(crate) struct Launch {
    env: Vec<(OsString, OsString)>,
    under: Vec<OsString>,
    wraps: bool,
}

impl Launch {
    /// Sets a variable, such as an override of a configuration key.
    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().into(), value.as_ref().into()));
        self
    }

    /// Starts the binary through a program that becomes it (`exec`): same process id.
    pub(crate) fn through<I: AsRef<OsStr>>(mut self, program: impl IntoIterator<Item = I>) -> Self {
        self.under = program
            .into_iter()
            .map(|word| word.as_ref().into())
            .collect();
        self
    }

    /// Starts the binary as the child of a program that passes on its exit status. Whoever asks
    /// for this must tell the child's id ([`super::process::Process::adopt`]).
    pub(crate) fn wrapped<I: AsRef<OsStr>>(self, program: impl IntoIterator<Item = I>) -> Self {
        Self {
            wraps: true,
            ..self.through(program)
        }
    }

    /// Whether the started process is not the binary itself.
    pub(crate) fn wraps(&self) -> bool {
        self.wraps
    }

    /// `scrip serve` on a data directory and any free port of loopback.
    pub(crate) fn serve(&self, data_dir: &Path) -> Command {
        let mut command = self.command("serve", data_dir);
        command.args(["--listen", "127.0.0.1:0"]);
        command
    }

    /// Runs `scrip verify` on a data directory that no server has open; panics unless it is clean.
    pub(crate) fn verify(&self, data_dir: &Path) {
        tool::run(&mut self.command("verify", data_dir));
    }

    /// The binary with a verb that works on a data directory.
    pub(crate) fn command(&self, verb: &str, data_dir: &Path) -> Command {
        let mut words = self
            .under
            .iter()
            .map(OsString::as_os_str)
            .chain([OsStr::new(BINARY)]);
        let mut command = Command::new(words.next().expect("the binary is always there"));
        command
            .args(words)
            .arg(verb)
            .arg("--data-dir")
            .arg(data_dir);
        command.env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}
