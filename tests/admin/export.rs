//! Exports of ledgers and imports of balances by the command line.

use std::{fs, path::Path, process::Output};

use kit::{Launch, Server};
use serde_json::{Value, json};

fn said(output: &Output) -> String {
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

fn export(data: &Path, words: &[&str]) -> Output {
    let mut command = Launch::default().command("export", data);
    command.args(words).output().expect("the binary starts")
}

/// Imports a file's text.
fn import(server: &Server, file: &Path, more: &[&str]) -> Output {
    let mut command = std::process::Command::new(kit::launch::binary());
    command.arg("import").arg(file).args(more);
    command.args(["--url", server.instance().base()]);
    command.env("SCRIP_SECRET_KEY", server.secret());
    command.output().expect("the binary starts")
}

#[tokio::test]
async fn balances_are_imported_once_however_often() {
    let server = Server::start().await;
    let file = server.data_dir().with_file_name("balances.csv");
    let product = server.product();
    let head = "externalUserId,productId,amount,key\n";
    let mut text = head.to_owned();
    for user in 0..50 {
        text.push_str(&format!("user-{user},{product},{},{user}\n", user + 1));
    }
    fs::write(&file, &text).unwrap();

    let dry = import(&server, &file, &["--dry-run"]);
    assert!(dry.status.success(), "{}", said(&dry));
    assert!(
        said(&dry).contains("1275 credits in 50 grants"),
        "{}",
        said(&dry)
    );
    let path = "/api/v1/wallets/external?externalUserId=user-7";
    assert_eq!(server.client().get(path).await.status, 404);

    // A line that the server refuses does not stop the others.
    let foreign = "prod_00000000000000000000000000";
    fs::write(&file, format!("{text}user-50,{foreign},5,50\n")).unwrap();
    let part = import(&server, &file, &[]);
    assert!(!part.status.success());
    assert!(
        said(&part).contains("line 52: the server refused (404)"),
        "{}",
        said(&part)
    );
    assert!(
        said(&part).contains("50 granted, 0 already"),
        "{}",
        said(&part)
    );
    fs::write(&file, &text).unwrap();
    let again = import(&server, &file, &[]);
    assert!(again.status.success(), "{}", said(&again));
    assert!(
        said(&again).contains("0 granted, 50 already"),
        "{}",
        said(&again)
    );
    for user in [0, 7, 49] {
        let balance = server.balance(&format!("user-{user}")).await.balance;
        assert_eq!(balance, user + 1);
    }

    // A file with a bad line grants nothing at all.
    fs::write(
        &file,
        format!("{head}new,{product},5,a\nnew,{product},x,b\n"),
    )
    .unwrap();
    let bad = import(&server, &file, &[]);
    assert!(!bad.status.success());
    assert!(said(&bad).contains("line 3: balance"), "{}", said(&bad));
    let path = "/api/v1/wallets/external?externalUserId=new";
    assert_eq!(server.client().get(path).await.status, 404);
}

#[tokio::test]
async fn a_credits_table_is_imported_as_a_database_writes_it() {
    let server = Server::start().await;
    let file = server.data_dir().with_file_name("table.csv");
    let offer = server.client().get("/api/v1/products").await.expect(200);
    let name = offer["products"][0]["name"].as_str().unwrap();
    let head = "id,external_user_id,product,balance,expires_at,updated_by\n";
    let rows = format!(
        "1,ann,{name},40,2099-01-31 00:00:00+00,me\n2,ann,{name},2,,me\n3,bea,{name},0,,\n\
         4,cid,{name},9,2020-01-31 00:00:00+00,\n"
    );
    fs::write(&file, format!("{head}{rows}5,dan,No such thing,1,,\n")).unwrap();
    let refused = import(&server, &file, &[]);
    assert!(!refused.status.success());
    assert!(
        said(&refused).contains("line 6: product: the project has no active product"),
        "{}",
        said(&refused)
    );
    fs::write(&file, format!("{head}{rows}")).unwrap();
    for expected in ["2 granted, 0 already", "0 granted, 2 already"] {
        let done = import(&server, &file, &[]);
        let said = said(&done);
        assert!(done.status.success(), "{said}");
        for line in [
            expected,
            "42 credits in 2 grants",
            "1 skipped: a balance of 0",
            "1 skipped: expired",
        ] {
            assert!(said.contains(line), "{line}: {said}");
        }
    }
    let path = "/api/v1/wallets/external?externalUserId=ann";
    let wallet = server.client().get(path).await.expect(200);
    assert_eq!(wallet["balances"][0]["balance"], 42);
    let expiry = json!({ "amount": 40, "at": "2099-01-31T00:00:00.000Z" });
    assert_eq!(wallet["balances"][0]["nextExpiry"], expiry);
    // The same row with another balance is another operation with the same key.
    fs::write(
        &file,
        format!("{head}1,ann,{name},41,2099-01-31 00:00:00+00,\n"),
    )
    .unwrap();
    let changed = import(&server, &file, &[]);
    let said = said(&changed);
    assert!(!changed.status.success(), "{said}");
    assert!(said.contains("line 2: the server refused (409)"), "{said}");
    let more = format!(
        "More: {}/docs/errors#idempotency_key_reused",
        server.instance().base()
    );
    assert!(said.contains(&more), "{said}");
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
    assert!(done.status.success(), "{}", said(&done));
    assert!(
        said(&done).contains("3 ledger entries of 2 wallets"),
        "{}",
        said(&done)
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
        said(&again).contains("is not overwritten"),
        "{}",
        said(&again)
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
        assert!(said(&refused).contains(why), "{}", said(&refused));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    let done = export_by(Some(kit::launch::ADMIN_TOKEN));
    assert!(done.status.success(), "{}", said(&done));
    let counted = "2 ledger entries of 2 wallets";
    assert!(said(&done).contains(counted), "{}", said(&done));
    let live = fs::read_to_string(&to).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    // The copy does not count as a backup.
    let backups = server
        .admin()
        .get("/api/admin/v1/backups")
        .await
        .expect(200);
    assert_eq!(backups["lastGoodAt"], Value::Null, "{backups}");
    assert!(!server.figures().await.contains("scrip_backup_age_seconds "));

    assert!(server.terminate().await.success());
    let whole = folder.path().join("whole.jsonl");
    let done = export(server.data_dir(), &[whole.to_str().unwrap()]);
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(fs::read_to_string(&whole).unwrap(), live);
}
