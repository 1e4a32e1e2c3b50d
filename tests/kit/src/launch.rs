//! How the binary is started: its environment, and a program that wraps it.

use crate::tool;
use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

/// The binary under test: where Cargo says, otherwise where Cargo usually puts it.
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn binary() -> PathBuf {
    let path = std::env::var_os("CARGO_BIN_EXE_scrip").map(PathBuf::from);
    let binary = path.unwrap_or_else(|| {
        let this = std::env::current_exe().expect("a test has a path");
        let deps = this.parent().expect("it is in a folder");
        deps.with_file_name("scrip")
    });
    assert!(
        binary.is_file(),
        "no binary at {}: build it first",
        binary.display()
    );
    binary
}

/// The administrator's token of every test server.
pub const ADMIN_TOKEN: &str = "test-admin-token-0123456789abcdef";

/// How to start the binary. [`Launch::default`] starts it directly.
#[derive(Clone, Default)]
pub struct Launch {
    env: Vec<(OsString, OsString)>,
    under: Vec<OsString>,
    wraps: bool,
    without_token: bool,
    flags: Vec<&'static str>,
}

impl Launch {
    /// Gives `scrip serve` a flag.
    #[must_use]
    pub fn flag(mut self, flag: &'static str) -> Self {
        self.flags.push(flag);
        self
    }

    /// Sets a variable, such as an override of a configuration key.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().into(), value.as_ref().into()));
        self
    }

    /// Starts the binary through a program that replaces itself with it (`exec`): same process id.
    pub fn through<I: AsRef<OsStr>>(mut self, program: impl IntoIterator<Item = I>) -> Self {
        self.under = program
            .into_iter()
            .map(|word| word.as_ref().into())
            .collect();
        self
    }

    /// Starts the binary as the child of a program that passes on its exit status. The caller must then set the
    /// child's id with [`crate::process::Process::adopt`].
    pub fn wrapped<I: AsRef<OsStr>>(self, program: impl IntoIterator<Item = I>) -> Self {
        Self {
            wraps: true,
            ..self.through(program)
        }
    }

    /// Gives it no administrator's token: it creates its own.
    #[must_use]
    pub fn without_token(self) -> Self {
        Self {
            without_token: true,
            ..self
        }
    }

    /// Whether the started process is not the binary itself.
    pub fn wraps(&self) -> bool {
        self.wraps
    }

    /// `scrip serve` on a data directory and any free port of loopback.
    pub fn serve(&self, data_dir: &Path) -> Command {
        self.on_any_port("serve", data_dir)
    }

    /// `scrip dev` on a data directory and any free port of loopback.
    pub fn dev(&self, data_dir: &Path) -> Command {
        self.on_any_port("dev", data_dir)
    }

    fn on_any_port(&self, verb: &str, data_dir: &Path) -> Command {
        let mut command = self.command(verb, data_dir);
        command.args(["--listen", "127.0.0.1:0"]).args(&self.flags);
        command
    }

    /// Runs `scrip verify` on a data directory that no server has open; panics unless it is clean.
    pub fn verify(&self, data_dir: &Path) {
        tool::run(&mut self.command("verify", data_dir));
    }

    /// The binary with a subcommand for a data directory.
    pub fn command(&self, verb: &str, data_dir: &Path) -> Command {
        let binary = binary();
        let mut words = self
            .under
            .iter()
            .map(OsString::as_os_str)
            .chain([binary.as_os_str()]);
        let mut command = Command::new(words.next().expect("the binary is always there"));
        command
            .args(words)
            .arg(verb)
            .arg("--data-dir")
            .arg(data_dir);
        if self.without_token {
            command.env_remove("SCRIP_ADMIN_TOKEN");
        } else {
            command.env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN);
        }
        // No test may reach the real Stripe.
        command.env("SCRIP_STRIPE_API_BASE", "http://127.0.0.1:1");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}
