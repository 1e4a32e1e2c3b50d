//! Running a judge: a script for Node.js beside this file.

use std::{path::Path, process::Command};

use kit::tool;

/// Where the judges and their packages are.
pub(crate) fn folder() -> &'static Path {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judges"));
    assert!(
        folder.join("node_modules").exists(),
        "the judges' packages are not there: npm ci --prefix tests/judges"
    );
    folder
}

/// Runs a command in the judges' folder; what it printed. Panics with all of it when it fails.
pub(crate) fn judge(program: &str, words: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(program);
    command.args(words).current_dir(folder());
    command.envs(environment.iter().copied());
    tool::run(&mut command)
}
