//! `scrip api`: one command for every route of the admin API.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use kit::{
    Server,
    launch::{ADMIN_TOKEN, binary},
};
use serde_json::{Value, json};

use crate::{failure_of, stdout_of};

/// What `scrip api` prints.
pub(crate) fn api(server: &Server, words: &[&str]) -> Value {
    let output = stdout_of(server, &[&["api"], words].concat());
    serde_json::from_str(&output).expect("JSON")
}

#[tokio::test]
async fn one_command_reaches_every_route_of_the_admin_api() {
    let server = Server::start().await;
    let keys = "/projects/{project}/keys";
    let created = api(&server, &["post", "/projects", "name=Second shop"]);
    assert!(
        created["secretKey"]
            .as_str()
            .unwrap()
            .starts_with("pay_sk_")
    );
    let all = api(&server, &["GET", "/api/admin/v1/projects"]);
    assert_eq!(all["projects"].as_array().unwrap().len(), 2);

    let ambiguous = failure_of(&server, &["api", "GET", keys]);
    assert!(
        ambiguous.contains("there are several projects: name one by --project"),
        "{ambiguous}"
    );
    assert!(ambiguous.contains("(Second shop)"), "{ambiguous}");
    let at = ["--project", "Second shop"];
    let created = api(&server, &[&["POST", keys, "kind=secret"][..], &at].concat());
    let (id, key) = (
        created["id"].as_str().unwrap(),
        created["key"].as_str().unwrap(),
    );
    let client = server.instance().client(key);
    assert_eq!(client.get("/api/v1/me").await.status, 200);
    let one = format!("{keys}/{id}");
    let output = stdout_of(&server, &[&["api", "DELETE", &one][..], &at].concat());
    assert_eq!(output, "", "there is nothing to print");
    assert_eq!(client.get("/api/v1/me").await.status, 401);
    let nowhere = failure_of(&server, &["api", "GET", keys, "--project", "Third"]);
    assert!(
        nowhere.contains("no project is called \"Third\""),
        "{nowhere}"
    );
}

#[tokio::test]
async fn a_customers_question_is_answered() {
    let server = Server::start().await;
    server.grant("ann", 100, "g1").await;
    let wallets = "/projects/{project}/wallets";
    let hits = api(&server, &["GET", wallets, "query=ann"]);
    let wallet = &hits["wallets"][0];
    assert_eq!(wallet["balances"][0]["balance"], 100);
    let one = format!("{wallets}/{}", wallet["ref"].as_str().unwrap());
    let credit = format!("{one}/credit");
    let product = format!("productId={}", server.product());
    let words = [
        "POST",
        &credit,
        &product,
        "amount:=20",
        "idempotencyKey=s1",
        "meta:={\"reason\":\"an outage\"}",
    ];
    for granted in [true, false] {
        let done = api(&server, &words);
        assert_eq!(
            (&done["credited"], &done["balance"]),
            (&json!(granted), &json!(120))
        );
    }
    let ledger = format!("{one}/ledger");
    let entries = api(&server, &["GET", &ledger, "limit:=1"]);
    assert_eq!(entries["entries"].as_array().unwrap().len(), 1);
    assert_eq!(entries["entries"][0]["meta"]["reason"], "an outage");

    // A whole body, out of a file and from standard input.
    let body = json!({ "externalUserId": "bea" }).to_string();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &body).unwrap();
    let from = |file: &str| ["api", "POST", wallets, "--input", file].map(str::to_owned);
    let words = from(file.path().to_str().unwrap());
    let output = stdout_of(&server, &words.each_ref().map(String::as_str));
    let mut piped = server.command(&from("-").each_ref().map(String::as_str));
    let mut piped = piped
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    piped
        .stdin
        .take()
        .unwrap()
        .write_all(body.as_bytes())
        .unwrap();
    let again = String::from_utf8(piped.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(output, again, "the same wallet");
    assert!(output.contains("bea"), "{output}");
}

#[tokio::test]
async fn a_trigger_that_cannot_be_done_names_its_condition() {
    let server = Server::start().await;
    let wallets = "/projects/{project}/wallets";
    let text = failure_of(&server, &["api", "POST", wallets, "externalUserId:=5"]);
    assert!(
        text.contains("externalUserId:") && text.contains("(400)"),
        "{text}"
    );
    let text = failure_of(&server, &["api", "POST", wallets, "--input", "/nowhere"]);
    assert!(text.contains("/nowhere: No such file"), "{text}");
    for wrong in [
        ["FETCH", "/projects", "a=b"],
        ["GET", "projects", "a=b"],
        ["GET", "/projects", "a"],
    ] {
        let mut command = server.command(&[&["api"][..], &wrong].concat());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }

    // Neither token nor server.
    let mut stranger = server.command(&["api", "GET", "/projects"]);
    let output = stranger.env_remove("SCRIP_ADMIN_TOKEN").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("pass --token-file, or set SCRIP_ADMIN_TOKEN"),
        "{text}"
    );
    let mut nowhere = Command::new(binary());
    nowhere.args(["api", "GET", "/projects", "--url", "http://127.0.0.1:1"]);
    let output = nowhere
        .env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("no answer from http://127.0.0.1:1"), "{text}");
    assert!(text.contains("Is the server running there"), "{text}");
}
