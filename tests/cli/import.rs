//! `scrip import`: balances from CSV files.

use std::{fs, path::Path, process::Output};

use kit::Server;
use serde_json::{Value, json};

use crate::all_output;

/// Imports a file's text.
fn import(server: &Server, file: &Path, more: &[&str]) -> Output {
    let words = [&["import", file.to_str().unwrap()], more].concat();
    server.command(&words).output().expect("the binary starts")
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
    assert!(dry.status.success(), "{}", all_output(&dry));
    assert!(
        all_output(&dry).contains("1275 credits in 50 grants"),
        "{}",
        all_output(&dry)
    );
    let path = "/api/v1/wallets/external?externalUserId=user-7";
    assert_eq!(server.client().get(path).await.status, 404);

    // A line that the server refuses does not stop the others.
    let foreign = "prod_00000000000000000000000000";
    fs::write(&file, format!("{text}user-50,{foreign},5,50\n")).unwrap();
    let part = import(&server, &file, &[]);
    assert!(!part.status.success());
    assert!(
        all_output(&part).contains("line 52: the server refused (404 product_not_found)"),
        "{}",
        all_output(&part)
    );
    assert!(
        all_output(&part).contains("50 granted, 0 already"),
        "{}",
        all_output(&part)
    );
    fs::write(&file, &text).unwrap();
    let again = import(&server, &file, &[]);
    assert!(again.status.success(), "{}", all_output(&again));
    assert!(
        all_output(&again).contains("0 granted, 50 already"),
        "{}",
        all_output(&again)
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
    assert!(
        all_output(&bad).contains("line 3: balance"),
        "{}",
        all_output(&bad)
    );
    // Every one of them, also a product that only the server does not know.
    let lines = format!("new,Imagse,5,a\nnew,{product},x,b\n");
    fs::write(&file, format!("{head}{lines}")).unwrap();
    let bad = all_output(&import(&server, &file, &[]));
    for named in [
        "line 2: product: the project has no",
        "line 3: balance",
        "2 problems",
    ] {
        assert!(bad.contains(named), "no {named} in {bad}");
    }
    let bad = import(&server, &file, &["--json"]);
    let report: Value = serde_json::from_slice(&bad.stdout).expect("JSON alone");
    assert_eq!(report["problems"][1]["line"], 3, "{report}");
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
        all_output(&refused).contains("line 6: product: the project has no active product"),
        "{}",
        all_output(&refused)
    );
    fs::write(&file, format!("{head}{rows}")).unwrap();
    for expected in ["2 granted, 0 already", "0 granted, 2 already"] {
        let done = import(&server, &file, &[]);
        let output = all_output(&done);
        assert!(done.status.success(), "{output}");
        for line in [
            expected,
            "42 credits in 2 grants",
            "1 skipped: a balance of 0",
            "1 skipped: expired",
        ] {
            assert!(output.contains(line), "{line}: {output}");
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
    let output = all_output(&changed);
    assert!(!changed.status.success(), "{output}");
    assert!(
        output.contains("line 2: the server refused (409 idempotency_key_reused)"),
        "{output}"
    );
    let more = format!(
        "More: {}/docs/errors#idempotency_key_reused",
        server.instance().base()
    );
    assert!(output.contains(&more), "{output}");
}

#[tokio::test]
async fn a_free_grant_that_comes_with_an_import_is_named() {
    let server = Server::start().await;
    let product = server.product();
    let path = format!("{}/products/{product}", server.project_path());
    let free = json!({"freeGrant": {"credits": 10, "period": "monthly"}});
    server.admin().patch(&path, &free).await.expect(200);
    let file = server.data_dir().with_file_name("balances.csv");
    fs::write(
        &file,
        format!("external_user_id,product,balance,id\nann,{product},5,1\n"),
    )
    .unwrap();
    let output = all_output(&import(&server, &file, &[]));
    assert!(
        output.contains("each imported wallet gets its 10 credits, too"),
        "{output}"
    );
    assert_eq!(server.balance("ann").await.balance, 15);
    let again = import(&server, &file, &["--json"]);
    let report: Value = serde_json::from_slice(&again.stdout).expect("JSON alone");
    let sums = json!({"productId": product, "grants": 1, "credits": 5, "freeGrant": 10});
    let expected = json!({
        "products": [sums], "empty": 0, "expired": 0, "dryRun": false,
        "granted": 0, "alreadyGranted": 1, "problems": [],
    });
    assert_eq!(report, expected);
}
