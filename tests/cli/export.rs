//! `scrip export`: ledgers as JSON lines or CSV.

use std::{fs, path::Path, process::Output};

use kit::{Launch, Server};
use serde_json::{Value, json};

use crate::all_output;

fn export(data: &Path, words: &[&str]) -> Output {
    let mut command = Launch::default().command("export", data);
    command.args(words).output().expect("the binary starts")
}

#[tokio::test]
async fn ledgers_are_exported_whole_exactly_and_harmlessly() {
    let mut server = Server::start().await;
    let largest = 9_007_199_254_740_991_i64;
    server.grant("ann", largest, "k1").await;
    let meta = json!({ "feature": "ocr", "n": 12_345_678_901_234_567_i64 });
    let deduct = json!({
        "externalUserId": "ann", "productId": server.product(), "amount": 3,
        "idempotencyKey": "d1", "meta": meta,
    });
    let path = "/api/v1/wallets/external/deduct";
    server.client().post(path, &deduct).await.expect(200);
    server.grant("=cmd|x, \"y\"", 5, "k2").await;
    let path = "/api/v1/wallets/external/ledger?externalUserId=ann";
    let ledger = server.client().get(path).await.expect(200);

    let to = server.data_dir().with_file_name("ledger.jsonl");
    assert!(server.terminate().await.success());
    let done = export(server.data_dir(), &[to.to_str().unwrap()]);
    assert!(done.status.success(), "{}", all_output(&done));
    assert!(
        all_output(&done).contains("3 ledger entries of 2 wallets"),
        "{}",
        all_output(&done)
    );
    let text = fs::read_to_string(&to).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(lines.len(), 5);
    let wallet = lines
        .iter()
        .find(|it| it["externalUserId"] == "ann")
        .unwrap();
    assert_eq!(wallet["balances"][0]["balance"], largest - 3);
    let mut entries: Vec<&Value> = lines
        .iter()
        .filter(|it| it["type"] == "entry" && it["walletId"] == wallet["id"])
        .collect();
    entries.reverse();
    for (entry, shown) in entries.iter().zip(ledger["entries"].as_array().unwrap()) {
        for field in [
            "id",
            "delta",
            "balanceAfter",
            "reason",
            "createdAt",
            "idempotencyKey",
        ] {
            assert_eq!(entry[field], shown[field], "{field}");
        }
    }
    assert_eq!(entries[0]["meta"], meta);
    let again = export(server.data_dir(), &[to.to_str().unwrap()]);
    assert!(
        all_output(&again).contains("is not overwritten"),
        "{}",
        all_output(&again)
    );
    assert_eq!(fs::read_to_string(&to).unwrap(), text);

    // For a spreadsheet, and only one user's.
    let csv = export(server.data_dir(), &["-", "--format", "csv"]);
    let csv = String::from_utf8(csv.stdout).unwrap();
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.contains(r#","'=cmd|x, ""y""","#), "{csv}");
    let words = ["-", "--format", "csv", "--external-user-id", "ann"];
    let one = String::from_utf8(export(server.data_dir(), &words).stdout).unwrap();
    assert_eq!(one.lines().count(), 3, "{one}");
    assert!(one.contains(",deduction,-3,9007199254740988,"), "{one}");
}

/// The copy is removed afterwards.
#[tokio::test]
async fn what_a_running_server_has_is_exported_through_a_copy() {
    let mut server = Server::start().await;
    for user in ["ann", "bob"] {
        server.grant(user, 10, "k1").await;
    }
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("ledger.jsonl");
    let url = server.instance().base().to_owned();
    let export_by = |token: Option<&str>| {
        let mut command = Launch::default().command("export", server.data_dir());
        command.arg(&to).args(["--url", &url]);
        match token {
            Some(token) => command.env("SCRIP_ADMIN_TOKEN", token),
            None => command.env_remove("SCRIP_ADMIN_TOKEN"),
        };
        command.output().expect("the binary starts")
    };
    for (token, why) in [
        (None, "a server is using"),
        (Some("guessed"), "does not know this administrator token"),
    ] {
        let refused = export_by(token);
        assert!(!refused.status.success());
        assert!(
            all_output(&refused).contains(why),
            "{}",
            all_output(&refused)
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    let done = export_by(Some(kit::launch::ADMIN_TOKEN));
    assert!(done.status.success(), "{}", all_output(&done));
    let counted = "2 ledger entries of 2 wallets";
    assert!(all_output(&done).contains(counted), "{}", all_output(&done));
    let live = fs::read_to_string(&to).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    // The copy does not count as a backup.
    let backups = server
        .admin()
        .get("/api/admin/v1/backups")
        .await
        .expect(200);
    assert_eq!(backups["lastSuccessAt"], Value::Null, "{backups}");
    assert!(server.figures().await.contains("scrip_backup_made 0"));

    assert!(server.terminate().await.success());
    let whole = folder.path().join("whole.jsonl");
    let done = export(server.data_dir(), &[whole.to_str().unwrap()]);
    assert!(done.status.success(), "{}", all_output(&done));
    assert_eq!(fs::read_to_string(&whole).unwrap(), live);
}
