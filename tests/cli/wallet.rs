//! `scrip wallet`: what an operator does to one wallet.

use kit::Server;
use serde_json::{Value, json};

use crate::{failure_of, stdout_of};

fn wallet(server: &Server, words: &[&str]) -> Value {
    let output = stdout_of(server, &[&["wallet"], words, &["--json"]].concat());
    serde_json::from_str(&output).expect("JSON")
}

#[tokio::test]
async fn a_wallet_is_frozen_and_unfrozen_by_any_of_its_names() {
    let server = Server::start().await;
    server.grant("ann", 100, "g1").await;
    let done = wallet(&server, &["freeze", "ann", "--reason", "a stolen card"]);
    assert_eq!(done["frozenReason"], "a stolen card");
    let take = json!({"externalUserId": "ann", "amount": 1, "idempotencyKey": "d"});
    let deduct = "/api/v1/wallets/external/deduct";
    let reply = server.client().post(deduct, &take).await;
    assert_eq!((reply.status, reply.code()), (403, "wallet_frozen"));
    let id = done["walletId"].as_str().unwrap();
    let shown = stdout_of(&server, &["wallet", "show", "ann"]);
    let is = format!("{id} is frozen: a stolen card\n");
    assert!(shown.starts_with(&is) && shown.contains(" 100 "), "{shown}");
    let output = stdout_of(&server, &["wallet", "unfreeze", id]);
    assert_eq!(output, format!("{id} is not frozen\n"));
    server.client().post(deduct, &take).await.expect(200);
    let nobody = failure_of(&server, &["wallet", "unfreeze", "bea"]);
    assert!(nobody.contains("no such wallet"), "{nobody}");
}

#[tokio::test]
async fn a_leaked_code_is_replaced_by_any_name_of_its_wallet() {
    let server = Server::start().await;
    let opened = server.browser().post("/api/v1/wallets", &Value::Null).await;
    let code = opened.expect(200)["code"].as_str().unwrap().to_owned();
    let words = ["replace-code", &code, "--idempotency-key", "k"];
    let new = wallet(&server, &words)["code"].as_str().unwrap().to_owned();
    let open = |code: &str| format!("/api/v1/wallets/{code}");
    server.browser().get(&open(&new)).await.expect(200);
    assert_eq!(server.browser().get(&open(&code)).await.status, 404);
    assert_eq!(
        stdout_of(
            &server,
            &["wallet", "replace-code", &new, "--idempotency-key", "k"]
        )
        .trim(),
        new
    );
    server.grant("ann", 1, "g").await;
    let output = failure_of(&server, &["wallet", "replace-code", "ann"]);
    assert!(output.contains("has no recovery code"), "{output}");
}

#[tokio::test]
async fn a_deduction_is_reversed_once() {
    let server = Server::start().await;
    server.grant("ann", 100, "g").await;
    let take = json!({"externalUserId": "ann", "amount": 30, "idempotencyKey": "d"});
    let deduct = "/api/v1/wallets/external/deduct";
    server.client().post(deduct, &take).await.expect(200);
    let ledger = "/api/v1/wallets/external/ledger?externalUserId=ann&limit=1";
    let page = server.client().get(ledger).await.expect(200);
    let entry = page["entries"][0]["id"].as_str().unwrap();
    let words = ["reverse", entry, "--amount", "10", "--idempotency-key", "k"];
    for reversed in [true, false] {
        let done = wallet(&server, &words);
        let expected = json!({"balance": 80, "reversed": reversed, "amount": 10});
        assert_eq!(done, expected);
    }
    let output = stdout_of(&server, &[&["wallet"], &words[..]].concat());
    assert!(
        output.contains("10 credits were given back before"),
        "{output}"
    );
    let output = failure_of(
        &server,
        &["wallet", "reverse", "led_1", "--idempotency-key", "k"],
    );
    assert!(output.contains("No such deduction"), "{output}");
}
