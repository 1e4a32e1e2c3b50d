//! Finds the server's binary that is measured.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    args::SERVER_VARIABLE,
    error::{Context, Error, Result},
};

/// The server's binary, which existed when it was looked for.
#[derive(Debug)]
pub(crate) struct Binary(PathBuf);

impl Binary {
    /// The binary at `named`, otherwise the one beside this program.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self> {
        if let Some(named) = named {
            return Self::at(named.to_owned(), |path| {
                format!("{} is no server: --server takes its path", path.display())
            });
        }
        let this = std::env::current_exe().context("the path of this program")?;
        Self::at(this.with_file_name("scrip"), |path| {
            let build = build(path);
            let path = path.display();
            format!("there is no server at {path}: `{build}` makes it, --server PATH names another")
        })
    }

    fn at(path: PathBuf, missing: impl FnOnce(&Path) -> String) -> Result<Self> {
        // Absolute, as a name without a slash would be looked for on PATH.
        match path.canonicalize() {
            Ok(found) if found.is_file() => Ok(Self(found)),
            _ => Err(Error(missing(&path))),
        }
    }

    /// A command that starts it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        // This variable is for this program and not a setting of the server.
        command.env_remove(SERVER_VARIABLE);
        command
    }
}

/// The command that builds the server into this path's folder, which Cargo names after the profile.
fn build(path: &Path) -> &'static str {
    let folder = path.parent().and_then(Path::file_name);
    match folder.and_then(|name| name.to_str()) {
        Some("debug") => "cargo build",
        Some("dist") => "cargo build --profile dist",
        _ => "cargo build --release",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_server_is_named_with_what_makes_it() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("elsewhere");
        let error = Binary::find(Some(&named)).unwrap_err().to_string();
        assert!(error.contains(named.to_str().unwrap()), "{error}");
        // A folder cannot be started.
        assert!(Binary::find(Some(folder.path())).is_err());
        std::fs::write(&named, "").unwrap();
        assert!(Binary::find(Some(&named)).is_ok());
        // Test binaries are in a folder of their own, without a server beside them.
        let error = Binary::find(None).unwrap_err().to_string();
        assert!(error.contains("deps/scrip: `cargo build"), "{error}");
        assert!(error.contains("--server PATH"), "{error}");
    }

    #[test]
    fn what_makes_it_is_of_the_same_profile() {
        for (folder, command) in [
            ("target/debug", "cargo build"),
            ("target/release", "cargo build --release"),
            ("target/dist", "cargo build --profile dist"),
            ("/usr/local/bin", "cargo build --release"),
        ] {
            assert_eq!(build(&Path::new(folder).join("scrip")), command);
        }
    }
}
