//! `scrip search`, `scrip wallet find`, `scrip orders` and `scrip projects`.

use std::{io::Read as _, process::Stdio};

use kit::{Launch, Server, process::Process};
use serde_json::{Value, json};

use crate::{errors, failure_of, run, stdout_of};

#[tokio::test]
async fn what_is_looked_for_is_found_or_the_exit_status_says_so() {
    let server = Server::start().await;
    server.grant("ann-1", 100, "g1").await;
    server.grant("ann-2", 7, "g2").await;
    let output = stdout_of(&server, &["search", "ANN"]);
    assert!(
        output.contains("ann-1") && output.contains("ann-2"),
        "{output}"
    );
    let output = stdout_of(&server, &["wallet", "find", "ann-2"]);
    assert!(
        output.contains(" 7 ") && !output.contains("ann-1"),
        "{output}"
    );
    let output = failure_of(&server, &["search", "nobody"]);
    assert!(output.contains("nothing was found"), "{output}");
    failure_of(&server, &["wallet", "find", "nobody"]);
    let output = stdout_of(&server, &["orders", "list", "--status", "pending"]);
    assert!(output.contains("0 orders in all"), "{output}");
    let output = stdout_of(&server, &["orders", "list", "--csv"]);
    assert!(output.starts_with("createdAt,id,status,"), "{output}");
}

#[tokio::test]
async fn orders_are_listed_since_a_day_and_shown_one_by_one() {
    let server = Server::start().await;
    server.set_provider(&json!({"kind": "sandbox"})).await;
    server.add_price(10).await;
    stdout_of(&server, &["trigger", "order.paid", "--user", "ann"]);
    let list = ["orders", "list", "--from", "2020-01-01", "--json"];
    let page: Value = serde_json::from_str(&stdout_of(&server, &list)).unwrap();
    let order = page["orders"][0]["id"].as_str().unwrap();
    let shown = stdout_of(&server, &["orders", "show", order]);
    assert!(shown.contains(order) && shown.contains("paid"), "{shown}");
    let later = stdout_of(&server, &["orders", "list", "--from", "2999-01-01"]);
    assert!(later.contains("0 orders in all"), "{later}");
    let too_many = run(&["orders", "list", "--limit", "500"]);
    assert!(errors(&too_many).contains("1..=100"), "{too_many:?}");

    // A reader that is gone before the first line, as `head` may be.
    let mut command = server.command(&["orders", "list", "--csv"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = command
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut output)
        .unwrap();
    assert!(
        child.wait().unwrap().success() && output.is_empty(),
        "{output}"
    );
}

#[tokio::test]
async fn projects_are_listed_with_their_provider() {
    let server = Server::start().await;
    let id = &server.project().id;
    let listed = stdout_of(&server, &["projects", "list"]);
    assert!(listed.starts_with("ID") && listed.contains(id), "{listed}");
    let all: Value =
        serde_json::from_str(&stdout_of(&server, &["projects", "list", "--json"])).unwrap();
    assert_eq!(all["projects"][0]["id"], **id);
}

#[tokio::test]
async fn what_listens_elsewhere_is_found_by_what_dev_stored() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("dev");
    let mut dev = Process::start(Launch::default().dev(&data), false);
    dev.wait_for_line("the address", kit::process::listening)
        .await;
    let mut command = Launch::default().command("search", &data);
    let found = command
        .arg("user_demo")
        .env_remove("SCRIP_URL")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(output.contains("user_demo"), "{output}{}", errors(&found));
}

#[tokio::test]
async fn an_address_that_is_none_or_speaks_http_is_named_as_such() {
    let output = errors(&run(&["search", "x", "--url", "127.0.0.1:1"]));
    assert!(
        output.contains("begins with http:// or https://"),
        "{output}"
    );
    let server = Server::start().await;
    let https = server.instance().base().replace("http:", "https:");
    let output = errors(&run(&[
        "search",
        "x",
        "--admin-token",
        "t",
        "--url",
        &https,
    ]));
    assert!(output.contains("speaks http, not https"), "{output}");
}
