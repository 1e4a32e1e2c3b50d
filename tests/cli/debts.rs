//! What is owed, held and drawn, through a crash, a backup and a restore, and as an export has it.

use std::{fs, path::Path};

use kit::{Launch, Server};
use serde_json::{Value, json};

use crate::all_output;

/// Runs a command that has to succeed; what it printed.
fn done(verb: &str, data: &Path, words: &[&str]) -> String {
    let output = Launch::default().command(verb, data).args(words).output();
    let output = output.expect("the binary starts");
    assert!(output.status.success(), "{verb}: {}", all_output(&output));
    String::from_utf8(output.stdout).unwrap()
}

async fn ask(server: &Server, path: &str, body: Value) -> Value {
    server.client().post(path, &body).await.expect(200)
}

#[tokio::test]
async fn debts_draws_and_holds_survive_a_crash_a_backup_and_a_restore_and_are_exported() {
    let mut server = Server::start().await;
    let product = server.product().to_owned();
    server.grant("ann", 100, "g").await;
    let limit = json!({ "externalUserId": "ann", "productId": product, "debtLimit": 50 });
    ask(&server, "/api/v1/wallets/external/debt-limit", limit).await;
    let hold = json!({
        "externalUserId": "ann", "productId": product, "amount": 40, "maxOverrun": 20,
        "idempotencyKey": "h",
    });
    let hold = ask(&server, "/api/v1/wallets/external/holds", hold).await;
    let hold = format!("/api/v1/holds/{}", hold["holdId"].as_str().unwrap());
    let draw = json!({ "amount": 15, "idempotencyKey": "d" });
    ask(&server, &format!("{hold}/draw"), draw.clone()).await;
    let deduct = json!({
        "externalUserId": "ann", "productId": product, "amount": 99, "idempotencyKey": "o",
        "onShortfall": "owe",
    });
    let met = ask(&server, "/api/v1/wallets/external/deduct", deduct).await;
    assert_eq!(
        (&met["charged"], &met["owed"], &met["uncovered"]),
        (&json!(60), &json!(30), &json!(9))
    );
    let position = json!({ "productId": product, "balance": 0, "held": 25, "owed": 30 });

    server.crash().await;
    let to = server.data_dir().with_file_name("backups");
    let to = to.to_str().unwrap();
    done("verify", server.data_dir(), &[]);
    done(
        "backup",
        server.data_dir(),
        &["--to", to, "--with-server-key"],
    );
    let restored = server.data_dir().with_file_name("restored");
    done("restore", &restored, &["--from", to]);
    done("verify", &restored, &[]);
    for data in [server.data_dir(), &restored] {
        let lines = done("export", data, &["-"]);
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["balances"][0], position);
        let deltas = lines[1..]
            .iter()
            .map(|entry| entry["delta"].as_i64().unwrap());
        assert_eq!(deltas.collect::<Vec<_>>(), [100, -15, -90]);
        assert_eq!(lines[3]["balanceAfter"], 25 - 30);
    }
    fs::rename(server.data_dir(), server.data_dir().with_file_name("lost")).unwrap();
    fs::rename(&restored, server.data_dir()).unwrap();
    server.start_again().await;
    // All of it goes on: the draw is known by its key, and what the hold reserved is the hold's.
    let again = ask(&server, &format!("{hold}/draw"), draw).await;
    let expected = json!({ "balance": 0, "deducted": false, "drawn": 15, "held": 25 });
    assert_eq!(again, expected);
    let settle = json!({ "amount": 70, "onShortfall": "owe" });
    let settled = ask(&server, &format!("{hold}/settle"), settle).await;
    assert_eq!(
        (&settled["charged"], &settled["owed"], &settled["uncovered"]),
        (&json!(40), &json!(20), &json!(10))
    );
    assert!(server.terminate().await.success());
    done("verify", server.data_dir(), &[]);
}
