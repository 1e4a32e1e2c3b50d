//! Proxies: requests to this machine never use one, and a proxy that forwards for others without being trusted
//! is named in the log.

use std::{io::ErrorKind, net::TcpListener};

use kit::{Client, Launch, Server, deadline};
use reqwest::Method;
use serde_json::json;

const VARIABLES: [&str; 6] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
];

#[tokio::test]
async fn what_is_for_this_machine_goes_through_no_proxy() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let settings = VARIABLES.map(|name| (name, address.clone()));
    let none = ["no_proxy", "NO_PROXY"].map(|name| (name, String::new()));
    let settings = || settings.iter().chain(&none);
    let launch = settings().fold(Launch::default(), |launch, (name, value)| {
        launch.env(name, value)
    });
    let server = Server::launch(launch).await;
    server.set_provider(&json!({"kind": "sandbox"})).await;
    server.add_price(100).await;
    for words in [
        &["api", "list-projects"][..],
        &["api", "list-wallets", "--query", "ann"],
        // Through the sandbox, whose webhooks and pages are the server's own.
        &["trigger", "order.paid", "--user", "ann"],
    ] {
        let mut command = server.command(words);
        command.envs(settings().cloned());
        let output = command.output().expect("the binary starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {errors}");
    }
    let mut command = server.command(&["doctor", "--json"]);
    command.envs(settings().cloned());
    let report = command.output().expect("the binary starts").stdout;
    let report = String::from_utf8_lossy(&report);
    assert!(report.contains("accepts reads and writes"), "{report}");
    // If a request had reached the proxy, the connection would wait in its queue.
    let nobody = proxy.accept().unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::WouldBlock);
}

#[tokio::test]
async fn an_unnamed_proxy_is_logged_once() {
    let server = Server::start().await;
    for client in ["203.0.113.1", "203.0.113.2", "203.0.113.3"] {
        let call = server.client().request(Method::GET, "/api/v1/me");
        let call = call.header("X-Forwarded-For", client);
        Client::send(call).await.unwrap().expect(200);
    }
    server.admin().get("/metrics").await;
    let warnings = || {
        let lines = server.instance().output().into_iter();
        lines
            .filter(|line| line.contains("trusted_proxies"))
            .collect::<Vec<_>>()
    };
    // The line may be logged after the response.
    let lines = deadline::until("the log to say so", deadline::SOON, || {
        Some(warnings()).filter(|lines| !lines.is_empty())
    });
    let lines = lines.await;
    assert!(lines[0].contains("127.0.0.1"), "{lines:?}");
    assert!(!lines[0].contains("203.0.113"), "{lines:?}");
    assert_eq!(warnings().len(), 1);
}
