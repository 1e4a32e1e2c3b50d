//! `scrip keys`: a project's API keys.

use kit::Server;
use serde_json::{Value, json};

use crate::{failure_of, stdout_of};

#[tokio::test]
async fn a_leaked_key_is_recognized_by_its_ends_and_revoked() {
    let server = Server::start().await;
    let json = |words: &[&str]| -> Value {
        let output = stdout_of(&server, &[&["keys"], words, &["--json"]].concat());
        serde_json::from_str(&output).expect("JSON")
    };
    let end = "2099-12-31";
    let made = json(&[
        "create",
        "--kind",
        "secret",
        "--name",
        "Worker",
        "--expires-at",
        end,
    ]);
    let plain = made["key"].as_str().unwrap();
    let last = &plain[plain.len() - 4..];
    let leaked = server.instance().client(plain);
    leaked.get("/api/v1/me").await.expect(200);

    let listed = stdout_of(&server, &["keys", "list"]);
    let row = listed.lines().find(|row| row.contains("Worker")).unwrap();
    assert!(row.contains(&plain[..11]) && row.contains(last), "{row}");
    assert!(row.contains(end) && !listed.contains(plain), "{listed}");

    let changed = json(&[
        "update",
        "--key-id",
        "Worker",
        "--name",
        "Cron",
        "--expires-at",
        "",
    ]);
    assert_eq!(
        (&changed["name"], &changed["expiresAt"]),
        (&json!("Cron"), &Value::Null)
    );
    let keys = json(&["list"])["keys"].take();
    let mut keys = keys.as_array().unwrap().iter();
    assert!(keys.any(|key| key["name"] == "Cron"));
    let revoked = stdout_of(&server, &["keys", "revoke", "--key-id", last]);
    assert_eq!(revoked, "Revoked.\n");
    assert_eq!(leaked.get("/api/v1/me").await.status, 401);
    let output = failure_of(&server, &["keys", "revoke", "--key-id", "Worker"]);
    assert!(output.contains("none of the keys is called"), "{output}");

    let made = stdout_of(&server, &["keys", "create", "--kind", "secret"]);
    let key = made
        .split_whitespace()
        .find(|word| word.starts_with("pay_sk_") && word.len() > 20);
    let client = server.instance().client(key.unwrap());
    client.get("/api/v1/me").await.expect(200);
}
