//! The log: every line about a request has its id.

use kit::{
    Client, Launch, Project, Server, deadline,
    receiver::{Receiver, ScriptedResponse},
    stripe,
};
use serde_json::{Value, json};

/// A server whose provider cannot be reached, and a price to buy.
async fn shop(launch: Launch) -> (Server, String) {
    // Nothing listens there.
    let launch = launch.env("SCRIP_STRIPE_API_BASE", "http://127.0.0.1:9");
    let server = Server::launch(launch).await;
    let price = server.add_price(5).await;
    server.set_provider(&stripe::provider()).await;
    (server, price)
}

/// The first line that contains all of these.
async fn line(server: &Server, parts: &[&str]) -> String {
    let instance = server.instance();
    deadline::until(&format!("a line with {parts:?}"), deadline::SOON, || {
        let log = instance.output();
        let has_all = |line: &&String| parts.iter().all(|part| line.contains(part));
        log.iter().find(has_all).cloned()
    })
    .await
}

#[tokio::test]
async fn every_line_of_a_request_has_its_name() {
    for (log, format) in [("info", "text"), ("warn", "text"), ("warn", "json")] {
        let launch = Launch::default()
            .env("SCRIP_LOG", log)
            .env("SCRIP_LOG_FORMAT", format);
        let (server, price) = shop(launch).await;
        let buy = json!({"priceId": price});
        let reply = server.client().post("/api/v1/checkout", &buy).await;
        assert_eq!(reply.code(), "provider_error");
        let id = reply.headers["x-request-id"].to_str().unwrap();
        let text = line(&server, &["provider", "failed", id]).await;
        assert!(text.contains("/api/v1/checkout"), "{text}");
        if format == "json" {
            let text: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(text["span"]["id"], id, "{text}");
        }
    }
}

#[tokio::test]
async fn what_is_administrated_is_logged() {
    let server = Server::start().await;
    let reply = server
        .admin()
        .post("/api/admin/v1/projects", &json!({"name": "Second"}))
        .await;
    let id = reply.headers["x-request-id"].to_str().unwrap().to_owned();
    reply.expect(201);
    let text = line(&server, &["administrative", &id]).await;
    for part in ["POST", "/api/admin/v1/projects", "201", "127.0.0.1"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("Second"), "{text}");
}

#[tokio::test]
async fn strangers_leave_so_many_lines_however_often_they_ask() {
    let server = Server::start().await;
    let projects = "/api/admin/v1/projects";
    let before = server.instance().output().len();
    for number in 0..40 {
        let stranger = server.instance().client(&format!("wrong-{number}"));
        stranger.get(projects).await;
        let (nobody, url) = (kit::client::plain_http(), server.url(projects));
        let without = nobody.get(&url).send().await.unwrap();
        assert_eq!(without.status(), 401);
        let method = nobody.delete(&url).send().await.unwrap();
        assert_eq!(method.status(), 405);
    }
    let reply = server.admin().get(projects).await;
    let id = reply.headers["x-request-id"].to_str().unwrap().to_owned();
    line(&server, &["administrative", &id]).await;
    let log = server.instance().output().split_off(before);
    assert!(log.len() <= 25, "{} lines: {log:?}", log.len());
}

#[tokio::test]
async fn a_disabled_endpoint_is_logged() {
    let launch = Launch::default().env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true");
    let server = Server::launch(launch).await;
    let receiver = Receiver::start().await;
    let path = format!("{}/webhooks", server.project_path());
    let url = format!("{}?token=a-secret", receiver.url);
    let endpoint = server.admin().post(&path, &json!({"url": url})).await;
    let endpoint = endpoint.expect(201);
    receiver.next(ScriptedResponse::Status(410));
    server.grant("ann", 1, "g1").await;
    let id = endpoint["id"].as_str().unwrap();
    let text = line(&server, &["WARN", "was disabled", id]).await;
    assert!(text.contains(&server.project().id), "{text}");
    assert!(!text.contains("a-secret"), "{text}");
}

#[tokio::test]
async fn a_server_whose_log_is_no_longer_read_serves_and_ends() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let mut command = Launch::default()
        .env("SCRIP_LOG", "info")
        .serve(folder.path());
    command.stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let base = output.find_map(|line| kit::process::listening(&line.unwrap()));
    let base = base.unwrap();
    drop((output, child.stderr.take()));
    // It logs that the provider refused, and that it stops.
    let admin = Client::new(&base, kit::launch::ADMIN_TOKEN);
    let project = Project::create(&admin).await;
    let path = format!("/api/admin/v1/projects/{}", project.id);
    let change = json!({"provider": {"kind": "stripe", "secretKey": "sk_test_x"}});
    admin.patch(&path, &change).await.expect(200);
    assert_eq!(admin.get("/healthz").await.status, 200);
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let status = deadline::until("the end", deadline::SOON, || child.try_wait().unwrap()).await;
    assert!(status.success(), "{status}");
}
