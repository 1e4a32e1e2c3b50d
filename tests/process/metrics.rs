//! Metrics and their users: Prometheus can read them, and the packaged rules and Grafana dashboard use only
//! metrics that exist.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use kit::{Client, Launch, Server, deadline, launch::ADMIN_TOKEN};
use reqwest::header::AUTHORIZATION;

async fn figures(server: &Server) -> String {
    server.grant("ann", 10, "g1").await;
    let request =
        Client::new(server.instance().base(), "").request(reqwest::Method::GET, "/metrics");
    let (http, request) = request.build_split();
    let mut request = request.unwrap();
    let bearer = format!("Bearer {ADMIN_TOKEN}").parse().unwrap();
    request.headers_mut().insert(AUTHORIZATION, bearer);
    http.execute(request).await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn prometheus_own_tool_finds_nothing_wrong() {
    let server = Server::start().await;
    let text = figures(&server).await;
    let tool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut tool = match tool {
        Ok(tool) => tool,
        Err(error) => {
            eprintln!(
                "NOT CHECKED: /metrics, since there is no promtool (Debian's prometheus): {error}"
            );
            return;
        }
    };
    let mut into = tool.stdin.take().unwrap();
    into.write_all(text.as_bytes()).unwrap();
    drop(into);
    let judged = tool.wait_with_output().unwrap();
    let output = [judged.stderr, judged.stdout].concat();
    let output = String::from_utf8(output).unwrap();
    // The tool reads the older format, in which a counter's help uses its whole name. In OpenMetrics, as here,
    // the name comes without its suffix.
    let wrong: Vec<&str> = output
        .lines()
        .filter(|line| {
            let counter = line.strip_suffix("_total no help text");
            !counter.is_some_and(|name| text.contains(&format!("# HELP {name} ")))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{text}");
    // 3: there are comments.
    assert!(
        matches!(judged.status.code(), Some(0 | 3)),
        "{output}\n{text}"
    );
}

#[tokio::test]
async fn the_grafana_dashboard_and_the_rules_use_metrics_that_exist() {
    // One of a cluster has all figures, with the age of a snapshot.
    let database = postgres_kit::shared();
    let name = database.create_database();
    let launch = Launch::default().env("SCRIP_STORAGE_URL", database.url(&name));
    let server = Server::launch(launch).await;
    let snapshot = "INSERT INTO scrip.snapshot (cell, name, folded_lsn, folded_hash, manifest) VALUES (0, 's', 0, '', '')";
    database.psql_in(&name, snapshot);
    let found = br#"{"at":1,"problems":0}"#;
    std::fs::write(server.data_dir().join("verify.json"), found).unwrap();
    let text = deadline::answered("the database was asked", deadline::SOON, async || {
        let text = figures(&server).await;
        text.contains("scrip_cluster_snapshot_age_seconds ")
            .then_some(text)
    })
    .await;
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging");
    let mut asked_for = 0;
    for file in ["grafana/scrip.json", "prometheus/scrip.rules.yml"] {
        let asks = std::fs::read_to_string(packaging.join(file)).unwrap();
        let words = asks.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in words.filter(|word| word.starts_with("scrip_")) {
            // There with TLS alone: see `tls.rs`. And once a project was reconciled.
            if [
                "scrip_certificate_not_after_seconds",
                "scrip_reconciliation_age_seconds",
            ]
            .contains(&name)
            {
                continue;
            }
            asked_for += 1;
            let there = |line: &str| {
                line.strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with([' ', '{']))
            };
            assert!(text.lines().any(there), "{file} asks for {name}:\n{text}");
        }
    }
    assert!(asked_for > 10, "{asked_for}");
}

/// Prometheus' own tool over the packaged rules, as they stand in the tree.
#[test]
fn prometheus_own_tool_finds_the_rules_right_and_they_wake_somebody_when_they_should() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules = root.join("packaging/prometheus/scrip.rules.yml");
    let tests = std::fs::read_to_string(root.join("tests/process/rules.test.yml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.test.yml");
    std::fs::write(&file, tests.replace("RULES", rules.to_str().unwrap())).unwrap();
    for (what, path) in [("check", &rules), ("test", &file)] {
        let output = Command::new("promtool")
            .args([what, "rules"])
            .arg(path)
            .output();
        let output = match output {
            Ok(output) => output,
            Err(error) => {
                eprintln!(
                    "NOT CHECKED: rules, since there is no promtool (Debian's prometheus): {error}"
                );
                return;
            }
        };
        let text = [output.stdout, output.stderr].concat();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&text)
        );
    }
}

#[tokio::test]
async fn the_age_of_any_backup_survives_a_restart() {
    let mut server = Server::start().await;
    let line = |text: &str, name: &str| -> Option<i64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    let made = |text: &str| line(text, "scrip_backup_made ");
    let text = server.figures().await;
    assert_eq!(made(&text), Some(0));
    assert!(line(&text, "scrip_backup_age_seconds ").is_some(), "{text}");
    assert!(text.contains("\nscrip_build_info{version="), "{text}");
    assert!(
        line(&text, "process_open_fds ").is_some_and(|open| open > 3),
        "{text}"
    );
    assert!(line(&text, "process_resident_memory_bytes ").is_some_and(|used| used > 1 << 20));
    assert!(line(&text, "scrip_disk_free_bytes ").is_some_and(|free| free > 0));
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backups");
    let mut backup = server.command(&["backup"]);
    kit::tool::run(backup.arg("--to").arg(&to));
    assert_eq!(made(&server.figures().await), Some(1));
    server.restart().await;
    let text = server.figures().await;
    assert_eq!(
        made(&text),
        Some(1),
        "by the server, into a directory that no configuration names"
    );

    // Without a server, as a script may.
    let mut other = Server::start().await;
    assert!(other.terminate().await.success());
    let mut backup = other.launch_settings().command("backup", other.data_dir());
    kit::tool::run(backup.arg("--to").arg(folder.path().join("others")));
    other.start_again().await;
    assert_eq!(made(&other.figures().await), Some(1));
}
