//! `scrip bench`: becomes `scrip-bench`, a separate program, so that a server binary contains no load
//! generator.

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use super::Failure;

/// Name of the load generator's program.
const PROGRAM: &str = "scrip-bench";
/// The variable that names the server binary to measure: this one.
const SERVER_VARIABLE: &str = "SCRIP_BENCH_SERVER";

/// What to measure: its own arguments, `--help` too.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(super) struct BenchArgs {
    /// Arguments for `scrip-bench`, passed on unchanged.
    #[arg(
        value_name = "ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    args: Vec<OsString>,
}

pub(super) fn run(args: BenchArgs) -> Result<(), Failure> {
    let this = env::current_exe().map_err(Failure::new)?;
    let path = env::var_os("PATH").unwrap_or_default();
    let program = find(&this, env::split_paths(&path)).ok_or_else(|| {
        Failure::new(format!(
            "bench measures a server by the program {PROGRAM}, which is not in the packages and neither beside {} nor \
             on PATH: build it in the source tree with `cargo build --release -p {PROGRAM}`",
            this.display()
        ))
    })?;
    let mut command = Command::new(&program);
    command.args(args.args);
    // Unless the user has set it to another binary.
    if env::var_os(SERVER_VARIABLE).is_none() {
        command.env(SERVER_VARIABLE, &this);
    }
    // Replaces this process, so that signals and exit status are the program's. Returns only if it cannot start.
    let error = command.exec();
    Err(Failure(format!("{}: {error}", program.display())))
}

/// Finds the program beside this one, otherwise the first on PATH.
fn find(this: &Path, path: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    // Relative entries are skipped, the empty one too: other users may be able to write to the current folder.
    let on_path = path
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(PROGRAM));
    std::iter::once(this.with_file_name(PROGRAM))
        .chain(on_path)
        .find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_beside_it_wins() {
        let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let this = home.path().join("scrip");
        let path = || [PathBuf::new(), other.path().to_owned()].into_iter();
        assert_eq!(find(&this, path()), None);
        let on_path = other.path().join(PROGRAM);
        std::fs::write(&on_path, "").unwrap();
        assert_eq!(find(&this, path()), Some(on_path));
        let beside = home.path().join(PROGRAM);
        // A folder of that name is not the program.
        std::fs::create_dir(&beside).unwrap();
        assert_ne!(find(&this, path()), Some(beside.clone()));
        std::fs::remove_dir(&beside).unwrap();
        std::fs::write(&beside, "").unwrap();
        assert_eq!(find(&this, path()), Some(beside));
    }
}
