//! The packaged units and compose files: their settings exist, and a process that lost its leadership is restarted.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use toml::{Table, Value};

/// Secrets, which are in no configuration file.
const SECRETS: [&str; 2] = ["SCRIP_ADMIN_TOKEN", "SCRIP_SERVER_KEY"];

fn packaged(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging");
    fs::read_to_string(folder.join(file)).unwrap()
}

/// The variables of all settings.
fn variables(table: &Table, prefix: &str, all: &mut BTreeSet<String>) {
    for (key, value) in table {
        let name = format!("{prefix}_{}", key.to_ascii_uppercase());
        match value {
            Value::Table(inner) => variables(inner, &name, all),
            _ => drop(all.insert(name)),
        }
    }
}

#[test]
fn what_compose_files_and_units_set_are_settings() {
    let files = SECRETS
        .into_iter()
        .chain(["SCRIP_STORAGE_URL", "SCRIP_MAIL_SMTP_URL"]);
    let files = files.map(|name| format!("{name}_FILE"));
    let mut known: BTreeSet<String> = SECRETS
        .map(str::to_owned)
        .into_iter()
        .chain(files)
        .collect();
    variables(
        &scrip::config::DEFAULTS.parse().unwrap(),
        "SCRIP",
        &mut known,
    );
    for file in [
        "cluster/compose.yaml",
        "docker/compose.yaml",
        "systemd/scrip.service",
        "systemd/scrip@.service",
        "systemd/own-tls.conf",
    ] {
        let text = packaged(file);
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in words.filter(|word| word.starts_with("SCRIP_")) {
            assert!(known.contains(name), "{file} sets {name}");
        }
    }
}

#[test]
fn a_process_of_a_cluster_that_ended_with_75_is_started_again() {
    for file in ["systemd/scrip.service", "systemd/scrip@.service"] {
        let unit = packaged(file);
        for line in ["RestartForceExitStatus=75", "SuccessExitStatus=75"] {
            assert!(unit.lines().any(|it| it == line), "{file}: {line}");
        }
    }
}

#[test]
fn compose_files_can_be_read() {
    let reads = "import sys, yaml; yaml.safe_load(sys.stdin)['services']";
    let has_reader = Command::new("python3").args(["-c", "import yaml"]).output();
    if !has_reader.is_ok_and(|output| output.status.success()) {
        eprintln!("NOT CHECKED: compose files, since there is no python3-yaml");
        return;
    }
    for file in ["cluster/compose.yaml", "docker/compose.yaml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("packaging")
            .join(file);
        let text = fs::File::open(path).unwrap();
        let read = Command::new("python3")
            .args(["-c", reads])
            .stdin(text)
            .output();
        let read = read.unwrap();
        assert!(
            read.status.success(),
            "{file}: {}",
            String::from_utf8_lossy(&read.stderr)
        );
    }
}
