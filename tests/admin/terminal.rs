//! The commands that look at a running server: projects, keys, wallets and orders, as a person reads
//! them and as a program does.

use std::process::{Command, Output, Stdio};

use kit::{
    Server,
    launch::{ADMIN_TOKEN, binary},
};
use serde_json::{Value, json};

/// A command against a server, by its administrator.
pub(crate) fn scrip(server: &Server, words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(words)
        .args(["--url", server.instance().base()])
        .env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN)
        .env("SCRIP_SECRET_KEY", server.secret())
        .stdin(Stdio::null());
    command
}

fn run(server: &Server, words: &[&str]) -> Output {
    scrip(server, words).output().expect("the binary starts")
}

/// What it prints when all is well.
pub(crate) fn says(server: &Server, words: &[&str]) -> String {
    let output = run(server, words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json_of(server: &Server, words: &[&str]) -> Value {
    serde_json::from_str(&says(server, words)).expect("JSON")
}

/// Why it fails.
fn complains(server: &Server, words: &[&str]) -> String {
    let output = run(server, words);
    assert_eq!(output.status.code(), Some(1), "{words:?}");
    assert!(output.stdout.is_empty(), "{words:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn projects_and_keys_are_made_listed_and_revoked() {
    let server = Server::start().await;
    let said = says(&server, &["projects", "make", "Second shop"]);
    assert!(said.contains("pay_sk_"), "{said}");
    let all = json_of(&server, &["projects", "list", "--json"]);
    assert_eq!(all["projects"].as_array().unwrap().len(), 2);
    let table = says(&server, &["projects", "list"]);
    assert!(
        table.starts_with("ID ") && table.contains("Second shop"),
        "{table}"
    );

    let ambiguous = complains(&server, &["keys", "list"]);
    assert!(
        ambiguous.contains("which project? Name one by --project"),
        "{ambiguous}"
    );
    assert!(ambiguous.contains("(Second shop)"), "{ambiguous}");
    let at = ["--project", "Second shop"];
    let made = json_of(
        &server,
        &[&["keys", "make", "secret", "--json"][..], &at].concat(),
    );
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let client = server.instance().client(key);
    assert_eq!(client.get("/api/v1/me").await.status, 200);

    // Neither is a key taken for its id, nor shown again.
    let wrong = complains(&server, &[&["keys", "revoke", key][..], &at].concat());
    assert!(
        wrong.contains("give its id") && !wrong.contains(key),
        "{wrong}"
    );
    says(&server, &[&["keys", "revoke", id][..], &at].concat());
    assert_eq!(client.get("/api/v1/me").await.status, 401);
    let table = says(&server, &[&["keys", "list"][..], &at].concat());
    assert!(table.contains(id) && !table.contains(key), "{table}");
    let nowhere = complains(&server, &["keys", "list", "--project", "Third"]);
    assert!(
        nowhere.contains("no project is called \"Third\""),
        "{nowhere}"
    );
}

#[tokio::test]
async fn a_customers_question_is_answered() {
    let server = Server::start().await;
    server.grant("ann", 100, "g1").await;
    let deduct = json!({
        "externalUserId": "ann", "amount": 15, "idempotencyKey": "d1", "meta": {"feature": "image"},
    });
    let path = "/api/v1/wallets/external/deduct";
    server.client().post(path, &deduct).await.expect(200);
    let table = says(&server, &["wallet", "find", "ann"]);
    assert!(
        table.contains("wref_") && table.contains("85 credits"),
        "{table}"
    );
    let shown = says(&server, &["wallet", "show", "ann"]);
    assert!(shown.contains("whose     ann"), "{shown}");
    let name = json_of(&server, &["wallet", "show", "ann", "--json"])["ref"].clone();
    assert_eq!(
        says(&server, &["wallet", "show", name.as_str().unwrap()]),
        shown
    );

    let said = says(
        &server,
        &[
            "wallet",
            "grant",
            "ann",
            "20",
            "--reason",
            "an outage",
            "--key",
            "s1",
        ],
    );
    assert!(
        said.contains("granted 20 credits to ann: 105 can be spent now"),
        "{said}"
    );
    let again = says(
        &server,
        &[
            "wallet",
            "grant",
            "ann",
            "20",
            "--reason",
            "an outage",
            "--key",
            "s1",
        ],
    );
    assert!(again.contains("granted before"), "{again}");
    let ledger = says(&server, &["wallet", "ledger", "ann"]);
    let lines: Vec<&str> = ledger.lines().collect();
    assert_eq!(lines.len(), 4, "{ledger}");
    assert!(
        lines[1].contains("manual") && lines[1].contains("an outage"),
        "{ledger}"
    );
    assert!(
        lines[2].contains("-15") && lines[2].contains("image"),
        "{ledger}"
    );
    let entries = json_of(
        &server,
        &["wallet", "ledger", "ann", "--limit", "1", "--json"],
    );
    assert_eq!(entries["entries"].as_array().unwrap().len(), 1);
    assert_eq!(entries["entries"][0]["balanceAfter"], 105);
}

#[tokio::test]
async fn what_cannot_be_done_says_what_would_do() {
    let server = Server::start().await;
    let said = complains(&server, &["wallet", "grant", "bea", "5"]);
    assert!(
        said.contains("no wallet goes by that") && said.contains("--create"),
        "{said}"
    );
    let said = says(&server, &["wallet", "grant", "bea", "5", "--create"]);
    assert!(said.contains("granted 5 credits to bea"), "{said}");
    let never = ["wallet", "show", "wal_01m7xe18mve1d9wd5x2twzf7cm"];
    let said = complains(&server, &never);
    assert!(said.contains("no wallet goes by that"), "{said}");
    let code = "OLIVE-7K2M-9QXP-4TBD";
    let said = complains(&server, &["wallet", "show", code]);
    assert!(!said.contains(code), "a code is repeated: {said}");
    let said = complains(&server, &["wallet", "ledger", "bea", "--reason", "magic"]);
    assert!(said.contains("reason:") && said.contains("(400)"), "{said}");
    let said = complains(
        &server,
        &["wallet", "grant", "bea", "5", "--product", "Gold"],
    );
    assert!(
        said.contains("no product with credits goes by that"),
        "{said}"
    );
    let said = complains(&server, &["orders", "show", "../keys"]);
    assert!(said.contains("names no order"), "{said}");
    assert_eq!(says(&server, &["orders", "list"]).trim(), "no orders yet");

    // Neither token nor server.
    let mut stranger = scrip(&server, &["projects", "list"]);
    let output = stranger.env_remove("SCRIP_ADMIN_TOKEN").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("set SCRIP_ADMIN_TOKEN or pass --admin-token"),
        "{said}"
    );
    let mut nowhere = Command::new(binary());
    nowhere.args(["projects", "list", "--url", "http://127.0.0.1:1"]);
    let output = nowhere
        .env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no answer from http://127.0.0.1:1"), "{said}");
    assert!(said.contains("Is the server running there"), "{said}");
}

#[tokio::test]
async fn things_happen_in_the_sandbox_when_they_are_triggered_and_nowhere_else() {
    let server = Server::start().await;
    let said = complains(&server, &["trigger", "order.paid"]);
    assert!(said.contains("does not sell through the sandbox"), "{said}");
    server.set_provider(&json!({"kind": "sandbox"})).await;
    let said = complains(&server, &["trigger", "order.paid"]);
    assert!(said.contains("sells nothing once"), "{said}");
    server.add_price(10).await;
    for (event, status) in [
        ("order.paid", "paid"),
        ("order.failed", "failed"),
        ("order.expired", "expired"),
        ("order.refunded", "refunded"),
        ("dispute", "refunded"),
    ] {
        let said = says(&server, &["trigger", event, "--user", event]);
        assert!(said.contains(&format!("is {status}")), "{event}: {said}");
    }
    let orders = json_of(&server, &["orders", "list", "--limit", "2", "--json"]);
    let orders = orders["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 2);
    let newest = orders[0]["id"].as_str().unwrap();
    let shown = says(&server, &["orders", "show", newest]);
    assert!(
        shown.contains("status    refunded") && shown.contains("user      dispute"),
        "{shown}"
    );
    let table = says(&server, &["orders", "list"]);
    assert_eq!(table.lines().count(), 6, "{table}");
    let found = says(&server, &["wallet", "find", newest]);
    assert!(found.contains("dispute"), "{found}");
    let status = |status, limit| {
        let words = [
            "orders", "list", "--status", status, "--limit", limit, "--json",
        ];
        let orders = json_of(&server, &words);
        let orders = orders["orders"].as_array().unwrap().clone();
        let users = orders.iter().map(|order| {
            assert_eq!(order["status"], status);
            order["externalUserId"].as_str().unwrap().to_owned()
        });
        users.collect::<Vec<_>>()
    };
    assert_eq!(status("refunded", "25"), ["dispute", "order.refunded"]);
    assert_eq!(status("refunded", "1"), ["dispute"]);
    assert_eq!(status("paid", "1"), ["order.paid"], "the oldest of all");
    assert_eq!(status("pending", "25"), [""; 0]);
    let table = says(&server, &["orders", "list", "--status", "pending"]);
    assert_eq!(table.trim(), "no such orders");

    let said = complains(&server, &["trigger", "subscription.started"]);
    assert!(said.contains("sells nothing by subscription"), "{said}");
    let plan = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
    let path = format!("{}/products", server.project_path());
    let plan = server.admin().post(&path, &plan).await.expect(201);
    let tier = json!({"label": "Basic", "amountCents": 900, "currency": "EUR", "creditsGranted": 50, "interval": "month"});
    let path = format!("{path}/{}/prices", plan["id"].as_str().unwrap());
    server.admin().post(&path, &tier).await.expect(201);
    for event in [
        "subscription.renewed",
        "subscription.past_due",
        "subscription.canceled",
    ] {
        let said = says(&server, &["trigger", event, "--user", event]);
        assert!(said.contains("clock is moved on"), "{said}");
        let told = server
            .client()
            .get(&format!("/api/v1/events?types={event}"))
            .await
            .expect(200);
        let told = told["events"].as_array().unwrap();
        assert!(
            told.iter()
                .any(|told| told["data"]["externalUserId"] == event),
            "{event}"
        );
    }
}
