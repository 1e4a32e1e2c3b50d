//! The command line as an operator uses it: the real binary, alone or against a running server, a file a command.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

mod api;
mod apply;
mod backup;
mod bench;
mod cluster;
mod completions;
mod debts;
mod doctor;
mod export;
mod health;
mod import;
mod import_stripe;
mod keys;
mod listen;
mod names;
mod openapi;
mod rates;
mod reconcile;
mod secrets;
mod trigger;
mod users;
mod verify;

use std::process::{Command, Output, Stdio};

use kit::{Server, launch::binary, tool};

/// Runs the binary to its end, without an administrator's token.
fn run(words: &[&str]) -> Output {
    let mut command = Command::new(binary());
    command
        .args(words)
        .stdin(Stdio::null())
        .env_remove("SCRIP_ADMIN_TOKEN");
    command.output().expect("the binary starts")
}

/// What a command prints about its failure.
fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All that a command prints.
fn all_output(output: &Output) -> String {
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// What a command against a server prints when all is well.
fn stdout_of(server: &Server, words: &[&str]) -> String {
    tool::run(&mut server.command(words))
}

/// Why a command against a server fails.
fn failure_of(server: &Server, words: &[&str]) -> String {
    let output = server.command(words).output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(1), "{words:?}");
    assert!(output.stdout.is_empty(), "{words:?}");
    errors(&output)
}
