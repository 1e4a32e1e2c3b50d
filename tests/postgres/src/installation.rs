//! PostgreSQL as Debian installs it, and the user that it runs as.

use std::{
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

/// What is installed here.
pub(crate) static INSTALLED: LazyLock<Installation> = LazyLock::new(Installation::find);

/// The newest PostgreSQL of this machine.
pub(crate) struct Installation {
    bin: PathBuf,
    /// User and group that its programs run as where the tests run as root, which PostgreSQL refuses to.
    user: Option<(u32, u32)>,
}

impl Installation {
    fn find() -> Self {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
        let mut versions: Vec<PathBuf> = versions.flatten().map(|version| version.path()).collect();
        let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
        versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
        // Debian leaves the server's programs out of PATH.
        let mut folders: Vec<PathBuf> = versions.iter().map(|path| path.join("bin")).collect();
        folders.extend(
            std::env::var_os("PATH")
                .iter()
                .flat_map(std::env::split_paths),
        );
        let is_whole = |folder: &PathBuf| {
            let programs = ["initdb", "postgres", "psql", "pg_basebackup"];
            programs.iter().all(|name| folder.join(name).is_file())
        };
        let user = rustix::process::geteuid()
            .is_root()
            .then(|| user("postgres"));
        match (folders.into_iter().find(is_whole), user) {
            (Some(bin), None) => Self { bin, user: None },
            (Some(bin), Some(Some(ids))) => Self {
                bin,
                user: Some(ids),
            },
            _ => panic!("this test needs PostgreSQL: install the Debian package postgresql"),
        }
    }

    /// One of its programs, to be run by the tests' own user.
    pub(crate) fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.stdin(Stdio::null());
        command
    }

    /// One of its programs, to be run by the server's user, in a folder that this user may enter.
    pub(crate) fn server(&self, program: &str, folder: &Path) -> Command {
        let mut command = self.client(program);
        command.current_dir(folder);
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }

    /// Gives a file or a folder to the server's user.
    pub(crate) fn give(&self, path: &Path) {
        if let Some((user, group)) = self.user {
            std::os::unix::fs::chown(path, Some(user), Some(group)).unwrap();
        }
    }
}

/// The ids of a user and its group.
fn user(name: &str) -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let line = users
        .lines()
        .find(|line| line.split(':').next() == Some(name))?;
    let mut ids = line.split(':').skip(2);
    Some((ids.next()?.parse().ok()?, ids.next()?.parse().ok()?))
}

/// Runs a program to its end. The error is its whole output.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} could not be started: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let (answer, errors) = (text(&output.stdout), text(&output.stderr));
    Err(format!(
        "{command:?} ended with {}: {answer}{errors}",
        output.status
    ))
}
