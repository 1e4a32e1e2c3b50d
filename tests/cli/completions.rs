//! `scrip completions` and `scrip man`: what shells and manuals know.

use crate::{errors, run};

#[test]
fn shells_and_manuals_know_every_command() {
    let help = run(&["--help"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let (list, _) = help.split_once("\nOptions:").expect("a list of options");
    for group in ["Start:", "Operations:", "Developer tools:"] {
        assert!(list.lines().any(|line| line == group), "{group}: {help}");
    }
    let words = list.lines().filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<&str> = words
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("man");
    let written = run(&["man", "--dir", dir.to_str().unwrap()]);
    assert!(written.status.success(), "{}", errors(&written));
    let one_page = String::from_utf8_lossy(&run(&["man"]).stdout).into_owned();
    assert!(
        one_page.contains(".TH") && one_page.contains("SCRIP_URL"),
        "{one_page}"
    );
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
    let page = std::fs::read_to_string(dir.join("scrip-backup.1")).unwrap();
    for part in [
        "scrip backup \\-\\-to /mnt/backups",
        "SCRIP_ADMIN_TOKEN_FILE",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let help = String::from_utf8_lossy(&run(&["backup", "--help"]).stdout).into_owned();
    assert!(help.contains("Examples:\n  scrip backup"), "{help}");
    let page = std::fs::read_to_string(dir.join("scrip-keys-create.1")).unwrap();
    assert!(page.contains("scrip keys create \\-\\-kind"), "{page}");
}
