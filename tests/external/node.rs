//! Runs the external tests: scripts for Node.js beside this file.

use std::{path::Path, process::Command};

use kit::tool;

/// The folder of the scripts and their packages.
pub(crate) fn folder() -> &'static Path {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/external"));
    assert!(
        folder.join("node_modules").exists(),
        "the packages of the external tests are not there: npm ci --prefix tests/external"
    );
    folder
}

/// Runs a command in that folder; returns its output, or panics with it if the command fails.
pub(crate) fn run_tool(program: &str, words: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(program);
    command.args(words).current_dir(folder());
    command.envs(environment.iter().copied());
    tool::run(&mut command)
}

/// Checks a file with TypeScript's compiler.
pub(crate) fn check_types(file: &Path) {
    let words = [
        "node_modules/typescript/bin/tsc",
        "--noEmit",
        "--strict",
        "--exactOptionalPropertyTypes",
        "--skipLibCheck",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        file.to_str().unwrap(),
    ];
    run_tool("node", &words, &[]);
}
