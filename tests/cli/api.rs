//! `scrip api`: every operation of both APIs by its identifier.

use std::{
    io::{Read as _, Write as _},
    process::{Command, Stdio},
};

use kit::{Launch, Server, launch::binary, process::Process};
use serde_json::{Value, json};

use crate::{errors, failure_of, run, stdout_of};

/// What `scrip api` prints for programs.
pub(crate) fn api(server: &Server, words: &[&str]) -> Value {
    let output = stdout_of(server, &[&["api"], words, &["--json"]].concat());
    serde_json::from_str(&output).expect("JSON")
}

#[test]
fn operations_are_listed_and_explained() {
    let listed = run(&["api"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for line in [
        "Wallets (with the administrator's token):",
        "  grant-credits                  Grant credits",
        "External wallets (with a key):",
        "  deduct-external                Deduct from an external wallet",
    ] {
        assert!(listed.lines().any(|it| it == line), "{line}: {listed}");
    }
    let help = run(&["api", "list-project-orders", "--help"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    for part in [
        "GET /projects/{projectId}/orders",
        "scrip api list-project-orders",
        "--min-cents <NUMBER>",
        "pending, processing, disputed, paid",
        "[1 to 100]",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
    for (wrong, why) in [
        (&["api", "fetch"][..], "unrecognized subcommand 'fetch'"),
        (&["api", "create-project"], "--name <TEXT>"),
        (&["api", "list-events", "--limit", "many"], "a whole number"),
        (&["api", "list-events", "--limit", "500"], "from 1 to"),
        (
            &["api", "list-project-orders", "--status", "x"],
            "possible values: pending",
        ),
    ] {
        let output = run(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(errors(&output).contains(why), "{why}: {}", errors(&output));
    }
}

#[tokio::test]
async fn projects_are_created_and_named_by_their_name() {
    let server = Server::start().await;
    let created = api(&server, &["create-project", "--name", "Second shop"]);
    assert!(
        created["secretKey"]
            .as_str()
            .unwrap()
            .starts_with("pay_sk_")
    );
    let all = stdout_of(&server, &["api", "list-projects"]);
    assert!(all.starts_with("ID ") && all.lines().count() == 3, "{all}");

    let ambiguous = failure_of(&server, &["api", "list-keys"]);
    assert!(
        ambiguous.contains("there are several projects: name one by --project"),
        "{ambiguous}"
    );
    assert!(ambiguous.contains("(Second shop)"), "{ambiguous}");
    let at = ["--project", "Second shop"];
    let created = api(
        &server,
        &[&["create-key", "--kind", "secret"][..], &at].concat(),
    );
    let (id, key) = (
        created["id"].as_str().unwrap(),
        created["key"].as_str().unwrap(),
    );
    let client = server.instance().client(key);
    assert_eq!(client.get("/api/v1/me").await.status, 200);
    let revoke = ["api", "revoke-key", "--key-id", id];
    let output = stdout_of(&server, &[&revoke[..], &at].concat());
    assert_eq!(output, "Revoked.\n");
    assert_eq!(client.get("/api/v1/me").await.status, 401);
    let nowhere = failure_of(&server, &["api", "list-keys", "--project", "Third"]);
    assert!(
        nowhere.contains("no project is called \"Third\""),
        "{nowhere}"
    );
}

#[tokio::test]
async fn a_customers_question_is_answered_by_any_name_of_the_wallet() {
    let server = Server::start().await;
    server.grant("ann", 100, "g1").await;
    server.grant("ann-2", 7, "g2").await;
    let found = stdout_of(&server, &["api", "list-wallets", "--query", "ANN-2"]);
    assert!(
        found.contains("ann-2") && found.contains("7 ") && !found.contains("100"),
        "{found}"
    );
    let nothing = stdout_of(&server, &["api", "search", "--query", "nobody"]);
    assert_eq!(nothing, "no wallets, orders, entries\n");
    let grant = [
        "grant-credits",
        "--external-user-id",
        "ann",
        "--product-id",
        server.product(),
        "--amount",
        "20",
        "--meta",
        "{\"reason\":\"an outage\"}",
    ];
    let once = [&grant[..], &["--idempotency-key", "s1"]].concat();
    for granted in [true, false] {
        let done = api(&server, &once);
        assert_eq!(
            (&done["credited"], &done["balance"]),
            (&json!(granted), &json!(120))
        );
    }
    assert_eq!(api(&server, &grant)["balance"], 140, "a key of its own");
    let wallet = api(&server, &["get-wallet", "--wallet-ref", "ann"]);
    let id = wallet["walletId"].as_str().unwrap();
    let entries = api(&server, &["get-ledger", "--wallet-id", id, "--limit", "1"]);
    assert_eq!(entries["entries"][0]["meta"]["reason"], "an outage");
    let output = failure_of(&server, &["api", "get-wallet", "--wallet-ref", "bea"]);
    assert!(
        output.contains("none of the wallets is called \"bea\""),
        "{output}"
    );

    let freeze = ["freeze-project-wallet", "--wallet-id", id, "--frozen"];
    let done = api(
        &server,
        &[&freeze[..], &["--reason", "a stolen card"]].concat(),
    );
    assert_eq!(done["frozenReason"], "a stolen card");
    let deduct = [
        "api",
        "deduct-external",
        "--external-user-id",
        "ann",
        "--amount",
        "1",
    ];
    let output = failure_of(&server, &deduct);
    for part in [
        "(403 wallet_frozen)",
        "a stolen card",
        "(req_",
        "/docs/errors#wallet_frozen",
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
    stdout_of(&server, &[&["api"], &freeze[..], &["false"]].concat());
    let deducted = stdout_of(&server, &deduct);
    assert!(
        deducted.lines().any(|line| line == "balance   139"),
        "{deducted}"
    );
}

#[tokio::test]
async fn a_whole_body_comes_from_a_file_or_standard_input_and_options_replace_its_fields() {
    let server = Server::start().await;
    let body = json!({ "externalUserId": "bea" }).to_string();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &body).unwrap();
    let open = |file: &str| ["api", "open-wallet", "--json", "--body", file].map(str::to_owned);
    let words = open(file.path().to_str().unwrap());
    let words = words.each_ref().map(String::as_str);
    let output = stdout_of(&server, &words);
    let mut piped = server.command(&open("-").each_ref().map(String::as_str));
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
    let other = stdout_of(
        &server,
        &[&words[..], &["--external-user-id", "cid"]].concat(),
    );
    assert!(other.contains("cid") && !other.contains("bea"), "{other}");
    let text = failure_of(&server, &["api", "open-wallet", "--body", "/nowhere"]);
    assert!(text.contains("/nowhere: No such file"), "{text}");
}

#[tokio::test]
async fn orders_are_listed_since_a_day_and_as_csv() {
    let server = Server::start().await;
    server.set_provider(&json!({"kind": "sandbox"})).await;
    server.add_price(10).await;
    stdout_of(&server, &["trigger", "order.paid", "--user", "ann"]);
    let listed = stdout_of(
        &server,
        &["api", "list-project-orders", "--from", "2020-01-01"],
    );
    assert!(
        listed.contains("5.00 EUR") && listed.contains("paid"),
        "{listed}"
    );
    let order = listed
        .split_whitespace()
        .find(|word| word.starts_with("ord_"));
    let get = [
        "api",
        "get-order",
        "--order-id-or-checkout-id",
        order.unwrap(),
    ];
    assert!(stdout_of(&server, &get).contains("5.00 EUR"));
    let later = ["api", "list-project-orders", "--from", "2999-01-01"];
    assert_eq!(stdout_of(&server, &later), "no orders\n");

    let csv = ["api", "list-project-orders", "--format", "csv"];
    assert!(stdout_of(&server, &csv).starts_with("createdAt,id,status,"));
    // A reader that is gone before the first line, as `head` may be.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = server.command(&csv);
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
async fn a_stream_is_printed_as_it_comes() {
    let server = Server::start().await;
    server.grant("ann", 5, "g").await;
    let mut command =
        server.command(&["api", "stream-external-wallet", "--external-user-id", "ann"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 6];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(&first, b"event:");
}

#[tokio::test]
async fn a_webhooks_address_is_not_the_servers() {
    let server = Server::start().await;
    let url = server.instance().base();
    let mut command = Command::new(binary());
    command
        .args([
            "api",
            "create-webhook",
            "--url",
            "https://shop.example/hooks",
            "--json",
        ])
        .args([
            "--events",
            "order.paid",
            "--events",
            "order.failed",
            "--server-url",
            url,
        ])
        .env("SCRIP_ADMIN_TOKEN", kit::launch::ADMIN_TOKEN);
    let made: Value = serde_json::from_str(&kit::tool::run(&mut command)).unwrap();
    assert_eq!(made["url"], "https://shop.example/hooks");
    assert_eq!(made["events"], json!(["order.failed", "order.paid"]));
}

#[tokio::test]
async fn what_listens_elsewhere_is_found_by_what_dev_stored() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("dev");
    let mut dev = Process::start(Launch::default().dev(&data), false);
    dev.wait_for_line("the address", kit::process::listening)
        .await;
    for words in [
        &["list-wallets", "--query", "user_demo"][..],
        &["read-external-wallet", "--external-user-id", "user_demo"],
    ] {
        let mut command = Command::new(binary());
        command.arg("api").args(words).arg("--data-dir").arg(&data);
        command
            .env_remove("SCRIP_URL")
            .env_remove("SCRIP_ADMIN_TOKEN");
        let output = kit::tool::run(&mut command);
        assert!(output.contains("user_demo"), "{output}");
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_made_names_its_condition() {
    let server = Server::start().await;
    // Neither token nor key nor server.
    for (words, missing) in [
        (
            &["api", "list-projects"][..],
            "pass --token-file, or set SCRIP_ADMIN_TOKEN",
        ),
        (&["api", "me"], "set SCRIP_SECRET_KEY or pass --key"),
    ] {
        let mut stranger = server.command(words);
        let stranger = stranger
            .env_remove("SCRIP_ADMIN_TOKEN")
            .env_remove("SCRIP_SECRET_KEY");
        let output = errors(&stranger.output().unwrap());
        assert!(output.contains(missing), "{output}");
    }
    let at = |url: &str| errors(&run(&["api", "me", "--key", "k", "--url", url]));
    assert!(at("127.0.0.1:1").contains("begins with http:// or https://"));
    let output = at("http://127.0.0.1:1");
    assert!(
        output.contains("no answer from http://127.0.0.1:1"),
        "{output}"
    );
    assert!(output.contains("Is the server running there"), "{output}");
    let https = server.instance().base().replace("http:", "https:");
    assert!(at(&https).contains("speaks http, not https"));
    let credit = [
        "api",
        "credit",
        "--external-user-id",
        "ann",
        "--amount",
        "1",
        "--product-id",
        "p",
    ];
    let output = errors(&run(&[
        &credit[..],
        &["--key", "k", "--url", "http://127.0.0.1:1"],
    ]
    .concat()));
    assert!(
        output.contains("Repeat it with --idempotency-key "),
        "{output}"
    );
}
