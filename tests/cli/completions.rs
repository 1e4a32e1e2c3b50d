//! `scrip completions` and `scrip man`: what shells and manuals know.

use crate::{errors, run};

#[test]
fn shells_and_manuals_know_every_command() {
    let help = run(&["--help"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let (_, rest) = help.split_once("Commands:").expect("a list of commands");
    let (list, _) = rest.split_once("Options:").expect("a list of options");
    let words = list.lines().filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<&str> = words
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|&name| name != "help")
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("man");
    let written = run(&["man", "--dir", dir.to_str().unwrap()]);
    assert!(written.status.success(), "{}", errors(&written));
    let one_page = String::from_utf8_lossy(&run(&["man"]).stdout).into_owned();
    assert!(one_page.contains(".TH"), "{one_page}");
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        assert!(output.status.success(), "{}", errors(&output));
        let script = String::from_utf8_lossy(&output.stdout).into_owned();
        for name in &commands {
            assert!(script.contains(name), "{shell} does not know {name}");
        }
    }
    for name in &commands {
        let page = dir.join(format!("scrip-{name}.1"));
        assert!(page.is_file(), "{}", page.display());
    }
}
