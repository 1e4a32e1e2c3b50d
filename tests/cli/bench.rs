//! `scrip bench`: a program of its own.

use std::process::Command;

use kit::launch::binary;

use crate::errors;

/// A folder with only the binary. It is linked and not copied: a file that is being written cannot be executed,
/// and another test's child may have inherited the descriptor.
fn alone() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::hard_link(binary(), folder.path().join("scrip")).unwrap();
    folder
}

#[test]
fn bench_is_a_program_of_its_own() {
    let folder = alone();
    let scrip = folder.path().join("scrip");
    // A shell script replaces `scrip-bench`: it prints its arguments and exits with the given status.
    std::os::unix::fs::symlink("/bin/sh", folder.path().join("scrip-bench")).unwrap();
    let script = r#"echo "$SCRIP_BENCH_SERVER" "$@"; exit 7"#;
    let words = [
        "bench", "-c", script, "sh", "http", "--help", "-V", "--", "x",
    ];
    let output = Command::new(&scrip).args(words).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rest = text.strip_prefix(scrip.to_str().unwrap());
    assert_eq!(rest.map(str::trim), Some("http --help -V -- x"), "{text}");
    // Its exit status is passed on.
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn bench_says_what_to_build_where_there_is_none() {
    let folder = alone();
    let mut command = Command::new(folder.path().join("scrip"));
    command.args(["bench", "http"]).env("PATH", folder.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = errors(&output);
    assert!(
        text.contains("not in the packages")
            && text.contains("cargo build --release -p scrip-bench"),
        "{text}"
    );
}
