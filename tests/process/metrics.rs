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
    let said = [judged.stderr, judged.stdout].concat();
    let said = String::from_utf8(said).unwrap();
    // The tool reads the older format, in which a counter's help uses its whole name. In OpenMetrics, as here,
    // the name comes without its suffix.
    let wrong: Vec<&str> = said
        .lines()
        .filter(|line| {
            let counter = line.strip_suffix("_total no help text");
            !counter.is_some_and(|name| text.contains(&format!("# HELP {name} ")))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{text}");
    // 3: there are remarks.
    assert!(
        matches!(judged.status.code(), Some(0 | 3)),
        "{said}\n{text}"
    );
}

#[tokio::test]
async fn dashboard_and_rules_ask_for_what_there_is() {
    // One of a cluster has all figures, with a snapshot to tell the age of.
    let database = postgres_kit::shared();
    let name = database.create_database();
    let launch = Launch::default().env("SCRIP_STORAGE_URL", database.url(&name));
    let server = Server::launch(launch).await;
    let snapshot = "INSERT INTO scrip.snapshot (cell, name, folded_lsn, folded_hash, manifest) VALUES (0, 's', 0, '', '')";
    database.psql_in(&name, snapshot);
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
