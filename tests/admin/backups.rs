//! Backups by the admin API.

use kit::{Server, deadline};
use serde_json::{Value, json};

use crate::{get, post};

#[tokio::test]
async fn only_the_administrator_names_a_directory() {
    let server = Server::start().await;
    let stranger = server.instance().client("not-the-token");
    let to = server.data_dir().with_file_name("theirs");
    for client in [stranger, server.client(), server.browser()] {
        let reply = post(&client, "/backups", &json!({ "to": to })).await;
        assert_eq!(reply.status, 401);
        assert_eq!(get(&client, "/backups").await.status, 401);
    }
    assert!(!to.exists());
    let admin = server.admin();
    for bad in [json!({}), json!({ "to": "backups" }), json!({ "to": 5 })] {
        let reply = post(&admin, "/backups", &bad).await;
        assert_eq!(
            (reply.status, reply.code()),
            (400, "invalid_request"),
            "{bad}"
        );
    }
    // What cannot be written is reported; and a backup must not be in the data directory.
    let inside = server.data_dir().join("backups");
    post(&admin, "/backups", &json!({ "to": inside }))
        .await
        .expect(202);
    let last = ended(&server).await;
    assert_eq!(last["status"], "failed");
    let error = last["error"].as_str().unwrap();
    assert!(error.contains("is in the data directory"), "{error}");
    assert!(!inside.exists());
    let backups = get(&admin, "/backups").await.expect(200);
    assert_eq!(backups["lastSuccessAt"], Value::Null);
}

/// The last backup, once none is running.
async fn ended(server: &Server) -> Value {
    deadline::answered("the end of a backup", deadline::SOON, async || {
        let backups = get(&server.admin(), "/backups").await.expect(200);
        (backups["running"].is_null() && backups["last"].is_object())
            .then(|| backups["last"].clone())
    })
    .await
}
